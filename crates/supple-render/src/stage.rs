//! The stage: all surfaces in one list of triangles, moved and scaled so that the camera's ball is the unit ball.
//!
//! From here on no length depends on the model's size or place, so a model of a millimetre and one of ten kilometres
//! give the same picture, and single precision is enough.

use crate::camera::Camera;
use crate::scene::{Paint, Surface};
use glam::{DVec3, Mat3, Vec2, Vec3};

/// What is drawn, in stage units.
pub(crate) struct Stage {
    pub positions: Vec<Vec3>,
    /// Of unit length, or zero where the surface has none.
    pub normals: Vec<Vec3>,
    pub colors: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Stage {
    /// Gathers surfaces, leaving out triangles that cannot be drawn.
    pub fn new(surfaces: &[Surface], camera: &Camera) -> Stage {
        let mut stage = Stage {
            positions: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
            triangles: Vec::new(),
        };
        for surface in surfaces {
            stage.add(surface, camera);
        }
        stage
    }

    fn add(&mut self, surface: &Surface, camera: &Camera) {
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

    /// Homogeneous pixel coordinates: the pixel is (x / z, y / z), and z the distance along the view.
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
