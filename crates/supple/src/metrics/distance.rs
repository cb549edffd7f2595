//! How far two results are from each other.

use glam::Vec3;

/// Root-mean-square distance between two results over frames and vertices: a method against a
/// reference.
///
/// `arap-point-handles.txt`, eq. (5). There the root is printed under the fraction alone, `Σ‖b −
/// p‖² / √(3NF)`, which grows with the number of vertices and is an area; meant is the root of the
/// whole, `√(Σ‖b − p‖² / 3NF)`, and that is computed here. `3NF` counts coordinates, so the mean is
/// one per coordinate: √3 times smaller than the RMS distance of points.
#[derive(Clone, Debug, Default)]
pub struct RmsDistance {
    sum_of_squares: f64,
    vertices: usize,
    frames: usize,
    largest: Option<FarthestVertex>,
}

/// Where two results differ most.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FarthestVertex {
    /// In which frame, counted from 0 in the order of adding.
    pub frame: usize,
    /// Which vertex.
    pub vertex: usize,
    /// How far apart it is.
    pub distance: f64,
}

impl RmsDistance {
    /// Without any frame.
    pub fn new() -> RmsDistance {
        RmsDistance::default()
    }

    /// Adds a frame of both results, of the same vertices (those that only one of them has do not
    /// count).
    pub fn add(&mut self, a: &[Vec3], b: &[Vec3]) {
        for (vertex, (a, b)) in a.iter().zip(b).enumerate() {
            let square = a.as_dvec3().distance_squared(b.as_dvec3());
            self.sum_of_squares += square;
            self.vertices += 1;
            let distance = square.sqrt();
            if self.largest.is_none_or(|known| distance > known.distance) {
                self.largest = Some(FarthestVertex {
                    frame: self.frames,
                    vertex,
                    distance,
                });
            }
        }
        self.frames += 1;
    }

    /// The distance so far, in the rig's units; zero before the first frame.
    pub fn value(&self) -> f64 {
        if self.vertices == 0 {
            return 0.0;
        }
        (self.sum_of_squares / (3.0 * self.vertices as f64)).sqrt()
    }

    /// Where the results differ most; `None` before the first vertex.
    pub fn farthest(&self) -> Option<FarthestVertex> {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_coordinates_of_all_frames() {
        let mut distance = RmsDistance::new();
        assert_eq!((distance.value(), distance.farthest()), (0.0, None));
        let rest = [Vec3::ZERO, Vec3::X];
        distance.add(&rest, &rest);
        distance.add(&rest, &[Vec3::ZERO, Vec3::new(1.0, 3.0, 4.0)]);
        // 5² over 3 coordinates × 2 vertices × 2 frames.
        assert!((distance.value() - (25.0f64 / 12.0).sqrt()).abs() < 1e-12);
        let farthest = FarthestVertex {
            frame: 1,
            vertex: 1,
            distance: 5.0,
        };
        assert_eq!(distance.farthest(), Some(farthest));
    }
}
