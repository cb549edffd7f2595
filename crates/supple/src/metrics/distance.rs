//! Distances between two results.

use glam::Vec3;

/// Root-mean-square distance between two results over frames and vertices, such as a method and a
/// reference.
///
/// `arap-point-handles.txt`, eq. (5). The paper prints the root under the fraction alone, `Σ‖b −
/// p‖² / √(3NF)`, which grows with the number of vertices and is an area. This computes the root of
/// the whole, `√(Σ‖b − p‖² / 3NF)`, which the paper means. `3NF` counts coordinates, so the mean is
/// per coordinate: √3 times smaller than the RMS distance of points.
#[derive(Clone, Debug, Default)]
pub struct RmsDistance {
    sum_of_squares: f64,
    vertices: usize,
    frames: usize,
    largest: Option<FarthestVertex>,
}

/// The vertex with the largest distance between two results.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FarthestVertex {
    /// The frame, counted from 0 in the order of adding.
    pub frame: usize,
    /// The vertex.
    pub vertex: usize,
    /// The distance.
    pub distance: f64,
}

impl RmsDistance {
    /// Starts without any frame.
    pub fn new() -> RmsDistance {
        RmsDistance::default()
    }

    /// Adds a frame of both results, for the same vertices. Vertices that only one of them has are
    /// ignored.
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

    /// The vertex with the largest distance; `None` before the first vertex.
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
