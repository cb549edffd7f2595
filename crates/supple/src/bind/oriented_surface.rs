//! The surface prepared for binding: welded points, connected pieces, triangles that face outwards.
//!
//! Files contain duplicate triangles, triangles of either orientation, pieces inside of pieces, and
//! any unit of length. So coordinates are scaled to an extent of one, duplicates are dropped, and
//! every patch is oriented outwards by its own shape.

use crate::disjoint_sets::DisjointSets;
use crate::exec;
use crate::mesh::{Bounds, Mesh};
use crate::surface::{
    CotangentPolicy, Edge, Rows, Units, Weld, double_area_normal, point_areas, weld_near,
    weld_positions,
};
use crate::surface_tree::SurfaceTree;
use glam::DVec3;

/// A surface prepared for binding, scaled to an extent of one and centered at the origin.
pub(crate) struct OrientedSurface {
    weld: Weld,
    pub(crate) points: Vec<DVec3>,
    /// Outward normals of points: sums of the normals of their triangles, each with twice the
    /// triangle's area as its length.
    pub(crate) normals: Vec<DVec3>,
    /// The area of each point: a third of the area of its triangles.
    pub(crate) areas: Vec<f64>,
    /// Triangles between points: distinct, not degenerate, and oriented outwards.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Edges with positive cotangent weights, so that a piece stays connected.
    pub(crate) edges: Vec<Edge>,
    pub(crate) pieces: Vec<Piece>,
    /// The piece of every point.
    pub(crate) piece_of: Vec<u32>,
    pub(crate) tree: SurfaceTree,
    units: Units,
    /// Half the size of the bounding box of the surface.
    half_sides: DVec3,
}

/// A connected part of the surface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) points: Vec<u32>,
    /// True if it encloses a volume: every edge has two triangles.
    pub(crate) closed: bool,
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl Piece {
    /// The diagonal of its bounding box, relative to the model's.
    pub(crate) fn extent(&self) -> f64 {
        (self.high - self.low).length()
    }
}

/// Points at open edges within this distance, relative to the extent, are welded: the sides of a
/// seam may be rounded differently.
const ROUNDED: f64 = 1e-5;

impl OrientedSurface {
    pub(crate) fn of(mesh: &Mesh) -> OrientedSurface {
        let bounds = mesh.surface_bounds();
        let units = Units::of(bounds);
        let Bounds { min, max } = bounds.unwrap_or_default();
        let half_sides = (max.as_dvec3() - min.as_dvec3()) * (0.5 * units.scale());
        let places = |weld: &Weld| -> Vec<DVec3> {
            let places = weld.places(mesh.positions()).into_iter();
            places.map(|place| units.to_unit(place)).collect()
        };
        let mut weld = weld_positions(mesh.positions());
        let mut points = places(&weld);
        let (mut triangles, mut sides) = distinct_triangles(mesh, &weld, &points, half_sides);
        let open = sides.at_open_edges(points.len());
        if let Some(nearly) = weld_near(&weld, &points, |point| open[point], ROUNDED) {
            weld = nearly;
            points = places(&weld);
            (triangles, sides) = distinct_triangles(mesh, &weld, &points, half_sides);
        }
        let outward = sides.outward(&points, &triangles);
        for (corners, outward) in triangles.iter_mut().zip(outward) {
            if !outward {
                corners.swap(1, 2);
            }
        }
        let tree = || {
            let corners = triangles
                .iter()
                .map(|corners| corners.map(|corner| points[corner as usize].as_vec3()));
            SurfaceTree::new(&corners.collect::<Vec<_>>())
        };
        let surface = || {
            let mut normals = vec![DVec3::ZERO; points.len()];
            for corners in &triangles {
                let normal = across(&points, corners);
                for &corner in corners {
                    normals[corner as usize] += normal;
                }
            }
            let areas = point_areas(&points, triangles.iter().copied());
            let pieces = sides.pieces(&points, &triangles);
            (sides.edges(&points), pieces, normals, areas)
        };
        let (tree, (edges, (pieces, piece_of), normals, areas)) = exec::both(tree, surface);
        OrientedSurface {
            tree,
            weld,
            points,
            normals,
            areas,
            triangles,
            edges,
            pieces,
            piece_of,
            units,
            half_sides,
        }
    }

    pub(crate) fn weld(&self) -> &Weld {
        &self.weld
    }

    /// Converts a position of the model to an extent of one.
    pub(crate) fn to_unit(&self, place: DVec3) -> DVec3 {
        self.units.to_unit(place)
    }

    /// Converts a position at an extent of one to the model's coordinates.
    pub(crate) fn out_of_unit(&self, place: DVec3) -> DVec3 {
        self.units.to_model(place)
    }

    /// Converts a length of the model to an extent of one.
    pub(crate) fn length_to_unit(&self, length: f64) -> f64 {
        length * self.units.scale()
    }

    /// Converts a length at an extent of one to the model's.
    pub(crate) fn length_from_unit(&self, length: f64) -> f64 {
        length / self.units.scale()
    }

    /// Half the size of the surface's bounding box along each axis. Points without a triangle of
    /// positive area may lie outside.
    pub(crate) fn half_sides(&self) -> DVec3 {
        self.half_sides
    }

    /// True if a position is inside the body.
    pub(crate) fn is_inside(&self, place: DVec3) -> bool {
        self.tree.winding(place) > 0.5
    }

    /// True if the surface hides a position from one of its points. Triangles at the point are
    /// ignored.
    pub(crate) fn hides(&self, point: u32, place: DVec3) -> bool {
        let from = self.points[point as usize].as_vec3();
        self.tree.blocked(from, place.as_vec3(), 1e-3, |triangle| {
            !self.triangles[triangle as usize].contains(&point)
        })
    }

    /// The piece that a triangle belongs to.
    pub(crate) fn piece_of_triangle(&self, triangle: u32) -> u32 {
        self.piece_of[self.triangles[triangle as usize][0] as usize]
    }
}

/// The normal of a triangle, with twice its area as its length.
fn across(points: &[DVec3], corners: &[u32; 3]) -> DVec3 {
    double_area_normal(corners.map(|corner| points[corner as usize]))
}

/// The distinct triangles of a mesh over welded points, regardless of orientation, and their sides.
/// Degenerate triangles are dropped; nearly degenerate ones are kept within the bounding box of all
/// others, where they may close a seam.
fn distinct_triangles(
    mesh: &Mesh,
    weld: &Weld,
    points: &[DVec3],
    half_sides: DVec3,
) -> (Vec<[u32; 3]>, Sides) {
    let in_box = |corner: &u32| {
        let place = points[*corner as usize];
        place.abs().cmple(half_sides + ROUNDED).all()
    };
    let mut triangles: Vec<[u32; 3]> = weld
        .triangles(mesh.triangles())
        .filter(|corners| across(points, corners) != DVec3::ZERO && corners.iter().all(in_box))
        .collect();
    let sides = Sides::of(points.len(), &triangles);
    let again = sides.triangles_again(triangles.len());
    if !again.contains(&true) {
        return (triangles, sides);
    }
    let mut again = again.into_iter();
    triangles.retain(|_| again.next() == Some(false));
    let sides = Sides::of(points.len(), &triangles);
    (triangles, sides)
}

/// The sides of all triangles, sorted by edge.
struct Sides {
    /// Sorted by their lower end.
    sides: Rows<Side>,
}

#[derive(Clone, Copy, Default)]
struct Side {
    ends: [u32; 2],
    triangle: u32,
    opposite: u32,
    /// True if it runs from the lower end to the higher one.
    upwards: bool,
}

impl Sides {
    fn of(points: usize, triangles: &[[u32; 3]]) -> Sides {
        let sides = (0..).zip(triangles).flat_map(|(triangle, corners)| {
            [(0, 1, 2), (1, 2, 0), (2, 0, 1)].map(|(a, b, opposite)| {
                let (a, b) = (corners[a], corners[b]);
                let side = Side {
                    ends: [a.min(b), a.max(b)],
                    triangle,
                    opposite: corners[opposite],
                    upwards: a < b,
                };
                (side.ends[0] as usize, side)
            })
        });
        let mut sides = Rows::of(points, sides);
        // Only a few sides at each point remain to be sorted.
        for point in 0..points {
            let row = sides.range(point);
            let row = &mut sides.values_mut()[row];
            row.sort_unstable_by_key(|side| (side.ends[1], side.opposite, side.triangle));
        }
        Sides { sides }
    }

    fn of_edges(&self) -> impl Iterator<Item = &[Side]> {
        self.sides.values().chunk_by(|a, b| a.ends == b.ends)
    }

    /// Marks triangles with the same corners as an earlier one: they share their sides and opposite
    /// corners.
    fn triangles_again(&self, triangles: usize) -> Vec<bool> {
        let mut again = vec![false; triangles];
        for sides in self.of_edges() {
            for pair in sides.windows(2) {
                if pair[0].opposite == pair[1].opposite {
                    again[pair[1].triangle as usize] = true;
                }
            }
        }
        again
    }

    /// Marks points on the boundary of the surface.
    fn at_open_edges(&self, points: usize) -> Vec<bool> {
        let mut open = vec![false; points];
        for sides in self.of_edges().filter(|sides| sides.len() == 1) {
            for end in sides[0].ends {
                open[end as usize] = true;
            }
        }
        open
    }

    /// Marks triangles that already face outwards. Triangles agree with their neighbours across
    /// manifold edges; each patch of agreeing triangles encloses a positive volume, measured from
    /// its own middle.
    fn outward(&self, points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<bool> {
        let mut neighbours = vec![[u32::MAX; 3]; triangles.len()];
        let mut agrees = vec![[true; 3]; triangles.len()];
        let mut add = |triangle: u32, other: u32, agree: bool| {
            let row = &mut neighbours[triangle as usize];
            if let Some(slot) = row.iter().position(|&known| known == u32::MAX) {
                row[slot] = other;
                agrees[triangle as usize][slot] = agree;
            }
        };
        for sides in self.of_edges() {
            if let [a, b] = sides {
                let agree = a.upwards != b.upwards;
                add(a.triangle, b.triangle, agree);
                add(b.triangle, a.triangle, agree);
            }
        }
        let mut facing: Vec<Option<bool>> = vec![None; triangles.len()];
        let mut patch = Vec::new();
        for seed in 0..triangles.len() {
            if facing[seed].is_some() {
                continue;
            }
            facing[seed] = Some(true);
            patch.clear();
            patch.push(seed);
            let mut next = 0;
            while next < patch.len() {
                let triangle = patch[next];
                next += 1;
                for (&other, &agree) in neighbours[triangle].iter().zip(&agrees[triangle]) {
                    if other != u32::MAX && facing[other as usize].is_none() {
                        facing[other as usize] = facing[triangle].map(|facing| facing == agree);
                        patch.push(other as usize);
                    }
                }
            }
            let mut middle = (DVec3::ZERO, 0.0);
            for &triangle in &patch {
                let corners = &triangles[triangle];
                let area = across(points, corners).length();
                let sum: DVec3 = corners.iter().map(|&corner| points[corner as usize]).sum();
                middle = (middle.0 + sum * area, middle.1 + 3.0 * area);
            }
            let middle = middle.0 / middle.1;
            let volume: f64 = patch
                .iter()
                .map(|&triangle| {
                    let corners = &triangles[triangle];
                    let height = points[corners[0] as usize] - middle;
                    let volume = height.dot(across(points, corners));
                    if facing[triangle] == Some(true) {
                        volume
                    } else {
                        -volume
                    }
                })
                .sum();
            if volume < 0.0 {
                for &triangle in &patch {
                    facing[triangle] = facing[triangle].map(|facing| !facing);
                }
            }
        }
        facing
            .into_iter()
            .map(|facing| facing != Some(false))
            .collect()
    }

    /// The edges with their weights, from the sides as they are sorted already.
    fn edges(&self, points: &[DVec3]) -> Vec<Edge> {
        let policy = CotangentPolicy::CONNECTED;
        let edge = |sides: &[Side]| {
            let ends = sides[0].ends;
            let [a, b] = ends.map(|end| points[end as usize]);
            let cotangents = sides.iter();
            let cotangents =
                cotangents.map(|side| policy.cotangent(points[side.opposite as usize], a, b));
            Edge {
                ends,
                weight: policy.weight(cotangents),
            }
        };
        self.of_edges().map(edge).collect()
    }

    fn pieces(&self, points: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<Piece>, Vec<u32>) {
        let mut sets = DisjointSets::new(points.len());
        for corners in triangles {
            sets.join(corners[0] as usize, corners[1] as usize);
            sets.join(corners[0] as usize, corners[2] as usize);
        }
        let mut number = vec![u32::MAX; points.len()];
        let mut pieces: Vec<Piece> = Vec::new();
        let mut piece_of = Vec::with_capacity(points.len());
        for (point, &place) in points.iter().enumerate() {
            let first = sets.find(point);
            if number[first] == u32::MAX {
                number[first] = pieces.len() as u32;
                pieces.push(Piece {
                    points: Vec::new(),
                    closed: true,
                    low: place,
                    high: place,
                });
            }
            let piece = &mut pieces[number[first] as usize];
            piece.points.push(point as u32);
            piece.low = piece.low.min(place);
            piece.high = piece.high.max(place);
            piece_of.push(number[first]);
        }
        for sides in self.of_edges().filter(|sides| sides.len() == 1) {
            pieces[piece_of[sides[0].ends[0] as usize] as usize].closed = false;
        }
        for piece in &mut pieces {
            piece.closed &= piece.points.len() > 1;
        }
        (pieces, piece_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, Character};
    use glam::Vec3;

    fn figure() -> Mesh {
        characters::build(Character::Figure, 2000)
            .unwrap()
            .rig
            .mesh()
            .clone()
    }

    fn with_triangles(mesh: &Mesh, triangles: Vec<[u32; 3]>) -> OrientedSurface {
        OrientedSurface::of(&Mesh::new(mesh.positions().to_vec(), None, None, triangles).unwrap())
    }

    #[test]
    fn a_body_faces_outwards_however_its_triangles_are_turned_and_doubled() {
        let mesh = figure();
        let right = OrientedSurface::of(&mesh);
        assert!(right.pieces.iter().all(|piece| piece.closed));
        let turned = mesh
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();
        let turned = with_triangles(&mesh, turned);
        let every_third = mesh.triangles().iter().enumerate().map(|(at, &[a, b, c])| {
            if at % 3 == 0 { [b, a, c] } else { [a, b, c] }
        });
        let mixed = with_triangles(&mesh, every_third.collect());
        let twice = [mesh.triangles(), mesh.triangles()].concat();
        let twice = with_triangles(&mesh, twice);
        for shape in [turned, mixed, twice] {
            assert_eq!(shape.triangles.len(), right.triangles.len());
            for (normal, expected) in shape.normals.iter().zip(&right.normals) {
                assert!(normal.distance(*expected) < 1e-12);
            }
        }
        let head = DVec3::new(0.0, 1.6, 0.0);
        assert!(
            right.is_inside(right.to_unit(head)) && !right.is_inside(right.to_unit(head * 2.0))
        );
    }

    #[test]
    fn points_without_triangles_are_pieces_of_their_own() {
        let mesh = Mesh::new(vec![Vec3::X, Vec3::Y, Vec3::Y], None, None, vec![[0, 1, 2]]).unwrap();
        let shape = OrientedSurface::of(&mesh);
        assert_eq!((shape.triangles.len(), shape.pieces.len()), (0, 2));
        assert!(shape.pieces.iter().all(|piece| !piece.closed));
        let empty = OrientedSurface::of(&Mesh::new(vec![], None, None, vec![]).unwrap());
        assert!(empty.pieces.is_empty() && !empty.is_inside(DVec3::ZERO));
    }

    #[test]
    fn seams_that_rounding_has_torn_open_are_closed() {
        let mesh = figure();
        let whole = OrientedSurface::of(&mesh);
        // Every triangle has its own corners, slightly different from those of its neighbours.
        let corners = mesh.triangles().iter().flatten().enumerate();
        let extent = mesh
            .bounds()
            .map_or(1.0, |bounds| bounds.max.distance(bounds.min));
        let torn = corners.map(|(at, &corner)| {
            let shift = Vec3::new((at % 7) as f32, (at % 5) as f32, (at % 3) as f32) - 2.0;
            mesh.positions()[corner as usize] + shift * (3e-7 * extent)
        });
        let torn: Vec<Vec3> = torn.collect();
        let triangles = (0..mesh.triangles().len() as u32).map(|at| [0, 1, 2].map(|c| 3 * at + c));
        let mended =
            OrientedSurface::of(&Mesh::new(torn, None, None, triangles.collect()).unwrap());
        assert_eq!(mended.points.len(), whole.points.len());
        assert_eq!(mended.pieces.len(), whole.pieces.len());
        assert!(mended.pieces.iter().all(|piece| piece.closed));
    }
}
