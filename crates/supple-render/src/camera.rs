//! Perspective cameras that frame points.

use glam::{DMat3, DVec3, Vec3};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

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

impl View {
    /// Rows are the camera's right, up and backward directions.
    fn camera_from_world(&self) -> DMat3 {
        let back = self.towards_viewer();
        let yaw = self.yaw_degrees.to_radians();
        // From the yaw alone, so that looking straight down has a well-defined "right".
        let right = DVec3::new(yaw.cos(), 0.0, -yaw.sin());
        let up = back.cross(right);
        DMat3::from_cols(right, up, back).transpose()
    }
}

/// Half the height of the picture at unit distance.
fn half_height() -> f64 {
    (FIELD_OF_VIEW_DEGREES / 2.0).to_radians().tan()
}

impl Default for View {
    fn default() -> View {
        View::THREE_QUARTER
    }
}

/// A perspective camera, and the ball that it frames.
///
/// Its text (`Display`, `FromStr`) gives back the same camera to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The direction from which the camera looks.
    pub(crate) view: View,
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
        let camera_from_world = view.camera_from_world();
        let half_height = half_height();
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
            view,
            eye: camera_from_world.transpose() * eye_in_camera,
            camera_from_world,
            half_height,
            target,
            radius,
        }
    }

    /// The camera moved in the world, in the same direction and framing a ball of the same size.
    pub fn moved_by(&self, shift: Vec3) -> Camera {
        let shift = shift.as_dvec3();
        Camera {
            eye: self.eye + shift,
            target: self.target + shift,
            ..*self
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

/// The error for a text that describes no camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected 'view YAW,PITCH eye X,Y,Z target X,Y,Z radius R'")]
pub struct ParseCameraError;

impl fmt::Display for Camera {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let View {
            yaw_degrees,
            pitch_degrees,
        } = self.view;
        let (eye, target, radius) = (self.eye, self.target, self.radius);
        write!(
            out,
            "view {yaw_degrees},{pitch_degrees} eye {},{},{} target {},{},{} radius {radius}",
            eye.x, eye.y, eye.z, target.x, target.y, target.z
        )
    }
}

impl FromStr for Camera {
    type Err = ParseCameraError;

    fn from_str(text: &str) -> Result<Camera, ParseCameraError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["view", view, "eye", eye, "target", target, "radius", radius] = words[..] else {
            return Err(ParseCameraError);
        };
        let [yaw_degrees, pitch_degrees] = numbers(view)?;
        let [radius] = numbers(radius)?;
        if radius <= 0.0 {
            return Err(ParseCameraError);
        }
        let view = View {
            yaw_degrees,
            pitch_degrees,
        };
        Ok(Camera {
            view,
            eye: DVec3::from_array(numbers(eye)?),
            camera_from_world: view.camera_from_world(),
            half_height: half_height(),
            target: DVec3::from_array(numbers(target)?),
            radius,
        })
    }
}

/// Finite numbers separated by commas.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], ParseCameraError> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or(ParseCameraError)
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
    fn the_text_of_a_camera_gives_it_back() {
        let view = View {
            yaw_degrees: -33.3,
            pitch_degrees: 14.7,
        };
        for size in [1e-3f32, 0.7, 3e5] {
            let points = corners(Vec3::new(0.1, 7.0, -3.0) * size, Vec3::splat(size));
            let camera = Camera::framing(points, view, 1.7);
            assert_eq!(camera.to_string().parse(), Ok(camera));
        }
        for bad in [
            "",
            "view 1,2",
            "view 1,2 eye 1,2,3 target 1,2,3 radius 0",
            "view 1,2 eye 1,2,3 target 1,2,3 radius -1",
            "view 1,2 eye 1,2,nan target 1,2,3 radius 1",
            "view 1,2 eye 1,2,3,4 target 1,2,3 radius 1",
            "view 1,2 eye 1,2 target 1,2,3 radius inf",
        ] {
            assert_eq!(bad.parse::<Camera>(), Err(ParseCameraError), "{bad}");
        }
    }

    #[test]
    fn a_moved_camera_sees_what_moved_along_in_the_same_place() {
        let camera = Camera::framing(corners(Vec3::ZERO, Vec3::ONE), View::default(), 1.5);
        let shift = Vec3::new(8.0, -2.0, 4.0);
        let point = Vec3::new(0.5, 0.25, -0.75);
        let moved = camera.moved_by(shift).project(point + shift, 1.5).unwrap();
        let still = camera.project(point, 1.5).unwrap();
        assert!((moved.0 - still.0).abs() < 1e-12 && (moved.1 - still.1).abs() < 1e-12);
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
