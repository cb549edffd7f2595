//! Point handles: points inside a character that pose it instead of bones.
//!
//! Luo, Veltkamp and Egges, "As-Rigid-As-Possible Character Deformation Using Point Handles"
//! (`arap-point-handles.txt`). [`place_handles`] implements §3.3: the thickness of the body
//! ([`ShapeDiameter`]), parts of equal thickness ([`Segments`]), a handle between neighbouring
//! parts, and pseudo-edges between handles (§3.2). [`PlacedHandles::bind`] computes their weights.

mod diameter;
mod ends;
mod facets;
mod handle;
mod mirror;
mod placement;
mod room;
mod segments;
mod tree;

pub use diameter::ShapeDiameter;
pub use handle::HandleKind;
pub use segments::Segments;

use crate::bind::geodesic::InsideDistances;
use crate::bind::oriented_surface::OrientedSurface;
use crate::bind::{BindError, BindMethod, Bound, Handle, bind};
use crate::mesh::Mesh;
use crate::option_error::{OptionError, check_option};
use crate::symmetry::{MirrorPlane, Symmetry};
use crate::words::measure;
use facets::Facets;
use glam::DVec3;
use handle::PlacedHandle;
use mirror::Mirror;
use placement::{Body, pieces_with_handles};
use room::Room;
use segments::FacetSegments;
use thiserror::Error;
use tree::Node;

/// Options of handle placement.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct HandleOptions {
    /// True to place handles automatically, in addition to the given ones.
    pub automatic: bool,
    /// Positions of given handles in the model's coordinates; they come first.
    pub given: Vec<DVec3>,
    /// The number of clusters of thickness; `None` chooses it.
    pub clusters: Option<usize>,
    /// The total number of handles; `None` keeps all that are found.
    pub count: Option<usize>,
    /// True to place handles at the ends of limbs, without which hands, feet and heads cannot be
    /// moved.
    pub ends: bool,
    /// Pseudo-edges by handle indices; `None` builds a tree.
    pub edges: Option<Vec<[usize; 2]>>,
}

impl Default for HandleOptions {
    fn default() -> HandleOptions {
        HandleOptions {
            automatic: true,
            given: Vec::new(),
            clusters: None,
            count: None,
            ends: true,
            edges: None,
        }
    }
}

/// Error from placing handles.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum HandleError {
    /// No handle is given, and none is to be placed.
    #[error("there are no handles: none are given, and automatic placement is off")]
    NoHandles,
    /// The mesh has no triangle of positive area.
    #[error("the mesh has no surface to place handles in")]
    NoSurface,
    /// A position is not finite.
    #[error("the position of handle {0} is not finite")]
    NotFinite(usize),
    /// A handle is outside of the body.
    #[error(
        "handle {handle} at {}, {}, {} is outside of the body, {} away from its surface",
        place.x, place.y, place.z, measure(*distance)
    )]
    Outside {
        /// The index among the given handles.
        handle: usize,
        /// Its position.
        place: DVec3,
        /// The distance to the surface.
        distance: f64,
    },
    /// A handle is off a surface without an inside.
    #[error(
        "handle {handle} at {}, {}, {} is off the surface, {} away from it, and the surface has no \
         inside",
        place.x, place.y, place.z, measure(*distance)
    )]
    OffSheet {
        /// The index among the given handles.
        handle: usize,
        /// Its position.
        place: DVec3,
        /// The distance to the surface.
        distance: f64,
    },
    /// Two handles are at the same position, or so close that each would have to hold everything
    /// that the other holds.
    #[error(
        "handles {first} and {second} are at the same position: {} apart in a body of {}",
        measure(*distance), measure(*extent)
    )]
    SamePlace {
        /// The first handle.
        first: usize,
        /// The second handle.
        second: usize,
        /// Their distance.
        distance: f64,
        /// The size of the body.
        extent: f64,
    },
    /// A pseudo-edge names a handle that does not exist.
    #[error("an edge names handle {handle}, but there are {count} handles")]
    NoSuchHandle {
        /// The index it names.
        handle: usize,
        /// The number of handles.
        count: usize,
    },
    /// A pseudo-edge connects a handle to itself.
    #[error("an edge connects handle {0} to itself")]
    EdgeToItself(usize),
    /// A handle has no pseudo-edge that would define its rotation.
    #[error("handle {0} has no edge, so its rotation is undefined")]
    Isolated(usize),
    /// More handles are given than requested in total.
    #[error("the number of handles is {count}, but {given} are given already")]
    FewerThanGiven {
        /// The requested number.
        count: usize,
        /// The number of given handles.
        given: usize,
    },
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
}

/// Handles placed in a body.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PlacedHandles {
    /// The position of each handle, in the model's coordinates.
    pub places: Vec<DVec3>,
    /// The reason for each handle.
    pub kinds: Vec<HandleKind>,
    /// Pseudo-edges, the lower handle first.
    pub edges: Vec<[usize; 2]>,
    /// The parts of equal thickness.
    pub segments: Segments,
    /// Details of the placement.
    pub report: HandleReport,
}

/// Report of a placement.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HandleReport {
    /// The number of connected pieces of the surface.
    pub pieces: usize,
    /// The number of pieces too small for handles of their own.
    pub small_pieces: usize,
    /// True if no part of the surface has an inside, so that handles lie on it.
    pub sheet: bool,
    /// The number of handles that had to be moved into the body.
    pub moved_inside: usize,
    /// The number of handles that were dropped because no position near them is in the body.
    pub left_out: usize,
    /// The number of requested handles that did not fit.
    pub missing: usize,
    /// Edges without a path inside the body between their handles: the body has several parts.
    pub across: Vec<[usize; 2]>,
}

/// The number of voxels for distances inside the body.
const VOXELS: usize = 20_000;

/// Handles within this distance are at the same position, at an extent of one: weights cannot
/// distinguish them, and the rotation defined by such a short edge is noise.
const SAME_PLACE: f64 = 1e-3;

/// The smallest distance between placed handles of a limb, relative to its thickness.
const SAME_PLACE_IN_LIMB: f64 = 0.1;

/// The smallest thickness, at an extent of one: thinner parts (eyelids, cloth, plates) are not
/// limbs.
const THIN: f64 = 0.006;

/// The largest number of handles along long parts, unless a number is requested.
const MOST_ALONG: usize = 64;

/// The largest number that can be requested.
const MOST: usize = 1000;

/// Places handles in a body.
///
/// # Errors
///
/// Fails if the mesh has no surface, there is no handle to place, or a given one is not finite or
/// outside of the body.
pub fn place_handles(mesh: &Mesh, options: &HandleOptions) -> Result<PlacedHandles, HandleError> {
    options.check()?;
    let shape = OrientedSurface::of(mesh);
    let facets = Facets::of(&shape);
    if facets.len() == 0 {
        return Err(HandleError::NoSurface);
    }
    let raw = diameter::filled(&facets, diameter::raw(&shape, &facets));
    let sheet = raw.iter().all(Option::is_none);
    let thickness = Thickness::of(&shape, &facets, &raw);
    let given: Vec<DVec3> = options
        .given
        .iter()
        .map(|&place| shape.to_unit(place))
        .collect();
    let room = Room {
        shape: &shape,
        facets: &facets,
    };
    check_given(&room, options, &given, sheet)?;
    let segments = FacetSegments::of(&facets, &thickness.logarithms, options.clusters);
    let inside = InsideDistances::in_body(&shape, VOXELS);
    let body = Body {
        shape: &shape,
        facets: &facets,
        room,
        segments: &segments,
        inside: &inside,
        thickness: facets.at_points(&shape, &thickness.of_facets),
        depth: facets.at_points(&shape, &thickness.depths),
        holds: pieces_with_handles(&shape),
        mirror: Symmetry::plane_of_surface(mesh).map(|plane| {
            let point = shape.to_unit(plane.normal * plane.offset);
            Mirror {
                plane: MirrorPlane::through(point, plane.normal),
                room,
            }
        }),
    };
    let mut report = HandleReport {
        pieces: body.holds.len(),
        small_pieces: body.holds.iter().filter(|holds| !**holds).count(),
        sheet,
        ..HandleReport::default()
    };
    let mut placed: Vec<PlacedHandle> = given
        .iter()
        .map(|&place| PlacedHandle::given(place))
        .collect();
    if options.automatic {
        let found = find(&body, options, &placed, &mut report);
        placed.extend(found);
    }
    let mut tree = tree::shortest(&inside, &nodes(&body, &mut placed, given.len()));
    if options.automatic && !sheet {
        body.center(&mut placed, &tree.edges);
    }
    if let Some(mirror) = &body.mirror {
        mirror.pair(&mut placed[given.len()..]);
    }
    let outside = drop_outside(&mut placed, given.len(), &room);
    report.left_out = outside;
    if drop_coinciding(&mut placed, given.len()) || outside > 0 {
        tree = tree::shortest(&inside, &nodes(&body, &mut placed, given.len()));
    }
    let wanted = options.count.unwrap_or(0);
    report.missing = wanted.saturating_sub(placed.len());
    let places: Vec<DVec3> = placed.iter().map(|handle| handle.place).collect();
    let edges = match &options.edges {
        Some(edges) => checked_edges(edges, placed.len())?,
        None => {
            report.across = tree.across;
            tree.edges
        }
    };
    let in_model = |thickness: &f64| shape.length_from_unit(thickness.exp());
    // Given positions are returned bit for bit.
    let in_model_at = |handle: usize| {
        let given = options.given.get(handle).copied();
        given.unwrap_or_else(|| shape.out_of_unit(places[handle]))
    };
    let of_triangles = diameter::facet_of_triangles(mesh, &shape).into_iter();
    Ok(PlacedHandles {
        places: (0..places.len()).map(in_model_at).collect(),
        kinds: placed.iter().map(|handle| handle.kind).collect(),
        edges,
        segments: Segments {
            of_triangles: of_triangles
                .map(|facet| Some(segments.of_facets[facet?] as usize))
                .collect(),
            count: segments.count,
            thicknesses: segments.means.iter().map(in_model).collect(),
            clusters: segments.clusters.clone(),
        },
        report,
    })
}

impl PlacedHandles {
    /// Computes the weights of all handles, with one joint per handle in their order: point
    /// weights, which vary all the way between handles.
    ///
    /// # Errors
    ///
    /// See [`crate::bind::bind`].
    pub fn bind(
        &self,
        mesh: &Mesh,
        method: &BindMethod,
        progress: &dyn Fn(f64),
    ) -> Result<Bound, BindError> {
        let places = self.places.iter().enumerate();
        let handles: Vec<Handle> = places
            .map(|(joint, &place)| Handle::point(joint, place))
            .collect();
        bind(mesh, &handles, handles.len(), method, progress)
    }
}

impl HandleOptions {
    fn check(&self) -> Result<(), HandleError> {
        if !self.automatic && self.given.is_empty() {
            return Err(HandleError::NoHandles);
        }
        let numbers = [
            ("the number of clusters", self.clusters),
            ("the number of handles", self.count),
        ];
        for (option, value) in numbers {
            if let Some(value) = value {
                let is_allowed = (1..=MOST).contains(&value);
                check_option(is_allowed, option, value as f64, "between 1 and 1000")?;
            }
        }
        let given = self.given.len();
        match self.count {
            Some(count) if count < given => Err(HandleError::FewerThanGiven { count, given }),
            _ => Ok(()),
        }
    }
}

/// The thickness of the body at every facet, without gaps.
struct Thickness {
    /// Smoothed thickness, and its logarithms.
    of_facets: Vec<f64>,
    logarithms: Vec<f64>,
    /// The depth of the middle of the body.
    depths: Vec<f64>,
}

impl Thickness {
    fn of(shape: &OrientedSurface, facets: &Facets, raw: &[Option<f64>]) -> Thickness {
        // A sheet has no inside to measure. Its thickness is a sixth of its width, so that it has a
        // few handles on its surface.
        let mut area_of_piece = vec![0.0; shape.pieces.len()];
        for (facet, area) in facets.areas.iter().enumerate() {
            area_of_piece[shape.piece_of_triangle(facet as u32) as usize] += area;
        }
        let of_sheet = |facet: usize| {
            let area = area_of_piece[shape.piece_of_triangle(facet as u32) as usize];
            area.sqrt() / 6.0
        };
        let logarithms = raw.iter().enumerate().map(|(facet, diameter)| {
            let thickness = diameter.unwrap_or_else(|| of_sheet(facet));
            thickness.max(THIN).ln()
        });
        let logarithms = diameter::smoothed(facets, logarithms.collect());
        let of_facets: Vec<f64> = logarithms.iter().map(|logarithm| logarithm.exp()).collect();
        let depths = raw.iter().zip(&of_facets);
        let depths =
            depths.map(|(raw, thickness)| raw.map_or(0.0, |raw| 0.5 * thickness.min(2.0 * raw)));
        Thickness {
            depths: depths.collect(),
            of_facets,
            logarithms,
        }
    }
}

fn check_given(
    room: &Room,
    options: &HandleOptions,
    given: &[DVec3],
    sheet: bool,
) -> Result<(), HandleError> {
    let shape = room.shape;
    for (handle, &place) in given.iter().enumerate() {
        if !place.is_finite() {
            return Err(HandleError::NotFinite(handle));
        }
        let same = |other: &DVec3| is_same_place(*other, &PlacedHandle::given(place));
        if let Some(first) = given[..handle].iter().position(same) {
            return Err(HandleError::SamePlace {
                first,
                second: handle,
                distance: shape.length_from_unit(given[first].distance(place)),
                extent: shape.length_from_unit(1.0),
            });
        }
        if !room.may_keep(place) {
            let nearest = room.nearest_skin(place);
            let distance = nearest.map_or(f64::INFINITY, |nearest| f64::from(nearest.distance));
            let distance = shape.length_from_unit(distance);
            let place = options.given[handle];
            return Err(match sheet {
                true => HandleError::OffSheet {
                    handle,
                    place,
                    distance,
                },
                false => HandleError::Outside {
                    handle,
                    place,
                    distance,
                },
            });
        }
    }
    Ok(())
}

/// Finds positions of handles, in addition to the given ones.
fn find(
    body: &Body,
    options: &HandleOptions,
    given: &[PlacedHandle],
    report: &mut HandleReport,
) -> Vec<PlacedHandle> {
    let is_free = |found: &PlacedHandle| !found.is_taken(given);
    let between = body.between();
    let reach = between.reach();
    let mut found = between.placed;
    if options.ends {
        body.add_ends(&mut found);
    }
    found.retain(is_free);
    match (options.count, &body.mirror) {
        (Some(count), _) => body.thin_out(&mut found, count - given.len()),
        (None, Some(mirror)) => mirror.complete(&mut found),
        (None, None) => {}
    }
    found.retain(is_free);
    // Given handles hold their surroundings as placed ones do.
    let mut placed = [given, &found].concat();
    match options.count {
        Some(count) => body.add_along(&mut placed, &reach, MOST, |placed, _| placed >= count),
        None => body.add_along(&mut placed, &reach, MOST_ALONG, |placed, away| {
            placed > 0 && away <= 1.0
        }),
    }
    let mut found = placed.split_off(given.len());
    report.moved_inside = body.move_inside(&mut found);
    found.retain(is_free);
    found
}

/// Drops placed handles outside of the body, and returns their number: handles of fins and capes
/// may lie beside these and would hold nothing. Keeps one handle if all are outside.
fn drop_outside(placed: &mut Vec<PlacedHandle>, given: usize, room: &Room) -> usize {
    let before = placed.len();
    let mut kept: Vec<PlacedHandle> = placed[..given].to_vec();
    let found = placed[given..].iter();
    kept.extend(found.filter(|found| room.may_keep(found.place)));
    if kept.is_empty() {
        kept.extend(placed.first());
    }
    *placed = kept;
    before - placed.len()
}

/// True if a position coincides with a handle. Given handles have no thickness.
fn is_same_place(place: DVec3, handle: &PlacedHandle) -> bool {
    place.distance(handle.place) <= SAME_PLACE.max(SAME_PLACE_IN_LIMB * handle.thickness)
}

/// Drops all but the first of placed handles that coincide after they were moved inside, to the
/// middle of a limb or onto a plane; returns whether any was dropped. Given handles are kept.
fn drop_coinciding(placed: &mut Vec<PlacedHandle>, given: usize) -> bool {
    let before = placed.len();
    let mut kept: Vec<PlacedHandle> = Vec::with_capacity(before);
    for (handle, own) in placed.iter().enumerate() {
        let same = |other: &PlacedHandle| is_same_place(other.place, own);
        if handle < given || !kept.iter().any(same) {
            kept.push(*own);
        }
    }
    *placed = kept;
    placed.len() < before
}

/// The nodes of the tree. Placed handles are paired; given handles keep their position and belong
/// to no side.
fn nodes(body: &Body, placed: &mut [PlacedHandle], given: usize) -> Vec<Node> {
    let mut partners = vec![None; given];
    let mirror = body.mirror.as_ref();
    match mirror {
        Some(mirror) => {
            let found = mirror.pair(&mut placed[given..]).into_iter();
            partners.extend(found.map(|partner| Some(partner? + given)));
        }
        None => partners.resize(placed.len(), None),
    }
    let node = |(handle, partner): (usize, Option<usize>)| {
        let place = placed[handle].place;
        let is_middle = handle < given || partner == Some(handle);
        let mirror = mirror.filter(|_| !is_middle);
        Node {
            place,
            side: mirror.map_or(0.0, |mirror| mirror.plane.side(place)),
            image: partner.unwrap_or(handle),
        }
    };
    partners.into_iter().enumerate().map(node).collect()
}

fn checked_edges(edges: &[[usize; 2]], count: usize) -> Result<Vec<[usize; 2]>, HandleError> {
    let mut has_edge = vec![count < 2; count];
    let mut checked = Vec::with_capacity(edges.len());
    for &[a, b] in edges {
        for handle in [a, b] {
            let known = has_edge.get_mut(handle);
            *known.ok_or(HandleError::NoSuchHandle { handle, count })? = true;
        }
        if a == b {
            return Err(HandleError::EdgeToItself(a));
        }
        checked.push([a.min(b), a.max(b)]);
    }
    checked.sort_unstable();
    checked.dedup();
    match has_edge.iter().position(|has_edge| !has_edge) {
        Some(handle) => Err(HandleError::Isolated(handle)),
        None => Ok(checked),
    }
}
