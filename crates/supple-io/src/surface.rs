//! Checks of a surface that is about to be written.

use crate::numbers;
use glam::Vec3;
use std::io;

/// Refuses numbers that are not finite, normals that are not one per vertex, and triangles of
/// vertices that do not exist.
pub(crate) fn check(
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
    numbers::check_vectors("position", positions)?;
    numbers::check_vectors("normal", normals)?;
    let vertices = positions.len();
    let refused = |problem: String| Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    if !normals.is_empty() && normals.len() != vertices {
        return refused(format!("{} normals for {vertices} vertices", normals.len()));
    }
    let mut corners = triangles.iter().flatten();
    match corners.find(|&&corner| corner as usize >= vertices) {
        Some(corner) => refused(format!(
            "a triangle names vertex {corner}, but there are {vertices} vertices"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{obj, ply};

    type Write = fn(&mut dyn io::Write, &[Vec3], &[Vec3], &[[u32; 3]]) -> io::Result<()>;

    /// Why all formats refuse a surface, before anything is written.
    #[track_caller]
    fn refused(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]]) -> String {
        let formats: [Write; 2] = [obj::write, ply::write];
        let errors = formats.map(|write| {
            let mut out = Vec::new();
            let error = write(&mut out, positions, normals, triangles).unwrap_err();
            assert!(out.is_empty());
            error.to_string()
        });
        assert_eq!(errors[0], errors[1]);
        errors[0].clone()
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let positions = [Vec3::ZERO, Vec3::splat(f32::NEG_INFINITY)];
        assert_eq!(
            refused(&positions, &[], &[]),
            "the position of vertex 1 holds -inf, which is not finite"
        );
        assert_eq!(
            refused(&[Vec3::ZERO; 2], &[Vec3::Z, Vec3::NAN], &[]),
            "the normal of vertex 1 holds NaN, which is not finite"
        );
    }

    #[test]
    fn normals_and_triangles_of_other_vertices_are_refused() {
        let positions = [Vec3::ZERO; 3];
        assert_eq!(
            refused(&positions, &[Vec3::Z], &[]),
            "1 normals for 3 vertices"
        );
        assert_eq!(
            refused(&positions, &[], &[[0, 1, 3]]),
            "a triangle names vertex 3, but there are 3 vertices"
        );
    }
}
