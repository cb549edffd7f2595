//! Mirror symmetry of a character: the mirror plane, and the partners of vertices and joints.
//!
//! Joints are partners if their names say so (`.L` and `.R`, `Left` and `Right`: `names.rs`); all
//! others by position. Points are partners by position.

mod grid;
mod names;

use crate::mesh::Mesh;
use crate::skeleton::{BindBone, Skeleton};
use crate::surface::{Weld, weld_positions};
use glam::DVec3;
use grid::Grid;

/// The tolerance of mirrored points, relative to the extent: the rounding of modelling tools and
/// files.
const POINT_TOLERANCE: f64 = 5e-4;

/// The tolerance of mirrored joints, which are placed less exactly than the surface.
const JOINT_TOLERANCE: f64 = 1e-2;

/// The smallest share of points, and of joints, with a partner for a character to be symmetric.
const LEAST_MATCHED: f64 = 0.75;

/// The margin by which a later plane must match more to be preferred.
const CLEARLY_BETTER: f64 = 0.05;

/// The number of evenly chosen points by which planes are compared first.
const SAMPLE: usize = 1000;

/// A plane of points `p` with `normal · p = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MirrorPlane {
    /// The normal, of unit length.
    pub normal: DVec3,
    /// Distance from the origin along the normal.
    pub offset: f64,
}

impl MirrorPlane {
    /// The name of the axis nearest to the normal.
    pub fn axis_name(&self) -> &'static str {
        ["X", "Y", "Z"][self.normal.abs().max_position()]
    }

    /// The plane with a unit normal through a point.
    pub(crate) fn through(point: DVec3, normal: DVec3) -> MirrorPlane {
        MirrorPlane {
            normal,
            offset: normal.dot(point),
        }
    }

    /// The signed distance of a point from the plane.
    pub(crate) fn side(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    /// The mirror image of a point.
    pub(crate) fn mirrored(&self, point: DVec3) -> DVec3 {
        point - 2.0 * self.side(point) * self.normal
    }
}

/// The partners of vertices and joints across a mirror plane.
///
/// Partners are mutual: a point that no point mirrors back to has none. A point on the plane is its
/// own partner.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    plane: MirrorPlane,
    vertex_partners: Vec<Option<u32>>,
    joint_partners: Vec<Option<u32>>,
    matched_points: f64,
    matched_joints: f64,
    point_tolerance: f64,
}

impl Symmetry {
    /// Finds the symmetry of a character: at least three quarters of its distinct points and of its
    /// joints must have partners at their mirrored positions.
    ///
    /// Tests planes across X, then Z, then Y, through the middle of the bounding box, the origin,
    /// the mean of the joints, and the mean of the joints paired by name (a sword in one hand moves
    /// the first, not the others). The first plane wins unless a later one matches clearly more.
    pub fn of(mesh: &Mesh, skeleton: &Skeleton) -> Option<Symmetry> {
        let character = Places::of(mesh, skeleton);
        let plane = character.best_plane(&[DVec3::X, DVec3::Z, DVec3::Y])?;
        let found = character.across(plane);
        (found.matched_points >= LEAST_MATCHED).then_some(found)
    }

    /// Finds the mirror plane of a surface regardless of its joints, as [`Symmetry::of`] does.
    pub(crate) fn plane_of_surface(mesh: &Mesh) -> Option<MirrorPlane> {
        let surface = Places::new(mesh, Vec::new(), &[]);
        surface.best_plane(&[DVec3::X, DVec3::Z, DVec3::Y])
    }

    /// The partners across a plane with a given unit normal, however few: for characters that are
    /// not quite symmetric. The plane is the one that [`Symmetry::of`] would find there, else
    /// through the middle of the joints paired by name, or of the surface. None without a surface.
    pub fn along(mesh: &Mesh, skeleton: &Skeleton, normal: DVec3) -> Option<Symmetry> {
        let character = Places::of(mesh, skeleton);
        let middle = character.middle_of_named.or(character.middle)?;
        let usual = MirrorPlane::through(middle, normal);
        Some(character.across(character.best_plane(&[normal]).unwrap_or(usual)))
    }

    /// The partners across a given plane, however few.
    pub(crate) fn across(mesh: &Mesh, skeleton: &Skeleton, plane: MirrorPlane) -> Symmetry {
        Places::of(mesh, skeleton).across(plane)
    }

    /// The plane.
    pub fn plane(&self) -> MirrorPlane {
        self.plane
    }

    /// The first vertex at the mirror image of a vertex; none if there is none, or no such vertex.
    pub fn vertex_partner(&self, vertex: usize) -> Option<usize> {
        let partner = self.vertex_partners.get(vertex).copied().flatten()?;
        Some(partner as usize)
    }

    /// The joint paired by name with a joint (`arm.L` and `arm.R`), else the joint at its mirrored
    /// position.
    pub fn joint_partner(&self, joint: usize) -> Option<usize> {
        let partner = self.joint_partners.get(joint).copied().flatten()?;
        Some(partner as usize)
    }

    /// The share of the surface's distinct points that have a partner, from 0 to 1.
    pub fn matched_points(&self) -> f64 {
        self.matched_points
    }

    /// The share of the joints that have a partner, from 0 to 1.
    pub fn matched_joints(&self) -> f64 {
        self.matched_joints
    }

    /// True if a position is its own mirror image, within the tolerance of points.
    pub(crate) fn is_on_plane(&self, place: DVec3) -> bool {
        2.0 * self.plane.side(place).abs() <= self.point_tolerance
    }
}

/// The distinct points and the joints of a character, prepared for searches.
struct Places {
    weld: Weld,
    points: Vec<DVec3>,
    grid: Grid,
    bones: Vec<BindBone>,
    heads: Vec<DVec3>,
    joint_grid: Grid,
    /// The partners of joints by name.
    named: Vec<Option<u32>>,
    /// The middle of the surface.
    middle: Option<DVec3>,
    /// The median of the middles of the joints paired by name, on each axis.
    middle_of_named: Option<DVec3>,
}

impl Places {
    fn of(mesh: &Mesh, skeleton: &Skeleton) -> Places {
        let bones = skeleton.bind_bones();
        let names = (0..bones.len()).map(|joint| skeleton.joint_name(joint));
        let names: Vec<&str> = names.collect();
        Places::new(mesh, bones, &names)
    }

    fn new(mesh: &Mesh, bones: Vec<BindBone>, names: &[&str]) -> Places {
        let weld = weld_positions(mesh.positions());
        let points = weld.places(mesh.positions());
        let bounds = mesh.surface_bounds();
        let extent = f64::from(bounds.unwrap_or_default().extent());
        let heads: Vec<DVec3> = bones.iter().map(|bone| bone.head).collect();
        let named = names::partners(names);
        Places {
            grid: Grid::of(&points, POINT_TOLERANCE * extent),
            joint_grid: Grid::of(&heads, JOINT_TOLERANCE * extent),
            middle: bounds.map(|bounds| 0.5 * (bounds.min.as_dvec3() + bounds.max.as_dvec3())),
            middle_of_named: middle_of_pairs(&named, &heads),
            weld,
            points,
            bones,
            heads,
            named,
        }
    }

    /// The plane with one of some normals that matches most of the character, if it matches enough.
    fn best_plane(&self, normals: &[DVec3]) -> Option<MirrorPlane> {
        let joints = middle_of(&self.heads);
        let through = [self.middle?, DVec3::ZERO, joints];
        let mut best: Option<(f64, MirrorPlane)> = None;
        for &normal in normals {
            for through in through.into_iter().chain(self.middle_of_named) {
                let plane = MirrorPlane::through(through, normal);
                let score = self.sampled_share(&plane).min(self.share_in_place(&plane));
                let wanted = best.map_or(LEAST_MATCHED, |(known, _)| known + CLEARLY_BETTER);
                if score >= wanted {
                    best = Some((score, plane));
                }
            }
        }
        best.map(|(_, plane)| plane)
    }

    /// An estimate of the share of points with a partner.
    fn sampled_share(&self, plane: &MirrorPlane) -> f64 {
        let step = (self.points.len() / SAMPLE).max(1);
        let sample = self.points.iter().step_by(step);
        let matched = sample
            .clone()
            .filter(|point| self.point_at(plane.mirrored(**point)).is_some());
        matched.count() as f64 / sample.len().max(1) as f64
    }

    /// The share of joints whose partner is at the mirrored position.
    fn share_in_place(&self, plane: &MirrorPlane) -> f64 {
        let in_place = |(joint, partner): (usize, Option<u32>)| {
            let place = plane.mirrored(self.heads[joint]);
            partner.filter(|&partner| {
                self.heads[partner as usize].distance(place) <= self.joint_grid.tolerance
            })
        };
        let partners = self.joint_partners(plane).into_iter().enumerate();
        share(&partners.map(in_place).collect::<Vec<_>>())
    }

    fn point_at(&self, place: DVec3) -> Option<u32> {
        let near = self.grid.around(&self.points, place);
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        nearest.map(|(_, point)| point)
    }

    fn across(&self, plane: MirrorPlane) -> Symmetry {
        let partner = |point: &DVec3| self.point_at(plane.mirrored(*point));
        let point_partners = mutual(self.points.iter().map(partner).collect());
        let first_vertices = self.weld.first_vertices();
        let first_vertex = |point: u32| first_vertices[point as usize];
        let vertex_partners = self.weld.points();
        let vertex_partners = vertex_partners.map(|point| point_partners[point].map(first_vertex));
        let joint_partners = self.joint_partners(&plane);
        Symmetry {
            plane,
            vertex_partners: vertex_partners.collect(),
            matched_points: share(&point_partners),
            matched_joints: share(&joint_partners),
            joint_partners,
            point_tolerance: self.grid.tolerance,
        }
    }

    /// Pairs by name, and the others by position if both agree.
    fn joint_partners(&self, plane: &MirrorPlane) -> Vec<Option<u32>> {
        let by_place = |joint: usize| match self.named[joint] {
            None => self.joint_at_image(plane, joint),
            Some(_) => None,
        };
        let by_place = mutual((0..self.heads.len()).map(by_place).collect());
        let named = self.named.iter().zip(by_place);
        named.map(|(named, by_place)| named.or(by_place)).collect()
    }

    /// For joints without a partner by name, the joint at the mirrored position. Of joints at one
    /// position, a joint is its own partner if it is among them, else the one whose bone ends at
    /// the mirrored position.
    fn joint_at_image(&self, plane: &MirrorPlane, joint: usize) -> Option<u32> {
        let head = plane.mirrored(self.bones[joint].head);
        let tail = plane.mirrored(self.bones[joint].tail);
        let near = self.joint_grid.around(&self.heads, head);
        let near = near.filter(|&(_, other)| self.named[other as usize].is_none());
        let ordered = near.map(|(distance, other)| {
            // Joints at one position are equal up to rounding.
            let steps = (distance / self.grid.tolerance).round() as u64;
            let is_another = other as usize != joint;
            let end = self.bones[other as usize].tail.distance(tail);
            (steps, is_another, end, other)
        });
        let nearest = ordered.min_by(|a, b| {
            (a.0, a.1)
                .cmp(&(b.0, b.1))
                .then(a.2.total_cmp(&b.2))
                .then(a.3.cmp(&b.3))
        });
        nearest.map(|(.., other)| other)
    }
}

/// The partners of all joints: by the symmetry of the character, or by name alone if it has none.
pub(crate) fn joint_partners(mesh: &Mesh, skeleton: &Skeleton) -> Vec<Option<usize>> {
    let partners = Symmetry::of(mesh, skeleton).map(|symmetry| symmetry.joint_partners);
    let by_name = || {
        let names = (0..skeleton.joints().len()).map(|joint| skeleton.joint_name(joint));
        names::partners(&names.collect::<Vec<_>>())
    };
    let partners = partners.unwrap_or_else(by_name).into_iter();
    partners
        .map(|partner| partner.map(|partner| partner as usize))
        .collect()
}

/// Keeps only mutual partners.
fn mutual(partners: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let agrees = |(item, partner): (usize, &Option<u32>)| {
        partner.filter(|&partner| partners[partner as usize] == Some(item as u32))
    };
    partners.iter().enumerate().map(agrees).collect()
}

/// The share of entries with a partner; 1 if there are none.
fn share(partners: &[Option<u32>]) -> f64 {
    match partners.len() {
        0 => 1.0,
        count => partners.iter().flatten().count() as f64 / count as f64,
    }
}

/// The median of the middles of pairs, on each axis.
fn middle_of_pairs(partners: &[Option<u32>], places: &[DVec3]) -> Option<DVec3> {
    let middle_on = |axis: usize| {
        let middles = partners.iter().enumerate().filter_map(|(item, partner)| {
            let partner = (*partner)? as usize;
            Some(0.5 * (places[item][axis] + places[partner][axis]))
        });
        let mut middles: Vec<f64> = middles.collect();
        let middle = middles.len() / 2;
        (!middles.is_empty()).then(|| *middles.select_nth_unstable_by(middle, f64::total_cmp).1)
    };
    Some(DVec3::new(middle_on(0)?, middle_on(1)?, middle_on(2)?))
}

fn middle_of(points: &[DVec3]) -> DVec3 {
    let low = points.iter().copied().reduce(DVec3::min);
    let high = points.iter().copied().reduce(DVec3::max);
    0.5 * (low.unwrap_or_default() + high.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{Character, build};
    use crate::skeleton::Node;
    use crate::transform::{Local, Trs};
    use glam::Vec3;

    fn skeleton(joints: &[(&str, DVec3)]) -> Skeleton {
        let node = |&(name, place): &(&str, DVec3)| Node {
            name: name.to_owned(),
            parent: None,
            rest: Local::Trs(Trs::from_translation(place)),
        };
        let all: Vec<usize> = (0..joints.len()).collect();
        Skeleton::bound_at_rest(joints.iter().map(node).collect(), &all).unwrap()
    }

    fn points(points: &[[f32; 3]]) -> Mesh {
        let positions = points
            .iter()
            .map(|&point| Vec3::from_array(point))
            .collect();
        Mesh::new(positions, None, None, vec![]).unwrap()
    }

    #[test]
    fn partners_across_a_plane_beside_the_origin() {
        // x = 3: two pairs, one point on the plane, one seam, one point without partner.
        let mesh = points(&[
            [2.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [3.0, 5.0, 0.0],
            [4.0, 0.0, 0.0],
            [1.0, 2.0, 1.0],
            [5.0, 2.0, 1.0],
            [5.0, 2.0, 2.0],
        ]);
        let skeleton = skeleton(&[
            ("a", DVec3::new(2.0, 1.0, 0.0)),
            ("b", DVec3::new(4.0, 1.0, 0.0)),
            ("c", DVec3::new(3.0, 1.0, 0.0)),
        ]);
        let found = Symmetry::of(&mesh, &skeleton).unwrap();
        assert_eq!(
            (found.plane().normal, found.plane().axis_name()),
            (DVec3::X, "X")
        );
        assert!((found.plane().offset - 3.0).abs() < 1e-12);
        let partners = [0, 1, 2, 3, 4, 5, 6, 7].map(|vertex| found.vertex_partner(vertex));
        let expected = [
            Some(1),
            Some(0),
            Some(2),
            Some(0),
            Some(5),
            Some(4),
            None,
            None,
        ];
        assert_eq!(partners, expected);
        assert_eq!(
            [0, 1, 2, 3].map(|joint| found.joint_partner(joint)),
            [Some(1), Some(0), Some(2), None]
        );
        assert!((found.matched_points() - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(found.matched_joints(), 1.0);
    }

    #[test]
    fn a_given_plane_is_taken_however_little_matches() {
        let mesh = points(&[[0.0, 1.0, 0.0], [0.0, 3.0, 0.0], [9.0, 9.0, 9.0]]);
        let skeleton = skeleton(&[]);
        assert_eq!(Symmetry::of(&mesh, &skeleton), None);
        let plane = MirrorPlane::through(DVec3::Y * 2.0, DVec3::Y);
        let found = Symmetry::across(&mesh, &skeleton, plane);
        assert_eq!(found.vertex_partner(0), Some(1));
        assert_eq!(found.vertex_partner(2), None);
        assert!((found.matched_points() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn joints_in_one_place_are_told_apart_by_their_names() {
        let left = DVec3::X;
        let skeleton = skeleton(&[
            ("arm.L", left),
            ("twist.L", left),
            ("twist.R", -left),
            ("arm.R", -left),
            ("hip", DVec3::ZERO),
            ("root", DVec3::ZERO),
        ]);
        let mesh = points(&[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
        let found = Symmetry::of(&mesh, &skeleton).unwrap();
        let partners = [0, 1, 2, 3, 4, 5].map(|joint| found.joint_partner(joint));
        assert_eq!(partners, [3, 2, 1, 0, 4, 5].map(Some));
    }

    #[test]
    fn names_count_before_places_and_ends_of_bones_tell_joints_apart() {
        let ([a, b], side) = ([DVec3::X, DVec3::X * 3.0], DVec3::new(1.0, 2.0, 0.0));
        let mesh = points(&[[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]]);
        // The named ones are not near each other's mirror image.
        let skeleton = skeleton(&[
            ("", a),
            ("", -a),
            ("leg_r", b),
            ("leg_l", side),
            ("", DVec3::Y),
        ]);
        let plane = MirrorPlane::through(DVec3::ZERO, DVec3::X);
        let found = Symmetry::across(&mesh, &skeleton, plane);
        let partners = [0, 1, 2, 3, 4].map(|joint| found.joint_partner(joint));
        assert_eq!(partners, [1, 0, 3, 2, 4].map(Some));
        // Two joints at one position on each side, one with a bone upwards, one with a bone
        // downwards.
        let node = |parent, place: DVec3| Node {
            name: String::new(),
            parent,
            rest: Local::Trs(Trs::from_translation(place)),
        };
        let nodes = vec![
            node(None, DVec3::ZERO),
            node(Some(0), -DVec3::X),
            node(Some(1), -DVec3::Y),
            node(Some(0), -DVec3::X),
            node(Some(3), DVec3::Y),
            node(Some(0), DVec3::X),
            node(Some(5), DVec3::Y),
            node(Some(0), DVec3::X),
            node(Some(7), -DVec3::Y),
        ];
        let all: Vec<usize> = (0..nodes.len()).collect();
        let skeleton = Skeleton::bound_at_rest(nodes, &all).unwrap();
        let found = Symmetry::across(&mesh, &skeleton, plane);
        let partners = all.iter().map(|&joint| found.joint_partner(joint));
        assert!(partners.eq([0, 7, 8, 5, 6, 3, 4, 1, 2].map(Some)));
    }

    #[test]
    fn without_symmetry_the_plane_stands_between_what_names_pair_or_in_the_middle() {
        let mesh = points(&[[0.0, 0.0, 0.0], [9.0, 1.0, 2.0], [5.0, 8.0, 0.0]]);
        let offset = |names: [&str; 3]| {
            let heads = [DVec3::X, DVec3::X * 3.0, DVec3::X * 8.0];
            let joints: Vec<(&str, DVec3)> = names.into_iter().zip(heads).collect();
            let found = Symmetry::along(&mesh, &skeleton(&joints), DVec3::X).unwrap();
            found.plane().offset
        };
        assert_eq!(offset(["arm.L", "arm.R", "tail"]), 2.0);
        assert_eq!(offset(["", "", ""]), 4.5);
        assert_eq!(
            Symmetry::along(&points(&[]), &skeleton(&[]), DVec3::X),
            None
        );
    }

    #[test]
    fn a_box_that_is_only_symmetric_across_z_is_mirrored_there() {
        let mut corners = Vec::new();
        for z in [-1.0f32, 1.0] {
            corners.extend([
                [0.0, 0.0, z],
                [3.0, 0.0, z],
                [1.0, 2.0, z],
                [2.0, 0.5, 2.0 * z],
            ]);
        }
        let found = Symmetry::of(&points(&corners), &skeleton(&[])).unwrap();
        assert_eq!(
            (found.plane().normal, found.plane().offset),
            (DVec3::Z, 0.0)
        );
    }

    #[test]
    fn nothing_and_a_single_place_are_no_trouble() {
        assert_eq!(Symmetry::of(&points(&[]), &skeleton(&[])), None);
        let same = points(&[[1.0, 1.0, 1.0]; 3]);
        let found = Symmetry::of(&same, &skeleton(&[("", DVec3::ONE), ("", DVec3::ONE)])).unwrap();
        assert_eq!(found.vertex_partner(2), Some(0));
        assert_eq!(found.joint_partner(1), Some(1));
    }

    #[test]
    fn built_in_figures_are_symmetric_through_and_through() {
        // A figure stands with its arms apart, a bar lies along X.
        for (character, across) in [(Character::Figure, DVec3::X), (Character::Bar, DVec3::Z)] {
            let asset = build(character, 3000).unwrap();
            let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
            let found = Symmetry::of(mesh, skeleton).unwrap();
            assert_eq!(found.plane().normal, across);
            assert_eq!((found.matched_points(), found.matched_joints()), (1.0, 1.0));
            for vertex in 0..mesh.vertex_count() {
                let partner = found.vertex_partner(vertex).unwrap();
                let image = found.plane().mirrored(mesh.positions()[vertex].as_dvec3());
                let there = mesh.positions()[partner].as_dvec3();
                assert!(image.distance(there) < 1e-5);
            }
        }
    }
}
