//! The stage: all surfaces in one list of triangles, moved and scaled so that the camera's ball is
//! the unit ball.
//!
//! From here on no length depends on the model's size or place, so a model of a millimetre and one
//! of ten kilometres give the same picture, and single precision is enough.

use crate::camera::Camera;
use crate::scene::{DrawnSurface, Paint};
use glam::{DVec3, Mat3, Vec2, Vec3};
use std::collections::HashSet;

/// No character has as much surface as this in the unit ball, whose own is 12.6.
const MOST_AREA: f64 = 200.0;

/// The surfaces to draw, in stage units.
pub(crate) struct Stage {
    pub positions: Vec<Vec3>,
    /// Normals of unit length, or zero where the surface has none.
    pub normals: Vec<Vec3>,
    pub colors: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Stage {
    /// Gathers surfaces, leaving out triangles that cannot be drawn.
    pub fn new(surfaces: &[DrawnSurface], camera: &Camera) -> Stage {
        let mut stage = Stage {
            positions: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
            triangles: Vec::new(),
        };
        for surface in surfaces {
            stage.add(surface, camera);
        }
        stage.drop_copies();
        stage
    }

    /// Leaves out triangles whose corners are at the places of those of another before it: nothing
    /// would be seen of them. Looked for only where triangles have so much area that many must lie
    /// on each other.
    fn drop_copies(&mut self) {
        let place = |corner: u32| self.positions[corner as usize];
        let area = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(place);
            f64::from((b - a).cross(c - a).length()) * 0.5
        };
        let area: f64 = self.triangles.iter().map(area).sum();
        if area > MOST_AREA {
            let mut known = HashSet::with_capacity(self.triangles.len());
            let bits = |corners: &[u32; 3]| {
                let places = corners.map(|corner| self.positions[corner as usize].to_array());
                places.map(|place| place.map(f32::to_bits))
            };
            self.triangles.retain(|corners| known.insert(bits(corners)));
        }
    }

    fn add(&mut self, surface: &DrawnSurface, camera: &Camera) {
        let count = surface.positions.len();
        let first = self.positions.len();
        if u32::try_from(first + count).is_err() {
            return;
        }
        self.positions.extend(
            surface
                .positions
                .iter()
                .map(|&p| stage_from_world(camera, p)),
        );
        self.normals.extend(
            surface
                .normals
                .iter()
                .take(count)
                .map(|normal| normal.normalize_or_zero()),
        );
        self.normals.resize(first + count, Vec3::ZERO);
        match surface.paint {
            Paint::Uniform(color) => self.colors.resize(first + count, color),
            Paint::PerVertex(colors) => {
                self.colors.extend(colors.iter().take(count));
                let last = colors.last().copied().unwrap_or(Vec3::ONE);
                self.colors.resize(first + count, last);
            }
        }
        let drawable = |corners: &[u32; 3]| {
            corners.iter().all(|&corner| {
                let position = self.positions.get(first + corner as usize);
                position.is_some_and(|position| position.is_finite())
            })
        };
        let moved = surface
            .triangles
            .iter()
            .filter(|corners| drawable(corners))
            .map(|corners| corners.map(|corner| corner + first as u32));
        self.triangles.extend(moved);
    }
}

/// A world point on the stage.
pub(crate) fn stage_from_world(camera: &Camera, point: Vec3) -> Vec3 {
    ((point.as_dvec3() - camera.target) / camera.radius).as_vec3()
}

/// The camera on the stage, looking at a raster of pixels.
pub(crate) struct Lens {
    pub eye: Vec3,
    /// Rows are right, up and back.
    pub camera_from_stage: Mat3,
    pub width: usize,
    pub height: usize,
    /// Half the picture's width and height at unit distance.
    pub half: Vec2,
}

impl Lens {
    pub fn new(camera: &Camera, width: usize, height: usize) -> Lens {
        let half_height = camera.half_height as f32;
        let eye: DVec3 = (camera.eye - camera.target) / camera.radius;
        Lens {
            eye: eye.as_vec3(),
            camera_from_stage: camera.camera_from_world.as_mat3(),
            width,
            height,
            half: Vec2::new(
                half_height * width as f32 / height.max(1) as f32,
                half_height,
            ),
        }
    }

    /// Homogeneous pixel coordinates: the pixel is (x / z, y / z), and z the distance along the
    /// view.
    pub fn pixel_from_stage(&self, point: Vec3) -> Vec3 {
        let in_camera = self.camera_from_stage * (point - self.eye);
        let distance = -in_camera.z;
        Vec3::new(
            0.5 * self.width as f32 * (distance + in_camera.x / self.half.x),
            0.5 * self.height as f32 * (distance - in_camera.y / self.half.y),
            distance,
        )
    }

    /// The direction through a pixel coordinate, of unit length.
    pub fn direction(&self, pixel: Vec2) -> Vec3 {
        let x = (pixel.x / self.width as f32 * 2.0 - 1.0) * self.half.x;
        let y = (1.0 - pixel.y / self.height as f32 * 2.0) * self.half.y;
        (self.camera_from_stage.transpose() * Vec3::new(x, y, -1.0)).normalize_or(Vec3::NEG_Z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::View;

    /// The number of triangles of a surface that are drawn.
    fn drawn(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
        let camera = Camera::framing(positions.iter().copied(), View::FRONT, 1.0);
        let surface = DrawnSurface {
            positions,
            normals: &[],
            triangles,
            paint: Paint::Uniform(Vec3::ONE),
        };
        Stage::new(&[surface], &camera).triangles.len()
    }

    #[test]
    fn copies_of_a_triangle_are_drawn_once() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert_eq!(drawn(&corners, &vec![[0, 1, 2]; 5000]), 1);
        // Also with vertices of their own.
        let positions = corners.repeat(5000);
        let triangles: Vec<[u32; 3]> = (0..5000)
            .map(|at| [3 * at, 3 * at + 1, 3 * at + 2])
            .collect();
        assert_eq!(drawn(&positions, &triangles), 1);
        assert_eq!(
            drawn(&corners, &[[0, 1, 2], [0, 2, 1]]),
            2,
            "two sides are two"
        );
    }
}
