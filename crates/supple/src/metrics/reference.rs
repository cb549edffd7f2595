//! Errors of a deformed surface against a reference, such as a method against a simulation.

use super::vertex_areas;
use crate::exec;
use crate::normals::SmoothGroups;
use crate::rig::Rig;
use crate::surface::double_area_normal;
use crate::surface_tree::SurfaceTree;
use glam::{DVec3, Vec3};
use thiserror::Error;

/// The share of the area that [`ErrorStatistics::percentile_95`] covers.
const COVERED: f64 = 0.95;

/// Points are searched for this much farther than needed, as a share of the largest coordinate,
/// since the tree computes in single precision.
const MARGIN: f32 = 1e-5;

/// Errors of a deformed surface against a reference, frame by frame.
///
/// Vertices count by the area around them in the rest pose, a third of each of their triangles; all
/// alike if the surface has no area. The errors of all frames are kept, in 24 bytes per vertex and
/// frame, for the percentiles.
///
/// ```
/// use supple::characters::{self, Character};
/// use supple::metrics::ReferenceErrors;
/// use supple::{Method, Normals, Player};
///
/// let asset = characters::build(Character::Bar, 2_000)?;
/// let pose = asset.pose_at(&asset.clips[0], 1.0);
/// let mut players = [Method::Linear, "cor".parse()?]
///     .map(|method| Player::new(&asset, &method, Normals::Transported).unwrap());
/// for player in &mut players {
///     player.pose(&pose)?;
/// }
/// let [linear, reference] = players;
/// let mut errors = ReferenceErrors::new(&asset.rig);
/// let frame = errors.add(linear.positions(), reference.positions())?;
/// assert!(frame.surface_distance.rms <= frame.vertex_distance.rms);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReferenceErrors {
    triangles: Vec<[u32; 3]>,
    groups: SmoothGroups,
    /// The weight of each vertex.
    areas: Vec<f64>,
    frames: usize,
    surface_distances: Pool,
    vertex_distances: Pool,
    normal_angles: Pool,
}

/// Errors of one frame, or of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SurfaceErrors {
    /// Distance of each vertex to the nearest point of the reference surface, its vertices
    /// included: how far the shapes are apart, wherever the skin slides.
    pub surface_distance: ErrorStatistics,
    /// Distance of each vertex to the same vertex of the reference.
    pub vertex_distance: ErrorStatistics,
    /// Angle between the normals of both surfaces at each vertex, in degrees, computed from their
    /// triangles; hard edges stay hard. Vertices without a normal are skipped.
    pub normal_degrees: ErrorStatistics,
}

/// A summary of an error over vertices, and over frames if there are several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorStatistics {
    /// Mean by area.
    pub mean: f64,
    /// Root mean square by area.
    pub rms: f64,
    /// The smallest error that is not exceeded on 95 % of the area, rounded to `f32`.
    pub percentile_95: f64,
    /// The largest error.
    pub largest: f64,
    /// The frame of the largest error, counted from 0 in the order of adding.
    pub worst_frame: usize,
    /// The vertex of the largest error; `None` if no vertex could be compared.
    pub worst_vertex: Option<usize>,
}

/// A surface whose vertices are not those of the rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{found} vertices, but the character has {expected}")]
pub struct VertexCountError {
    /// The vertices that were given.
    pub found: usize,
    /// The vertices of the rig.
    pub expected: usize,
}

impl ReferenceErrors {
    /// Starts without any frame.
    pub fn new(rig: &Rig) -> ReferenceErrors {
        let mesh = rig.mesh();
        let rest = mesh.positions();
        let area =
            |triangle: &[u32; 3]| 0.5 * double_area_normal(corners(rest, *triangle)).length();
        let triangle_areas: Vec<f64> = mesh.triangles().iter().map(area).collect();
        let mut areas = vertex_areas(mesh, &triangle_areas);
        if areas.iter().sum::<f64>() == 0.0 {
            areas.fill(1.0);
        }
        ReferenceErrors {
            triangles: mesh.triangles().to_vec(),
            groups: SmoothGroups::of(rig),
            areas,
            frames: 0,
            surface_distances: Pool::default(),
            vertex_distances: Pool::default(),
            normal_angles: Pool::default(),
        }
    }

    /// Measures a frame of a surface against the same frame of the reference.
    ///
    /// # Errors
    ///
    /// If one of them does not have the vertices of the rig.
    pub fn add(
        &mut self,
        measured: &[Vec3],
        reference: &[Vec3],
    ) -> Result<SurfaceErrors, VertexCountError> {
        let expected = self.areas.len();
        for found in [measured.len(), reference.len()] {
            if found != expected {
                return Err(VertexCountError { found, expected });
            }
        }
        let pairs = measured.iter().zip(reference);
        let vertex_distances: Vec<f64> = pairs
            .map(|(a, b)| a.as_dvec3().distance(b.as_dvec3()))
            .collect();
        let surface_distances = self.surface_distances(measured, reference, &vertex_distances);
        let normal_angles = self.normal_angles(measured, reference);
        let (frame, areas) = (self.frames, &self.areas);
        self.frames += 1;
        Ok(SurfaceErrors {
            surface_distance: self.surface_distances.add(frame, &surface_distances, areas),
            vertex_distance: self.vertex_distances.add(frame, &vertex_distances, areas),
            normal_degrees: self.normal_angles.add(frame, &normal_angles, areas),
        })
    }

    /// The errors over all frames so far.
    pub fn summary(&self) -> SurfaceErrors {
        SurfaceErrors {
            surface_distance: self.surface_distances.statistics(),
            vertex_distance: self.vertex_distances.statistics(),
            normal_degrees: self.normal_angles.statistics(),
        }
    }

    fn surface_distances(
        &self,
        measured: &[Vec3],
        reference: &[Vec3],
        vertex_distances: &[f64],
    ) -> Vec<f64> {
        let with_area: Vec<[Vec3; 3]> = self
            .triangles
            .iter()
            .map(|triangle| triangle.map(|corner| reference[corner as usize]))
            .filter(|&[a, b, c]| (b - a).cross(c - a).length_squared() > 0.0)
            .collect();
        let tree = SurfaceTree::new(&with_area);
        let largest = measured.iter().chain(reference);
        let largest = largest.fold(0.0, |most: f32, point| most.max(point.abs().max_element()));
        exec::map_chunks(measured.len(), |vertices| {
            let distance = |vertex: usize| {
                let (place, at_most) = (measured[vertex], vertex_distances[vertex]);
                let within = at_most as f32 * (1.0 + MARGIN) + MARGIN * largest;
                let Some(nearest) = tree.nearest(place, within, |_| true) else {
                    return at_most;
                };
                let triangle = with_area[nearest.triangle as usize].map(|corner| corner.as_dvec3());
                distance_to_triangle(place.as_dvec3(), triangle).min(at_most)
            };
            vertices.map(distance).collect::<Vec<f64>>()
        })
        .concat()
    }

    /// Angles in degrees; NaN where one of the surfaces has no normal.
    fn normal_angles(&self, measured: &[Vec3], reference: &[Vec3]) -> Vec<f64> {
        let [measured, reference] = [measured, reference].map(|positions| {
            let mut normals = vec![Vec3::ZERO; positions.len()];
            let no_palette = [];
            let scratch = &mut Vec::new();
            self.groups
                .recompute(positions, &no_palette, scratch, &mut normals);
            normals
        });
        let angle = |(a, b): (&Vec3, &Vec3)| {
            let directions = a
                .as_dvec3()
                .try_normalize()
                .zip(b.as_dvec3().try_normalize());
            directions.map_or(f64::NAN, |(a, b)| a.angle_between(b).to_degrees())
        };
        measured.iter().zip(&reference).map(angle).collect()
    }
}

/// The errors of some frames.
#[derive(Clone, Debug, Default)]
struct Pool {
    weight: f64,
    sum: f64,
    sum_of_squares: f64,
    largest: Option<(f64, usize, usize)>,
    /// Each error, and the weight of its vertex.
    errors: Vec<(f32, f32)>,
}

impl Pool {
    /// Adds a frame, skipping vertices whose error is NaN, and summarises this frame alone.
    fn add(&mut self, frame: usize, errors: &[f64], weights: &[f64]) -> ErrorStatistics {
        let mut own = Pool::default();
        for (vertex, (&error, &weight)) in errors.iter().zip(weights).enumerate() {
            if error.is_nan() {
                continue;
            }
            own.weight += weight;
            own.sum += weight * error;
            own.sum_of_squares += weight * error * error;
            own.errors.push((error as f32, weight as f32));
            if own.largest.is_none_or(|(largest, ..)| error > largest) {
                own.largest = Some((error, frame, vertex));
            }
        }
        let statistics = own.statistics();
        self.weight += own.weight;
        self.sum += own.sum;
        self.sum_of_squares += own.sum_of_squares;
        self.errors.append(&mut own.errors);
        if let Some((error, ..)) = own.largest
            && self.largest.is_none_or(|(largest, ..)| error > largest)
        {
            self.largest = own.largest;
        }
        statistics
    }

    fn statistics(&self) -> ErrorStatistics {
        let Some((largest, worst_frame, worst_vertex)) = self.largest else {
            return ErrorStatistics::default();
        };
        let mean = |sum: f64| {
            if self.weight > 0.0 {
                sum / self.weight
            } else {
                0.0
            }
        };
        ErrorStatistics {
            mean: mean(self.sum),
            rms: mean(self.sum_of_squares).sqrt(),
            percentile_95: self.percentile(COVERED),
            largest,
            worst_frame,
            worst_vertex: Some(worst_vertex),
        }
    }

    /// The smallest error that errors with this share of the weight do not exceed.
    fn percentile(&self, covered: f64) -> f64 {
        let mut sorted = self.errors.clone();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let weights = sorted.iter().map(|&(_, weight)| f64::from(weight));
        let wanted = covered * weights.sum::<f64>();
        let mut sum = 0.0;
        let reached = sorted.iter().find(|&&(_, weight)| {
            sum += f64::from(weight);
            sum >= wanted
        });
        reached
            .or(sorted.last())
            .map_or(0.0, |&(error, _)| f64::from(error))
    }
}

/// The distance of a point to a triangle: to its inside if the point is above it, else to the
/// nearest edge.
fn distance_to_triangle(place: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a);
    let edges = [(a, b), (b, c), (c, a)];
    let is_inside =
        |&(from, to): &(DVec3, DVec3)| normal.dot((to - from).cross(place - from)) >= 0.0;
    if let Some(normal) = normal.try_normalize()
        && edges.iter().all(is_inside)
    {
        return (place - a).dot(normal).abs();
    }
    let to_edge = |(from, to): (DVec3, DVec3)| {
        let edge = to - from;
        let square = edge.length_squared();
        let along = match square > 0.0 {
            true => ((place - from).dot(edge) / square).clamp(0.0, 1.0),
            false => 0.0,
        };
        place.distance(from + edge * along)
    };
    edges.map(to_edge).into_iter().fold(f64::INFINITY, f64::min)
}

fn corners(positions: &[Vec3], triangle: [u32; 3]) -> [DVec3; 3] {
    triangle.map(|corner| positions[corner as usize].as_dvec3())
}

#[cfg(test)]
mod tests {
    use super::super::tests::rig_of;
    use super::*;
    use crate::characters::{Character, build};
    use crate::deform::{Method, Normals};
    use crate::player::Player;

    /// A bar twisted by linear blending and by dual quaternions.
    fn twisted() -> (Rig, [Vec<Vec3>; 2]) {
        let bar = build(Character::Bar, 2_000).unwrap();
        let clip = bar.clips.iter().find(|clip| clip.name == "twist-150");
        let pose = bar.pose_at(clip.unwrap(), 1.0);
        let posed = ["linear", "dqs"].map(|method| {
            let method: Method = method.parse().unwrap();
            let mut player = Player::new(&bar, &method, Normals::Transported).unwrap();
            player.pose(&pose).unwrap();
            player.positions().to_vec()
        });
        (bar.rig, posed)
    }

    /// The distance to a triangle by the regions of its plane, as in Ericson's book: the nearest
    /// point as a combination of the corners, found by a search that knows no regions.
    fn plain_distance(place: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
        // The squared distance is convex in both coordinates: nested golden section search.
        let minimum = |f: &dyn Fn(f64) -> f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let (one, other) = (low + (high - low) * 0.382, low + (high - low) * 0.618);
                if f(one) < f(other) {
                    high = other
                } else {
                    low = one
                }
            }
            f((low + high) / 2.0)
        };
        let squared = minimum(&|v| {
            minimum(&|share| {
                let w = share * (1.0 - v);
                place.distance_squared(a + (b - a) * v + (c - a) * w)
            })
        });
        squared.sqrt()
    }

    /// Mean, root mean square and 95th percentile by area, plainly.
    fn plain_statistics(errors: &[(f64, f64)]) -> [f64; 3] {
        let whole: f64 = errors.iter().map(|(_, area)| area).sum();
        let mean = |power: i32| {
            let sum: f64 = errors
                .iter()
                .map(|(error, area)| area * error.powi(power))
                .sum();
            sum / whole
        };
        let mut sorted = errors.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let below = |limit: f64| -> f64 {
            sorted
                .iter()
                .filter(|(error, _)| *error <= limit)
                .map(|(_, area)| area)
                .sum()
        };
        let reached = sorted
            .iter()
            .find(|(error, _)| below(*error) >= 0.95 * whole)
            .unwrap();
        [mean(1), mean(2).sqrt(), reached.0]
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn errors_agree_with_a_plain_version_that_looks_at_every_triangle() {
        let (rig, [linear, dual]) = twisted();
        let mesh = rig.mesh();
        let found = ReferenceErrors::new(&rig).add(&linear, &dual).unwrap();
        let corners = |points: &[Vec3], triangle: [u32; 3]| {
            triangle.map(|corner| points[corner as usize].as_dvec3())
        };
        let mut areas = vec![0.0; linear.len()];
        for &triangle in mesh.triangles() {
            let [a, b, c] = corners(mesh.positions(), triangle);
            for corner in triangle {
                areas[corner as usize] += (b - a).cross(c - a).length() / 6.0;
            }
        }
        // Every fifth vertex by search; the others are as in the statistics over all of them.
        let mut largest_difference = 0.0f64;
        let mut errors = ReferenceErrors::new(&rig);
        errors.add(&linear, &dual).unwrap();
        let near: Vec<f64> = linear
            .iter()
            .zip(&dual)
            .map(|(a, b)| a.as_dvec3().distance(b.as_dvec3()))
            .collect();
        let to_surface = errors.surface_distances(&linear, &dual, &near);
        for vertex in (0..linear.len()).step_by(40) {
            let place = linear[vertex].as_dvec3();
            let triangles = mesh.triangles().iter();
            let plain = triangles
                .map(|&triangle| plain_distance(place, corners(&dual, triangle)))
                .fold(f64::INFINITY, f64::min);
            largest_difference = largest_difference.max((plain - to_surface[vertex]).abs());
        }
        assert!(largest_difference < 1e-7, "{largest_difference}");
        for (found, errors) in [
            (found.vertex_distance, &near),
            (found.surface_distance, &to_surface),
        ] {
            let errors = errors.iter().copied().zip(areas.iter().copied());
            let [mean, rms, percentile] = plain_statistics(&errors.collect::<Vec<_>>());
            assert_near(found.mean, mean, 1e-9);
            assert_near(found.rms, rms, 1e-9);
            assert_near(found.percentile_95, percentile, 1e-7);
        }
        let worst = near.iter().copied().fold(0.0, f64::max);
        assert_eq!(found.vertex_distance.largest, worst);
        let vertex = found.vertex_distance.worst_vertex.unwrap();
        assert_eq!(near[vertex], worst);
        assert!(
            found.surface_distance.mean < 0.9 * found.vertex_distance.mean,
            "{found:?}"
        );
        assert!(found.normal_degrees.largest > 10.0);
    }

    #[test]
    fn frames_are_pooled_and_the_worst_is_named() {
        let (rig, [linear, dual]) = twisted();
        let mut errors = ReferenceErrors::new(&rig);
        let same = errors.add(&dual, &dual).unwrap();
        for statistics in [
            same.surface_distance,
            same.vertex_distance,
            same.normal_degrees,
        ] {
            assert_eq!((statistics.rms, statistics.largest), (0.0, 0.0));
        }
        let other = errors.add(&linear, &dual).unwrap();
        let both = errors.summary();
        assert_near(
            both.vertex_distance.mean,
            0.5 * other.vertex_distance.mean,
            1e-12,
        );
        let half = other.vertex_distance.rms / 2f64.sqrt();
        assert_near(both.vertex_distance.rms, half, 1e-12);
        assert_eq!(both.vertex_distance.worst_frame, 1);
        assert_eq!(
            both.vertex_distance.worst_vertex,
            other.vertex_distance.worst_vertex
        );
        assert_eq!(
            both.surface_distance.largest,
            other.surface_distance.largest
        );
        assert!(both.vertex_distance.percentile_95 <= other.vertex_distance.percentile_95);
    }

    #[test]
    fn a_surface_that_slides_in_its_plane_is_at_no_distance() {
        let square = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)];
        let rig = rig_of(square.clone(), None, vec![[0, 1, 2], [1, 3, 2]]);
        let slid: Vec<Vec3> = square
            .iter()
            .map(|p| *p * 0.5 + Vec3::new(0.2, 0.1, 0.0))
            .collect();
        let found = ReferenceErrors::new(&rig).add(&slid, &square).unwrap();
        assert!(found.surface_distance.largest < 1e-12);
        assert!(found.vertex_distance.mean > 0.1);
        // Lifted by 0.25 and turned by 30°.
        let turned: Vec<Vec3> = square
            .iter()
            .map(|p| glam::Quat::from_rotation_x(30f32.to_radians()) * *p + Vec3::Z * 0.25)
            .collect();
        let found = ReferenceErrors::new(&rig).add(&turned, &square).unwrap();
        assert_near(found.normal_degrees.mean, 30.0, 1e-4);
        assert_near(found.surface_distance.largest, 0.75, 1e-6);
    }

    #[test]
    fn other_vertices_are_refused_and_a_surface_without_area_is_measured_by_points() {
        let rig = rig_of(vec![Vec3::ZERO, Vec3::X], None, Vec::new());
        let mut errors = ReferenceErrors::new(&rig);
        let refused = errors.add(&[Vec3::ZERO], &[Vec3::ZERO; 2]).unwrap_err();
        assert_eq!(refused.to_string(), "1 vertices, but the character has 2");
        let found = errors
            .add(&[Vec3::ZERO, Vec3::Y], &[Vec3::ZERO, Vec3::ZERO])
            .unwrap();
        assert_eq!(found.surface_distance.mean, 0.5);
        assert_eq!(found.normal_degrees, ErrorStatistics::default());
        let none = ReferenceErrors::new(&rig).summary();
        assert_eq!(none.vertex_distance.worst_vertex, None);
    }
}
