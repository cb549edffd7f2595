//! Models of several pieces: close points of different pieces that are bound to the same joint become neighbours (Fig. 6), so that smoothing does not stop between them.

use super::{MushError, MushOptions, MushSurface};
use crate::laplacian::Edges;
use crate::rig::Rig;
use glam::DVec3;
use std::collections::BTreeMap;

/// What was connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// How many pieces the surface has.
    pub pieces: usize,
    /// How many are left once close ones are connected.
    pub pieces_left: usize,
    /// How many pairs of points were made neighbours.
    pub links: usize,
}

impl Connections {
    /// What delta mush and a bake connect in a character.
    ///
    /// # Errors
    ///
    /// If an option or a painted number is out of its range.
    pub fn of(rig: &Rig, options: &MushOptions) -> Result<Connections, MushError> {
        Ok(MushSurface::of(rig, options)?.connections)
    }
}

/// Makes neighbours of each point and the nearest one of another piece that has the same heaviest joint, if that is no farther than the point's own neighbours are.
pub(super) fn connect(edges: &mut Edges, heaviest: impl Fn(usize) -> u16) -> Connections {
    let pieces = edges.pieces();
    let reach = edges.mean_lengths();
    // Points without any edge are of no surface.
    let on_surface = || (0..reach.len()).filter(|&point| reach[point] > 0.0);
    let count = |pieces: &[u32]| {
        let first = |&point: &usize| pieces[point] as usize == point;
        on_surface().filter(first).count()
    };
    let mut connections = Connections {
        pieces: count(&pieces),
        pieces_left: count(&pieces),
        links: 0,
    };
    let mut of_joint: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    for point in on_surface() {
        let points = of_joint.entry(heaviest(point)).or_default();
        points.push(point as u32);
    }
    let mut links = Vec::new();
    for points in of_joint.values_mut() {
        link_nearest(edges.points(), &pieces, &reach, points, &mut links);
    }
    links.sort_unstable();
    links.dedup();
    edges.link(&links);
    connections.links = links.len();
    connections.pieces_left = count(&edges.pieces());
    connections
}

/// Links each of some points to the nearest one of another piece within its reach. Sorted along the axis on which they spread most, only a window has to be searched.
fn link_nearest(
    places: &[DVec3],
    pieces: &[u32],
    reach: &[f64],
    points: &mut [u32],
    links: &mut Vec<(u32, u32)>,
) {
    let place = |point: u32| places[point as usize];
    let all = || points.iter().map(|&point| place(point));
    let low = all().fold(DVec3::INFINITY, DVec3::min);
    let high = all().fold(DVec3::NEG_INFINITY, DVec3::max);
    let axis = (high - low).max_position();
    let at = |point: u32| place(point)[axis];
    points.sort_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    for (index, &point) in points.iter().enumerate() {
        let mut nearest = None;
        let mut closest = reach[point as usize];
        let mut consider = |&other: &u32| {
            if (at(other) - at(point)).abs() > closest {
                return false;
            }
            let distance = place(point).distance(place(other));
            let apart = pieces[other as usize] != pieces[point as usize];
            let first = nearest.is_none_or(|nearest| other < nearest);
            let nearer = distance < closest || (distance == closest && first);
            if apart && nearer {
                (nearest, closest) = (Some(other), distance);
            }
            true
        };
        let _ = points[index + 1..].iter().all(&mut consider);
        let _ = points[..index].iter().rev().all(&mut consider);
        links.extend(nearest.map(|other| (point.min(other), point.max(other))));
    }
}
