//! Posed surfaces as binary PLY.

use crate::check_surface;
use glam::Vec3;
use std::io::{self, Write};

/// Writes positions, normals (none or one per vertex) and triangles, little-endian.
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
    writeln!(
        out,
        "ply\nformat binary_little_endian 1.0\nelement vertex {}",
        positions.len()
    )?;
    let attributes: &[&str] = if normals.is_empty() {
        &["x", "y", "z"]
    } else {
        &["x", "y", "z", "nx", "ny", "nz"]
    };
    for name in attributes {
        writeln!(out, "property float {name}")?;
    }
    writeln!(
        out,
        "element face {}\nproperty list uchar uint vertex_indices\nend_header",
        triangles.len()
    )?;
    for (vertex, position) in positions.iter().enumerate() {
        for value in position.to_array() {
            out.write_all(&value.to_le_bytes())?;
        }
        for value in normals
            .get(vertex)
            .map_or([].as_slice(), |normal| normal.as_ref())
        {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for corners in triangles {
        out.write_all(&[3])?;
        for corner in corners {
            out.write_all(&corner.to_le_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_the_layout_that_follows() {
        let mut out = Vec::new();
        write(&mut out, &[Vec3::ONE; 3], &[Vec3::Z; 3], &[[0, 1, 2]; 2]).unwrap();
        let text = String::from_utf8_lossy(&out);
        let end = text.find("end_header\n").unwrap() + "end_header\n".len();
        assert!(text.contains("element vertex 3\n") && text.contains("element face 2\n"));
        assert_eq!(out.len() - end, 3 * 6 * 4 + 2 * (1 + 3 * 4));
        assert_eq!(out[end..end + 4], 1.0f32.to_le_bytes());
    }

    #[test]
    fn a_position_that_is_not_finite_is_refused_before_anything_is_written() {
        let mut out = Vec::new();
        let positions = [Vec3::ZERO, Vec3::splat(f32::NEG_INFINITY)];
        let error = write(&mut out, &positions, &[], &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the position of vertex 1 holds -inf, which is not finite"
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
