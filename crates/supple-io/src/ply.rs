//! Posed surfaces as binary PLY.

use crate::surface;
use glam::Vec3;
use std::io::{self, Write};

/// Writes positions, normals (none or one per vertex) and triangles, little-endian.
///
/// # Errors
///
/// If writing fails, or, before anything is written, if a number is [not finite](crate::NotFinite),
/// normals are not one per vertex, or a triangle names a vertex that does not exist.
pub fn write(
    out: &mut dyn Write,
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
    surface::check(positions, normals, triangles)?;
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
}
