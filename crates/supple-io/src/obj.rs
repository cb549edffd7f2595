//! Posed surfaces as Wavefront OBJ.

use crate::surface;
use glam::Vec3;
use std::io::{self, Write};

/// Writes positions, normals (none or one per vertex) and triangles. Vertex i of the surface is
/// vertex i + 1 of the file.
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
}
