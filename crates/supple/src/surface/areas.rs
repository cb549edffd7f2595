//! Areas of triangles and points.

use glam::DVec3;

/// The normal of a triangle, as long as twice its area.
#[inline]
pub(crate) fn double_area_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// The area of every point: a third of the area of the triangles around it.
pub(crate) fn point_areas(points: &[DVec3], triangles: impl Iterator<Item = [u32; 3]>) -> Vec<f64> {
    let mut areas = vec![0.0; points.len()];
    for triangle in triangles {
        let corners = triangle.map(|corner| points[corner as usize]);
        let double_area = double_area_normal(corners).length();
        for corner in triangle {
            areas[corner as usize] += double_area / 6.0;
        }
    }
    areas
}
