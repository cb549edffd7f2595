//! Bounding volume hierarchy over the triangles of a surface: ray, nearest-point and inside
//! queries.
//!
//! Built by `obvhs`; all queries walk the same tree.

mod hostile;

use glam::{DVec3, Vec3, Vec3A};
use hostile::{Capsule, across};
use obvhs::BvhBuildParams;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2_from_tris;
use obvhs::ray::{Ray, RayHit};
use obvhs::triangle::Triangle;
use std::time::Duration;

/// Triangles, none of them without area, in a tree.
pub(crate) struct SurfaceTree {
    bvh: Bvh2,
    /// In the order of the tree's leaves.
    triangles: Vec<Triangle>,
    /// The caller's numbers of the triangles, in the same order.
    numbers: Vec<u32>,
    /// The triangles as they were given, if some were cut into pieces; else none.
    wholes: Vec<Triangle>,
    /// A capsule around the triangles of a branch, in addition to its box, for every node; empty if
    /// no triangles were cut.
    capsules: Vec<Capsule>,
    /// The far field of a whole branch, for every node.
    dipoles: Vec<Dipole>,
}

/// The triangles of a branch as one small piece of surface.
#[derive(Clone, Copy, Debug, Default)]
struct Dipole {
    /// Sum of areas times normals.
    area_normal: Vec3A,
    center: Vec3A,
    area: f32,
    /// The distance that the branch reaches from its center.
    radius: f32,
}

/// The nearest point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) triangle: u32,
    pub(crate) point: Vec3,
    /// The shares of the triangle's corners in the point.
    pub(crate) shares: [f32; 3],
    pub(crate) distance: f32,
}

/// The point at which a ray leaves the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WayOut {
    pub(crate) triangle: u32,
    /// In lengths of the ray's direction.
    pub(crate) distance: f32,
}

/// A branch counts as one dipole from this many times its radius: then winding numbers are right to
/// a few hundredths (Barill et al. 2018, "Fast winding numbers for soups and clouds", use 2).
const FAR: f32 = 2.2;

/// Distances are computed to this share of the largest coordinate.
const ROUNDING: f64 = 1e-5;

impl SurfaceTree {
    /// A tree over triangles, given by their corners.
    pub(crate) fn new(corners: &[[Vec3; 3]]) -> SurfaceTree {
        let triangle = |&[a, b, c]: &[Vec3; 3]| Triangle {
            v0: a.into(),
            v1: b.into(),
            v2: c.into(),
        };
        let triangles: Vec<Triangle> = corners.iter().map(triangle).collect();
        if triangles.is_empty() {
            return SurfaceTree {
                bvh: Bvh2::default(),
                triangles,
                numbers: Vec::new(),
                wholes: Vec::new(),
                capsules: Vec::new(),
                dipoles: Vec::new(),
            };
        }
        if hostile::is_hostile(&triangles) {
            let (pieces, numbers) = hostile::cut(&triangles);
            let bvh = hostile::balanced(&pieces);
            let number = |at: &u32| numbers[*at as usize];
            let numbers = bvh.primitive_indices.iter().map(number).collect();
            let mut tree = SurfaceTree::over(bvh, &pieces, numbers, triangles);
            tree.capsules = hostile::capsules(&tree.bvh, &tree.triangles);
            return tree;
        }
        let bvh = build_bvh2_from_tris(
            &triangles,
            BvhBuildParams::fast_build(),
            &mut Duration::default(),
        );
        let numbers = bvh.primitive_indices.clone();
        SurfaceTree::over(bvh, &triangles, numbers, Vec::new())
    }

    /// A tree whose leaves are some of the given triangles or pieces of them.
    fn over(
        bvh: Bvh2,
        pieces: &[Triangle],
        numbers: Vec<u32>,
        wholes: Vec<Triangle>,
    ) -> SurfaceTree {
        let indices = bvh.primitive_indices.iter();
        let mut tree = SurfaceTree {
            triangles: indices.map(|&at| pieces[at as usize]).collect(),
            dipoles: vec![Dipole::default(); bvh.nodes.len()],
            bvh,
            numbers,
            wholes,
            capsules: Vec::new(),
        };
        tree.sum_dipoles(0);
        tree
    }

    /// True without any triangle.
    pub(crate) fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// True if an accepted triangle lies between two points. Within `margin` of either, as a share
    /// of the way, triangles are ignored.
    pub(crate) fn blocked(
        &self,
        from: Vec3,
        to: Vec3,
        margin: f32,
        counts: impl Fn(u32) -> bool,
    ) -> bool {
        let way = to - from;
        // On a way beyond the range of single precision, the whole surface is within the margin.
        if self.is_empty() || way == Vec3::ZERO || !way.is_finite() {
            return false;
        }
        let ray = Ray::new(from.into(), way.into(), margin, 1.0 - margin);
        !self.bvh.ray_traverse_miss(ray, |ray, at| {
            let t = self.triangles[at].intersect(ray);
            if t < f32::INFINITY && counts(self.numbers[at]) {
                t
            } else {
                f32::INFINITY
            }
        })
    }

    /// Finds where a ray inside of the body leaves it: the first accepted triangle that the ray
    /// meets from behind, and the distance in lengths of `direction`.
    pub(crate) fn way_out(
        &self,
        from: Vec3,
        direction: Vec3,
        counts: impl Fn(u32) -> bool,
    ) -> Option<WayOut> {
        if self.is_empty() || direction == Vec3::ZERO {
            return None;
        }
        let ray = Ray::new_inf(from.into(), direction.into());
        let mut hit = RayHit::none();
        self.bvh.ray_traverse(ray, &mut hit, |ray, at| {
            let triangle = &self.triangles[at];
            let outward = across(triangle);
            if outward.dot(ray.direction) <= 0.0 {
                return f32::INFINITY;
            }
            let t = triangle.intersect(ray);
            if t < f32::INFINITY && counts(self.numbers[at]) {
                t
            } else {
                f32::INFINITY
            }
        });
        (hit.t < f32::INFINITY).then(|| WayOut {
            triangle: self.numbers[hit.primitive_id as usize],
            distance: hit.t,
        })
    }

    /// The nearest point among the triangles that count, if there is one nearer than `within`.
    pub(crate) fn nearest(
        &self,
        place: Vec3,
        within: f32,
        counts: impl Fn(u32) -> bool,
    ) -> Option<Nearest> {
        if self.is_empty() {
            return None;
        }
        let place = Vec3A::from(place);
        let mut best: Option<Nearest> = None;
        let mut closest = within * within;
        let mut stack = vec![(0u32, 0.0f32)];
        while let Some((node, away)) = stack.pop() {
            if away >= closest || self.is_beyond(node, place, closest) {
                continue;
            }
            let node = &self.bvh.nodes[node as usize];
            let first = node.first_index;
            if node.is_leaf() {
                for at in first as usize..(first + node.prim_count) as usize {
                    let (point, shares) = nearest_on_triangle(place, &self.triangles[at]);
                    let square = point.distance_squared(place);
                    let number = self.numbers[at];
                    if square < closest && counts(number) {
                        closest = square;
                        best = Some(Nearest {
                            triangle: number,
                            point: point.into(),
                            shares,
                            distance: square.sqrt(),
                        });
                    }
                }
                continue;
            }
            let children = [first, first + 1].map(|child| {
                let bounds = &self.bvh.nodes[child as usize].aabb;
                let inside = place.clamp(bounds.min, bounds.max);
                (child, inside.distance_squared(place))
            });
            // The nearer one is looked at first.
            let [a, b] = children;
            stack.extend(if a.1 <= b.1 { [b, a] } else { [a, b] });
        }
        best.map(|nearest| self.on_whole(place, nearest))
    }

    /// True if a branch is farther away than the root of a square, by its capsule and not only by
    /// rounding.
    fn is_beyond(&self, node: u32, place: Vec3A, square: f32) -> bool {
        let Some(capsule) = self.capsules.get(node as usize) else {
            return false;
        };
        let all = &self.bvh.nodes[0].aabb;
        let largest = place.abs().max(all.min.abs()).max(all.max.abs());
        let rounding = ROUNDING * f64::from(largest.max_element());
        capsule.distance(place.as_dvec3()) > f64::from(square).sqrt() + rounding
    }

    /// The nearest point of a piece as one of the triangle that the piece was cut from.
    fn on_whole(&self, place: Vec3A, nearest: Nearest) -> Nearest {
        let Some(whole) = self.wholes.get(nearest.triangle as usize) else {
            return nearest;
        };
        let (point, shares) = nearest_on_triangle(place, whole);
        Nearest {
            point: point.into(),
            shares,
            distance: point.distance(place),
            ..nearest
        }
    }

    /// The winding number of the surface around a position: one inside of a closed surface that
    /// faces outwards, zero outside, in between near an opening.
    pub(crate) fn winding(&self, place: DVec3) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let place = place.as_vec3a();
        let mut solid_angle = 0.0;
        let mut stack = vec![0u32];
        while let Some(index) = stack.pop() {
            let dipole = &self.dipoles[index as usize];
            let towards = dipole.center - place;
            let square = towards.length_squared();
            if square > (FAR * dipole.radius).powi(2) {
                let cube = square * square.sqrt();
                solid_angle += f64::from(dipole.area_normal.dot(towards) / cube);
                continue;
            }
            let node = &self.bvh.nodes[index as usize];
            let first = node.first_index;
            if node.is_leaf() {
                let triangles = &self.triangles[first as usize..(first + node.prim_count) as usize];
                let angles = triangles
                    .iter()
                    .map(|triangle| solid_angle_of(place, triangle));
                solid_angle += angles.sum::<f64>();
            } else {
                stack.extend([first + 1, first]);
            }
        }
        solid_angle / (4.0 * std::f64::consts::PI)
    }

    fn sum_dipoles(&mut self, index: usize) -> Dipole {
        let node = self.bvh.nodes[index];
        let first = node.first_index as usize;
        let parts: Vec<Dipole> = if node.is_leaf() {
            let triangles = &self.triangles[first..first + node.prim_count as usize];
            let of_triangle = |triangle: &Triangle| {
                let across = across(triangle);
                Dipole {
                    area_normal: across * 0.5,
                    center: (triangle.v0 + triangle.v1 + triangle.v2) / 3.0,
                    area: across.length() * 0.5,
                    radius: 0.0,
                }
            };
            triangles.iter().map(of_triangle).collect()
        } else {
            [first, first + 1]
                .map(|child| self.sum_dipoles(child))
                .into()
        };
        let mut dipole = Dipole::default();
        for part in &parts {
            dipole.area_normal += part.area_normal;
            dipole.center += part.center * part.area;
            dipole.area += part.area;
        }
        dipole.center = if dipole.area > 0.0 {
            dipole.center / dipole.area
        } else {
            (node.aabb.min + node.aabb.max) * 0.5
        };
        let corner = (node.aabb.max - dipole.center).max(dipole.center - node.aabb.min);
        dipole.radius = corner.length();
        self.dipoles[index] = dipole;
        dipole
    }
}

/// The solid angle under which a triangle is seen, positive from behind (van Oosterom and Strackee
/// 1983).
fn solid_angle_of(place: Vec3A, triangle: &Triangle) -> f64 {
    let [a, b, c] = [triangle.v0, triangle.v1, triangle.v2].map(|corner| corner - place);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let determinant = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * f64::from(determinant).atan2(f64::from(denominator))
}

/// The nearest point of a triangle, and the shares of its corners in it: the inside if the place is
/// above it, else the nearest point of an edge.
fn nearest_on_triangle(place: Vec3A, triangle: &Triangle) -> (Vec3A, [f32; 3]) {
    let [a, b, c] = [triangle.v0, triangle.v1, triangle.v2];
    let (u, v, w) = (b - a, c - a, place - a);
    let normal = u.cross(v);
    let square = normal.length_squared();
    if square > 0.0 {
        let of_c = u.cross(w).dot(normal) / square;
        let of_b = w.cross(v).dot(normal) / square;
        let of_a = 1.0 - of_b - of_c;
        if of_a >= 0.0 && of_b >= 0.0 && of_c >= 0.0 {
            return (a * of_a + b * of_b + c * of_c, [of_a, of_b, of_c]);
        }
    }
    let corners = [a, b, c];
    let mut best = (a, [1.0, 0.0, 0.0]);
    let mut closest = f32::INFINITY;
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        let edge = corners[to] - corners[from];
        let length = edge.length_squared();
        let along = (place - corners[from]).dot(edge);
        let along = if length > 0.0 {
            (along / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let point = corners[from] + edge * along;
        let away = point.distance_squared(place);
        if away < closest {
            let mut shares = [0.0; 3];
            shares[to] = along;
            shares[from] = 1.0 - along;
            (best, closest) = ((point, shares), away);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, Character};

    fn tree_of(character: Character) -> (SurfaceTree, Vec<[Vec3; 3]>) {
        let asset = characters::build(character, 4000).unwrap();
        let mesh = asset.rig.mesh();
        let corners: Vec<[Vec3; 3]> = mesh
            .triangles()
            .iter()
            .map(|corners| corners.map(|corner| mesh.positions()[corner as usize]))
            .collect();
        (SurfaceTree::new(&corners), corners)
    }

    /// A cone of thin triangles around its tip, and the disc below.
    fn fan(count: usize) -> Vec<[Vec3; 3]> {
        let rim = |at: usize| {
            let angle = std::f32::consts::TAU * (at % count) as f32 / count as f32;
            Vec3::new(angle.cos(), 0.0, angle.sin())
        };
        let sides = (0..count).flat_map(|at| {
            let (one, other) = (rim(at), rim(at + 1));
            [[Vec3::Y, other, one], [Vec3::NEG_Y, one, other]]
        });
        sides.collect()
    }

    /// One triangle many times.
    fn copies(count: usize) -> Vec<[Vec3; 3]> {
        vec![[Vec3::ZERO, Vec3::X, Vec3::Y]; count]
    }

    /// A strip of triangles, each larger than the one before.
    fn growing(count: usize) -> Vec<[Vec3; 3]> {
        let at = |step: usize| 1e-3 * (step * step) as f32;
        let triangle = |step: usize| {
            let (from, to) = (at(step), at(step + 1));
            [
                Vec3::new(from, 0.0, 0.0),
                Vec3::new(to, 0.0, 0.0),
                Vec3::new(from, to - from, 0.0),
            ]
        };
        (0..count).map(triangle).collect()
    }

    /// The number of triangles and of nodes of a tree, and its depth.
    fn sizes(tree: &SurfaceTree) -> (usize, usize, usize) {
        let depth = tree.bvh.depth(0);
        (tree.triangles.len(), tree.bvh.nodes.len(), depth)
    }

    #[test]
    fn trees_stay_shallow_over_copies_fans_and_growing_strips() {
        for count in [1000, 4000] {
            for triangles in [fan(count / 2), copies(count), growing(count)] {
                let (pieces, nodes, depth) = sizes(&SurfaceTree::new(&triangles));
                assert!(pieces <= 16 * count && nodes <= 2 * pieces);
                assert!(depth <= 20, "{depth} deep over {count}");
            }
        }
    }

    #[test]
    fn a_body_is_left_to_the_usual_builder() {
        for character in [Character::Figure, Character::Arm, Character::Cloth] {
            let (tree, corners) = tree_of(character);
            assert!(tree.wholes.is_empty() && tree.triangles.len() == corners.len());
        }
    }

    #[test]
    fn what_is_asked_of_pieces_is_answered_for_whole_triangles() {
        let triangles = fan(600);
        let tree = SurfaceTree::new(&triangles);
        assert!(!tree.wholes.is_empty(), "thin triangles are cut");
        for place in places(&triangles) {
            let [x, y, z] = (place * 0.99).to_array();
            let inside = x.hypot(z) + y.abs() < 0.98;
            if inside || x.hypot(z) + y.abs() > 1.02 {
                let winding = tree.winding(place.as_dvec3() * 0.99);
                let expected = if inside { 1.0 } else { 0.0 };
                assert!((winding - expected).abs() < 0.05, "{winding} at {place}");
            }
            let found = tree.nearest(place, f32::INFINITY, |_| true).unwrap();
            let of = |[v0, v1, v2]: &[Vec3; 3]| {
                let [v0, v1, v2] = [*v0, *v1, *v2].map(Vec3A::from);
                nearest_on_triangle(place.into(), &Triangle { v0, v1, v2 }).0
            };
            let everywhere = triangles
                .iter()
                .map(|corners| of(corners).distance(place.into()))
                .fold(f32::INFINITY, f32::min);
            assert!((found.distance - everywhere).abs() < 1e-5);
            let [a, b, c] = triangles[found.triangle as usize];
            let [of_a, of_b, of_c] = found.shares;
            assert!((a * of_a + b * of_b + c * of_c).distance(found.point) < 1e-5);
        }
        let out = tree.way_out(Vec3::new(0.1, 0.0, 0.2), Vec3::Y, |_| true);
        let height = 1.0 - 0.1f32.hypot(0.2);
        assert!((out.unwrap().distance - height).abs() < 1e-3);
    }

    #[test]
    fn the_nearest_of_thin_triangles_is_found_among_few() {
        let looked_at = |count: usize| {
            let triangles = fan(count / 2);
            let tree = SurfaceTree::new(&triangles);
            let mut plain = SurfaceTree::new(&triangles);
            plain.capsules.clear();
            let leaves = 0..tree.bvh.nodes.len() as u32;
            let leaves = leaves.filter(|&node| tree.bvh.nodes[node as usize].is_leaf());
            let leaves: Vec<u32> = leaves.collect();
            let near = |place: Vec3| {
                let found = tree.nearest(place, f32::INFINITY, |_| true).unwrap();
                let expected = plain.nearest(place, f32::INFINITY, |_| true).unwrap();
                assert_eq!(found, expected, "at {place}");
                let square = found.distance * found.distance;
                let near = |&&node: &&u32| !tree.is_beyond(node, place.into(), square);
                leaves.iter().filter(near).count()
            };
            let outside = places(&triangles).into_iter().map(|place| place * 1.5);
            // Beyond a tip all triangles are equally near.
            let beside = |place: &Vec3| place.x.hypot(place.z) > 0.8 && place.y.abs() < 0.5;
            let outside = outside.filter(beside);
            outside.map(near).max().unwrap_or(0)
        };
        let (few, many) = (looked_at(2_000), looked_at(8_000));
        assert!(few > 0 && many < 3 * few, "{few}, then {many}");
        assert!(many < 1_000, "{many}");
    }

    /// Places all over a box around the surface.
    fn places(corners: &[[Vec3; 3]]) -> Vec<Vec3> {
        let low = corners.iter().flatten().copied().fold(Vec3::MAX, Vec3::min);
        let high = corners.iter().flatten().copied().fold(Vec3::MIN, Vec3::max);
        let at = |index: usize, step: f32| (index as f32 * step).fract() * 1.2 - 0.1;
        (1..400)
            .map(|index| {
                let share = Vec3::new(
                    at(index, 0.618034),
                    at(index, 0.7548777),
                    at(index, 0.5698403),
                );
                low + (high - low) * share
            })
            .collect()
    }

    #[test]
    fn winding_numbers_are_the_sum_of_all_solid_angles() {
        let (tree, corners) = tree_of(Character::Figure);
        let mut inside = 0;
        for place in places(&corners) {
            let exact: f64 = corners
                .iter()
                .map(|&[v0, v1, v2]| {
                    let triangle = Triangle {
                        v0: v0.into(),
                        v1: v1.into(),
                        v2: v2.into(),
                    };
                    solid_angle_of(place.into(), &triangle) / (4.0 * std::f64::consts::PI)
                })
                .sum();
            let found = tree.winding(place.as_dvec3());
            assert!(
                (found - exact).abs() < 0.05,
                "{place}: {found} instead of {exact}"
            );
            assert!(
                exact.abs() < 1e-3 || (exact - 1.0).abs() < 1e-3,
                "{exact} in a closed surface"
            );
            inside += usize::from(exact > 0.5);
        }
        assert!(inside > 5, "{inside} inside");
    }

    #[test]
    fn the_nearest_point_is_that_of_looking_everywhere() {
        let (tree, corners) = tree_of(Character::Figure);
        for place in places(&corners) {
            let found = tree.nearest(place, f32::INFINITY, |_| true).unwrap();
            let of = |corners: &[Vec3; 3]| {
                let [v0, v1, v2] = corners.map(Vec3A::from);
                nearest_on_triangle(place.into(), &Triangle { v0, v1, v2 }).0
            };
            let everywhere = corners
                .iter()
                .map(|corners| of(corners).distance(place.into()))
                .fold(f32::INFINITY, f32::min);
            assert!((found.distance - everywhere).abs() < 1e-6);
            let [a, b, c] = corners[found.triangle as usize];
            let [of_a, of_b, of_c] = found.shares;
            assert!((a * of_a + b * of_b + c * of_c).distance(found.point) < 1e-5);
            assert_eq!(tree.nearest(place, found.distance * 0.999, |_| true), None);
        }
    }

    #[test]
    fn a_wall_between_two_points_blocks_unless_it_does_not_count() {
        let wall = [
            Vec3::new(0.0, -1.0, -1.0),
            Vec3::new(0.0, 2.0, -1.0),
            Vec3::new(0.0, -1.0, 2.0),
        ];
        let tree = SurfaceTree::new(&[wall]);
        assert!(tree.blocked(-Vec3::X, Vec3::X, 0.0, |_| true));
        assert!(tree.blocked(Vec3::X, -Vec3::X, 0.0, |_| true));
        assert!(!tree.blocked(-Vec3::X, Vec3::X, 0.0, |triangle| triangle != 0));
        assert!(!tree.blocked(-Vec3::X, -Vec3::X * 0.1, 0.0, |_| true));
        assert!(
            !tree.blocked(-Vec3::X, Vec3::X * 0.1, 0.2, |_| true),
            "near its end"
        );
        assert!(!tree.blocked(Vec3::X, Vec3::X, 0.0, |_| true));
        let beyond = Vec3::new(f32::INFINITY, 0.0, 0.0);
        assert!(!tree.blocked(-Vec3::X, beyond, 1e-3, |_| true));
        assert!(!SurfaceTree::new(&[]).blocked(-Vec3::X, Vec3::X, 0.0, |_| true));
    }
}
