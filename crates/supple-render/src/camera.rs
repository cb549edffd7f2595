//! Perspective cameras that frame points.

use glam::{DMat3, DVec3, Vec3};

/// The height of the picture in degrees, seen from the camera: a portrait lens, so that limbs are
/// not distorted.
const FIELD_OF_VIEW_DEGREES: f64 = 26.0;

/// The share of the picture's half-width and half-height that stays free around the points.
const MARGIN: f64 = 0.1;

/// The direction from which the camera looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Turns the camera around the vertical axis: 0 looks at the front (+Z), 90 at the model's
    /// left side (+X).
    pub yaw_degrees: f64,
    /// Lifts the camera: 0 is level, 90 looks straight down.
    pub pitch_degrees: f64,
}

impl View {
    /// From the front, a little from the side and from above.
    pub const THREE_QUARTER: View = View {
        yaw_degrees: 32.0,
        pitch_degrees: 14.0,
    };
    /// From the front (+Z).
    pub const FRONT: View = View {
        yaw_degrees: 0.0,
        pitch_degrees: 4.0,
    };
    /// From the model's left (+X).
    pub const SIDE: View = View {
        yaw_degrees: 90.0,
        pitch_degrees: 4.0,
    };
    /// From behind (-Z).
    pub const BACK: View = View {
        yaw_degrees: 180.0,
        pitch_degrees: 4.0,
    };

    /// The unit vector from the target to the viewer.
    pub fn towards_viewer(&self) -> DVec3 {
        let (yaw, pitch) = (
            self.yaw_degrees.to_radians(),
            self.pitch_degrees.to_radians(),
        );
        DVec3::new(
            yaw.sin() * pitch.cos(),
            pitch.sin(),
            yaw.cos() * pitch.cos(),
        )
    }
}

impl Default for View {
    fn default() -> View {
        View::THREE_QUARTER
    }
}

/// A perspective camera, and the ball that it frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The position of the camera.
    pub(crate) eye: DVec3,
    /// Rows are the camera's right, up and backward directions.
    pub(crate) camera_from_world: DMat3,
    /// Half the height of the picture at unit distance.
    pub(crate) half_height: f64,
    /// The middle of what was framed.
    pub(crate) target: DVec3,
    /// The size of what was framed: all lengths of the look (shadows, bones) are measured by it.
    pub(crate) radius: f64,
}

impl Camera {
    /// The nearest camera that sees all of `points` with a margin, in a picture of `aspect` = width
    /// / height.
    ///
    /// For a moving character, pass the points of all frames to keep the camera still.
    pub fn framing(points: impl IntoIterator<Item = Vec3>, view: View, aspect: f64) -> Camera {
        let back = view.towards_viewer();
        let yaw = view.yaw_degrees.to_radians();
        // From the yaw alone, so that looking straight down has a well-defined "right".
        let right = DVec3::new(yaw.cos(), 0.0, -yaw.sin());
        let up = back.cross(right);
        let camera_from_world = DMat3::from_cols(right, up, back).transpose();

        let half_height = (FIELD_OF_VIEW_DEGREES / 2.0).to_radians().tan();
        let slope_y = half_height * (1.0 - MARGIN);
        let slope_x = slope_y * aspect.clamp(1e-3, 1e3);

        // A point (x, y, z) is inside while x - eye.x ≤ slope_x · (eye.z - z), and so on for four
        // planes. Each plane only remembers its farthest point.
        let mut seen = Extents::new();
        for point in points {
            let point = point.as_dvec3();
            if point.is_finite() {
                seen.add(point, camera_from_world * point, slope_x, slope_y);
            }
        }
        if seen.is_empty() {
            for axis in DMat3::IDENTITY.to_cols_array_2d().map(DVec3::from_array) {
                for point in [axis, -axis] {
                    seen.add(point, camera_from_world * point, slope_x, slope_y);
                }
            }
        }

        let target = (seen.min + seen.max) / 2.0;
        let mut radius = (seen.max - seen.min).length() / 2.0;
        // A single point, or points that only differ by rounding, have no size: give them one.
        let rounding = target.length() * f64::from(f32::EPSILON);
        if radius <= rounding.max(f64::MIN_POSITIVE) {
            radius = if rounding > 0.0 { rounding * 1e3 } else { 1.0 };
        }
        let depth = [
            (seen.right + seen.left) / (2.0 * slope_x),
            (seen.top + seen.bottom) / (2.0 * slope_y),
            seen.nearest + radius * 0.5,
        ]
        .into_iter()
        .fold(f64::NEG_INFINITY, f64::max);
        let eye_in_camera = DVec3::new(
            (seen.right - seen.left) / 2.0,
            (seen.top - seen.bottom) / 2.0,
            depth,
        );
        Camera {
            eye: camera_from_world.transpose() * eye_in_camera,
            camera_from_world,
            half_height,
            target,
            radius,
        }
    }

    /// The place of a point in the picture, as fractions from its left and top edge; `None` behind
    /// the camera.
    pub fn project(&self, point: Vec3, aspect: f64) -> Option<(f64, f64)> {
        let in_camera = self.camera_from_world * (point.as_dvec3() - self.eye);
        let distance = -in_camera.z;
        (distance > 0.0).then(|| {
            (
                0.5 + 0.5 * in_camera.x / (distance * self.half_height * aspect),
                0.5 - 0.5 * in_camera.y / (distance * self.half_height),
            )
        })
    }
}

impl Camera {
    /// The distance of a point from the camera along the viewing direction; negative behind it.
    pub(crate) fn distance(&self, point: Vec3) -> f64 {
        -(self.camera_from_world.row(2)).dot(point.as_dvec3() - self.eye)
    }
}

/// The extents of points towards each side of the picture and in space.
struct Extents {
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
    nearest: f64,
    min: DVec3,
    max: DVec3,
}

impl Extents {
    fn new() -> Extents {
        Extents {
            left: f64::NEG_INFINITY,
            right: f64::NEG_INFINITY,
            bottom: f64::NEG_INFINITY,
            top: f64::NEG_INFINITY,
            nearest: f64::NEG_INFINITY,
            min: DVec3::INFINITY,
            max: DVec3::NEG_INFINITY,
        }
    }

    fn is_empty(&self) -> bool {
        self.nearest == f64::NEG_INFINITY
    }

    fn add(&mut self, in_world: DVec3, in_camera: DVec3, slope_x: f64, slope_y: f64) {
        self.right = self.right.max(in_camera.x + slope_x * in_camera.z);
        self.left = self.left.max(-in_camera.x + slope_x * in_camera.z);
        self.top = self.top.max(in_camera.y + slope_y * in_camera.z);
        self.bottom = self.bottom.max(-in_camera.y + slope_y * in_camera.z);
        self.nearest = self.nearest.max(in_camera.z);
        self.min = self.min.min(in_world);
        self.max = self.max.max(in_world);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(center: Vec3, half: Vec3) -> impl Iterator<Item = Vec3> {
        (0..8).map(move |corner| {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            center + half * Vec3::new(sign(0), sign(1), sign(2))
        })
    }

    #[test]
    fn every_point_is_inside_and_the_margin_is_touched() {
        for (size, aspect) in [(1e-3, 1.0), (1.0, 1.6), (1e4, 0.5)] {
            for view in [View::THREE_QUARTER, View::FRONT, View::SIDE, View::BACK] {
                for shape in [
                    Vec3::ONE,
                    Vec3::new(0.1, 5.0, 0.1),
                    Vec3::new(3.0, 0.0, 3.0),
                ] {
                    let points: Vec<_> = corners(Vec3::splat(size * 2.0), shape * size).collect();
                    let camera = Camera::framing(points.iter().copied(), view, aspect);
                    let low = MARGIN / 2.0;
                    let mut widest = 0.0f64;
                    for &point in &points {
                        let (x, y) = camera.project(point, aspect).unwrap();
                        let inside = low - 1e-6..=1.0 - low + 1e-6;
                        assert!(inside.contains(&x) && inside.contains(&y), "{x} {y}");
                        widest = widest.max((x - 0.5).abs()).max((y - 0.5).abs());
                    }
                    assert!((widest - (0.5 - low)).abs() < 1e-3, "{widest}");
                }
            }
        }
    }

    #[test]
    fn no_points_and_one_point_give_a_camera_that_sees_something() {
        for points in [
            vec![],
            vec![Vec3::ZERO],
            vec![Vec3::splat(1e4)],
            vec![Vec3::NAN],
        ] {
            let camera = Camera::framing(points, View::default(), 1.0);
            assert!(camera.eye.is_finite() && camera.radius > 0.0);
            let (x, y) = camera.project(camera.target.as_vec3(), 1.0).unwrap();
            assert!((x - 0.5).abs() < 0.1 && (y - 0.5).abs() < 0.1);
        }
    }

    #[test]
    fn looking_straight_down_is_well_defined() {
        let view = View {
            yaw_degrees: 0.0,
            pitch_degrees: 90.0,
        };
        let camera = Camera::framing(corners(Vec3::ZERO, Vec3::ONE), view, 1.0);
        let (x, _) = camera.project(Vec3::X, 1.0).unwrap();
        let (_, y) = camera.project(Vec3::Z, 1.0).unwrap();
        assert!(x > 0.6 && y > 0.6);
    }
}
