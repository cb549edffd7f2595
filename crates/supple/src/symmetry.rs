//! Mirror symmetry of a character: the plane, and which vertices and joints are each other's mirror image.

use crate::adjacency::weld_positions;
use crate::mesh::Mesh;
use crate::skeleton::Skeleton;
use glam::DVec3;
use std::collections::HashMap;

/// Points are partners if one lies this near to the mirror image of the other, as a share of the extent: what modelling tools and files round.
const POINT_TOLERANCE: f64 = 5e-4;

/// Joints are placed less exactly than the surface is mirrored.
const JOINT_TOLERANCE: f64 = 1e-2;

/// A character is symmetric if at least this share of its points have a partner, and this share of its joints.
const LEAST_MATCHED: f64 = 0.75;

/// A plane that is tried later must match so much more to be preferred.
const CLEARLY_BETTER: f64 = 0.05;

/// So many points, evenly picked, tell which of several planes is worth a closer look.
const SAMPLE: usize = 1000;

/// A cell of the grid is so many tolerances wide: most balls of that radius then lie in one cell.
const CELL_WIDTH: f64 = 8.0;

/// Of a crowd of points in one cell no more than this many are looked at, so that no arrangement of points takes long.
const MOST_PER_CELL: usize = 256;

/// A plane of points `p` with `normal · p = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorPlane {
    /// Of unit length.
    pub normal: DVec3,
    /// Distance from the origin along the normal.
    pub offset: f64,
}

impl MirrorPlane {
    /// The name of the axis that it stands across, or nearly.
    pub fn axis_name(&self) -> &'static str {
        ["X", "Y", "Z"][self.normal.abs().max_position()]
    }

    /// The mirror image of a point.
    pub fn mirrored(&self, point: DVec3) -> DVec3 {
        point - 2.0 * (self.normal.dot(point) - self.offset) * self.normal
    }
}

/// Who is whose mirror image.
///
/// Partners are mutual: a point that no point mirrors back has none. What lies on the plane is its own partner.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    plane: MirrorPlane,
    vertex_partners: Vec<Option<u32>>,
    joint_partners: Vec<Option<u32>>,
    matched_points: f64,
    matched_joints: f64,
}

impl Symmetry {
    /// The symmetry of a character, if it has one: at least three quarters of its distinct points and of its joints have partners.
    ///
    /// Tried are planes across X, then Z, then Y, through the middle of the bounding box, the origin and the middle of the joints (a sword in one hand moves the
    /// first, not the others). The first wins unless a later one matches clearly more.
    pub fn of(mesh: &Mesh, skeleton: &Skeleton) -> Option<Symmetry> {
        let character = Places::of(mesh, skeleton);
        let bounds = mesh.bounds()?;
        let middle = 0.5 * (bounds.min.as_dvec3() + bounds.max.as_dvec3());
        let joints = middle_of(&character.heads);
        let mut best: Option<(f64, MirrorPlane)> = None;
        for normal in [DVec3::X, DVec3::Z, DVec3::Y] {
            for through in [middle, DVec3::ZERO, joints] {
                let plane = MirrorPlane {
                    normal,
                    offset: normal.dot(through),
                };
                let points = character.sampled_share(&plane);
                let score = points.min(share(&character.joint_partners(&plane)));
                let wanted = best.map_or(LEAST_MATCHED, |(known, _)| known + CLEARLY_BETTER);
                if score >= wanted {
                    best = Some((score, plane));
                }
            }
        }
        let found = character.across(mesh, best?.1);
        (found.matched_points >= LEAST_MATCHED).then_some(found)
    }

    /// The partners across a given plane, however few: for characters that are not quite symmetric.
    pub fn across(mesh: &Mesh, skeleton: &Skeleton, plane: MirrorPlane) -> Symmetry {
        Places::of(mesh, skeleton).across(mesh, plane)
    }

    /// The plane.
    pub fn plane(&self) -> MirrorPlane {
        self.plane
    }

    /// The first vertex at the mirror image of a vertex; nothing where there is none, or no such vertex.
    pub fn vertex_partner(&self, vertex: usize) -> Option<usize> {
        let partner = self.vertex_partners.get(vertex).copied().flatten()?;
        Some(partner as usize)
    }

    /// The joint at the mirror image of a joint; where several are in the same place, the one whose name says so (`arm.L` and `arm.R`).
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
}

/// The distinct points and the joints of a character, ready to be looked up.
struct Places {
    points: Vec<DVec3>,
    first_vertex: Vec<u32>,
    grid: Grid,
    heads: Vec<DVec3>,
    names: Vec<String>,
    joint_grid: Grid,
}

impl Places {
    fn of(mesh: &Mesh, skeleton: &Skeleton) -> Places {
        let weld = weld_positions(mesh.positions());
        let mut points = Vec::with_capacity(weld.point_count());
        let mut first_vertex = Vec::with_capacity(weld.point_count());
        for (vertex, position) in mesh.positions().iter().enumerate() {
            if weld.point_of(vertex) == points.len() {
                points.push(position.as_dvec3());
                first_vertex.push(vertex as u32);
            }
        }
        let extent = mesh
            .bounds()
            .map_or(0.0, |bounds| f64::from(bounds.extent()));
        let heads: Vec<DVec3> = skeleton.bind_bones().iter().map(|bone| bone.head).collect();
        let name = |joint| skeleton.joint_name(joint).to_owned();
        Places {
            grid: Grid::of(&points, POINT_TOLERANCE * extent),
            joint_grid: Grid::of(&heads, JOINT_TOLERANCE * extent),
            names: (0..heads.len()).map(name).collect(),
            points,
            first_vertex,
            heads,
        }
    }

    /// About which share of the points has a partner.
    fn sampled_share(&self, plane: &MirrorPlane) -> f64 {
        let step = (self.points.len() / SAMPLE).max(1);
        let sample = self.points.iter().step_by(step);
        let matched = sample
            .clone()
            .filter(|point| self.point_at(plane.mirrored(**point)).is_some());
        matched.count() as f64 / sample.len().max(1) as f64
    }

    fn point_at(&self, place: DVec3) -> Option<u32> {
        let near = self
            .grid
            .around(&self.points, place)
            .map(|(_, point)| point);
        near.min_by(|a, b| self.farther(place, *a, *b))
    }

    /// The order of two points by their distance from a place.
    fn farther(&self, place: DVec3, a: u32, b: u32) -> std::cmp::Ordering {
        let distance = |point: u32| self.points[point as usize].distance_squared(place);
        distance(a).total_cmp(&distance(b)).then(a.cmp(&b))
    }

    fn across(&self, mesh: &Mesh, plane: MirrorPlane) -> Symmetry {
        let partner = |point: &DVec3| self.point_at(plane.mirrored(*point));
        let point_partners = mutual(self.points.iter().map(partner).collect());
        let weld = weld_positions(mesh.positions());
        let first_vertex = |point: u32| self.first_vertex[point as usize];
        let vertex_partners = (0..mesh.vertex_count())
            .map(|vertex| point_partners[weld.point_of(vertex)].map(first_vertex))
            .collect();
        let joint_partners = self.joint_partners(&plane);
        Symmetry {
            plane,
            matched_points: share(&point_partners),
            matched_joints: share(&joint_partners),
            vertex_partners,
            joint_partners,
        }
    }

    /// Those whose names are each other's mirror image come first, then those nearest to the image.
    fn joint_partners(&self, plane: &MirrorPlane) -> Vec<Option<u32>> {
        let partner = |(joint, head): (usize, &DVec3)| {
            let place = plane.mirrored(*head);
            let wanted = mirrored_name(&self.names[joint]);
            let near = self.joint_grid.around(&self.heads, place);
            let order = |&(distance, other): &(f64, u32)| {
                let named_otherwise = self.names[other as usize] != wanted;
                // Of joints without any name in one place each is its own partner, or the first.
                let is_another = other as usize != joint;
                (named_otherwise, distance, is_another, other)
            };
            near.min_by(|a, b| {
                let (a, b) = (order(a), order(b));
                (a.0.cmp(&b.0))
                    .then(a.1.total_cmp(&b.1))
                    .then((a.2, a.3).cmp(&(b.2, b.3)))
            })
            .map(|(_, other)| other)
        };
        mutual(self.heads.iter().enumerate().map(partner).collect())
    }
}

/// Only those partners who agree.
fn mutual(partners: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let agrees = |(item, partner): (usize, &Option<u32>)| {
        partner.filter(|&partner| partners[partner as usize] == Some(item as u32))
    };
    partners.iter().enumerate().map(agrees).collect()
}

/// The share of those who have a partner; all of none.
fn share(partners: &[Option<u32>]) -> f64 {
    match partners.len() {
        0 => 1.0,
        count => partners.iter().flatten().count() as f64 / count as f64,
    }
}

fn middle_of(points: &[DVec3]) -> DVec3 {
    let low = points.iter().copied().reduce(DVec3::min);
    let high = points.iter().copied().reduce(DVec3::max);
    0.5 * (low.unwrap_or_default() + high.unwrap_or_default())
}

/// Points by the cells of a regular grid, to find those within a tolerance.
struct Grid {
    tolerance: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Grid {
    fn of(points: &[DVec3], tolerance: f64) -> Grid {
        let mut grid = Grid {
            tolerance,
            cells: HashMap::new(),
        };
        for (index, &point) in points.iter().enumerate() {
            let cell = grid.cell(point);
            grid.cells.entry(cell).or_default().push(index as u32);
        }
        grid
    }

    fn cell(&self, point: DVec3) -> [i64; 3] {
        let width = if self.tolerance > 0.0 {
            CELL_WIDTH * self.tolerance
        } else {
            1.0
        };
        // Saturates, far out.
        point.to_array().map(|x| (x / width).floor() as i64)
    }

    /// The points within the tolerance of a place, and their distances.
    fn around<'a>(
        &'a self,
        points: &'a [DVec3],
        place: DVec3,
    ) -> impl Iterator<Item = (f64, u32)> + 'a {
        let reach = DVec3::splat(self.tolerance);
        let (low, high) = (self.cell(place - reach), self.cell(place + reach));
        let cells = (low[0]..=high[0]).flat_map(move |x| {
            (low[1]..=high[1]).flat_map(move |y| (low[2]..=high[2]).map(move |z| [x, y, z]))
        });
        let members = cells.filter_map(|cell| self.cells.get(&cell));
        members
            .flat_map(|members| members.iter().take(MOST_PER_CELL))
            .map(move |&index| (points[index as usize].distance(place), index))
            .filter(|(distance, _)| *distance <= self.tolerance)
    }
}

/// The name of the mirror image: `Left` and `Right`, or a lone `L` and `R`, change places. Others are their own image.
fn mirrored_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase(); // as many bytes as before
    for (word, other) in [("left", "right"), ("right", "left")] {
        if let Some(start) = lower.find(word) {
            let end = start + word.len();
            let found = &name[start..end];
            let capitals = found.bytes().filter(u8::is_ascii_uppercase).count();
            let other = match capitals {
                0 => other.to_owned(),
                1 => other[..1].to_ascii_uppercase() + &other[1..],
                _ => other.to_ascii_uppercase(),
            };
            return format!("{}{other}{}", &name[..start], &name[end..]);
        }
    }
    let mut mirrored = String::with_capacity(name.len());
    let mut before: Option<char> = None;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let apart = |other: Option<char>| other.is_none_or(|other| !other.is_alphanumeric());
        let alone = apart(before) && apart(characters.peek().copied());
        mirrored.push(match character {
            'L' if alone => 'R',
            'R' if alone => 'L',
            'l' if alone => 'r',
            'r' if alone => 'l',
            other => other,
        });
        before = Some(character);
    }
    mirrored
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
    fn names_change_sides() {
        for (name, mirrored) in [
            ("arm.L", "arm.R"),
            ("hand_r", "hand_l"),
            ("L_foot", "R_foot"),
            ("arm.R.001", "arm.L.001"),
            ("mixamorig:LeftForeArm", "mixamorig:RightForeArm"),
            ("RIGHT leg", "LEFT leg"),
            ("upright", "upleft"),
            ("spine", "spine"),
            ("Lower", "Lower"),
            ("", ""),
            ("骨.L", "骨.R"),
        ] {
            assert_eq!(mirrored_name(name), mirrored, "{name}");
        }
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
        let plane = MirrorPlane {
            normal: DVec3::Y,
            offset: 2.0,
        };
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
