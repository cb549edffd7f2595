//! Posed surfaces as Wavefront OBJ.

use crate::check_surface;
use glam::Vec3;
use std::io::{self, Write};

/// Writes positions, normals and triangles; vertex i of the surface is vertex i + 1 of the file.
///
/// # Errors
///
/// If a number is [not finite](crate::NotFinite), normals are not one per vertex, or a triangle
/// names a vertex that does not exist: before anything is written. Also if writing fails.
pub fn write(
    out: &mut dyn Write,
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
    check_surface(positions, normals, triangles)?;
    for p in positions {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for n in normals {
        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
    }
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| u64::from(corner) + 1);
        if normals.is_empty() {
            writeln!(out, "f {a} {b} {c}")?;
        } else {
            writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_is_written_with_one_based_indices() {
        let mut out = Vec::new();
        let positions = [Vec3::ZERO, Vec3::X, Vec3::new(0.1, 2.5, -3.0)];
        write(&mut out, &positions, &[Vec3::Z; 3], &[[0, 1, 2]]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "v 0 0 0\nv 1 0 0\nv 0.1 2.5 -3\nvn 0 0 1\nvn 0 0 1\nvn 0 0 1\nf 1//1 2//2 3//3\n"
        );
    }

    #[test]
    fn a_normal_that_is_not_finite_is_refused_before_anything_is_written() {
        let mut out = Vec::new();
        let normals = [Vec3::Z, Vec3::NAN];
        let error = write(&mut out, &[Vec3::ZERO; 2], &normals, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the normal of vertex 1 holds NaN, which is not finite"
        );
        assert!(out.is_empty());
    }

    #[test]
    fn surfaces_that_do_not_fit_together_are_refused() {
        let refused = |normals: &[Vec3], triangles: &[[u32; 3]]| {
            let mut out = Vec::new();
            let found = write(&mut out, &[Vec3::ZERO; 3], normals, triangles);
            assert!(out.is_empty());
            found.unwrap_err().to_string()
        };
        assert_eq!(refused(&[Vec3::Z], &[]), "1 normals for 3 vertices");
        assert_eq!(
            refused(&[], &[[0, 1, 3]]),
            "a triangle names vertex 3, but there are 3 vertices"
        );
    }
}
