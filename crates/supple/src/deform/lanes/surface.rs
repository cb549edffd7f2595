//! The rest surface in the layout of the vertex loop.

use super::packing::{BLOCK, Group, Packing};
use super::{LANES, Lane};
use crate::mesh::Shape;

/// The rest surface in groups of vertices.
#[derive(Clone, Debug)]
pub(in crate::deform) struct LaneSurface {
    positions: Vec<[Lane; 3]>,
    normals: Vec<[Lane; 3]>,
    tangents: Option<Vec<[Lane; 4]>>,
}

impl LaneSurface {
    pub(in crate::deform) fn of(packing: &Packing, shape: &Shape<'_>) -> LaneSurface {
        let groups = || packing.all_groups();
        LaneSurface {
            positions: groups().map(|group| positions(shape, &group)).collect(),
            normals: groups().map(|group| normals(shape, &group)).collect(),
            tangents: shape
                .tangents
                .map(|all| groups().map(|group| tangents(all, &group)).collect()),
        }
    }
}

/// A rest surface: the skin's own, or another shape of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::deform) enum RestSurface<'a> {
    Own(&'a LaneSurface),
    Other(Shape<'a>),
}

/// The rest surface of a block, group by group.
#[derive(Clone, Copy, Debug)]
pub(in crate::deform) struct RestBlock<'a> {
    pub(in crate::deform) positions: &'a [[Lane; 3]],
    pub(in crate::deform) normals: &'a [[Lane; 3]],
    pub(in crate::deform) tangents: &'a [[Lane; 4]],
}

impl RestSurface<'_> {
    /// Provides the rest surface of a block in lanes.
    #[inline]
    pub(in crate::deform) fn with_block(
        &self,
        packing: &Packing,
        block: usize,
        run: impl FnOnce(RestBlock<'_>),
    ) {
        let range = packing.group_range(block);
        match self {
            RestSurface::Own(surface) => run(RestBlock {
                positions: &surface.positions[range.clone()],
                normals: &surface.normals[range.clone()],
                tangents: match &surface.tangents {
                    Some(tangents) => &tangents[range],
                    None => &[],
                },
            }),
            RestSurface::Other(shape) => {
                let mut all = ([[[0.0; LANES]; 3]; GROUPS], [[[0.0; LANES]; 3]; GROUPS]);
                let mut all_tangents = [[[0.0; LANES]; 4]; GROUPS];
                for (at, group) in packing.groups(block).enumerate() {
                    all.0[at] = positions(shape, &group);
                    all.1[at] = normals(shape, &group);
                    if let Some(given) = shape.tangents {
                        all_tangents[at] = tangents(given, &group);
                    }
                }
                run(RestBlock {
                    positions: &all.0[..range.len()],
                    normals: &all.1[..range.len()],
                    tangents: &all_tangents[..range.len()],
                });
            }
        }
    }
}

/// The largest number of groups of a block.
const GROUPS: usize = BLOCK / LANES;

fn positions(shape: &Shape<'_>, group: &Group<'_>) -> [Lane; 3] {
    group.lanes(|vertex| shape.positions[vertex].to_array())
}

fn normals(shape: &Shape<'_>, group: &Group<'_>) -> [Lane; 3] {
    group.lanes(|vertex| shape.normals[vertex].to_array())
}

fn tangents(all: &[glam::Vec4], group: &Group<'_>) -> [Lane; 4] {
    group.lanes(|vertex| all[vertex].to_array())
}
