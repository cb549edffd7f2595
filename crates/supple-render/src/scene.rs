//! Scenes: surfaces, bones and marks to draw.

use glam::Vec3;

/// Everything in a picture.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// The surfaces, lit and shadowed.
    pub surfaces: Vec<DrawnSurface<'a>>,
    /// Bones drawn over the surfaces, which are paled a little.
    pub bones: Vec<Bone>,
    /// Dots and lines drawn over surfaces and bones, the last over all others.
    pub marks: Vec<Marks>,
    /// Whether the edges of triangles are drawn.
    pub wireframe: Wireframe,
    /// Whether surfaces are opaque.
    pub substance: Substance,
    /// The height of a ground that catches the shadow; give all frames of a clip the same.
    pub ground: Option<f32>,
}

/// A triangle surface to draw; both sides show.
///
/// Missing normals are those of facets, missing colours repeat the last one, and triangles with an
/// index out of range are skipped.
#[derive(Clone, Copy, Debug)]
pub struct DrawnSurface<'a> {
    /// Points in the world.
    pub positions: &'a [Vec3],
    /// One per position, of any length; empty for flat facets.
    pub normals: &'a [Vec3],
    /// Corner indices; the winding does not matter.
    pub triangles: &'a [[u32; 3]],
    /// The colour of the material.
    pub paint: Paint<'a>,
}

/// The colour of a surface, linear red, green and blue from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub enum Paint<'a> {
    /// The same everywhere.
    Uniform(Vec3),
    /// One per vertex, blended in between.
    PerVertex(&'a [Vec3]),
}

/// The colour of surfaces that have none of their own.
pub(crate) const CLAY: Vec3 = Vec3::new(0.58, 0.525, 0.475);

impl Paint<'_> {
    /// The colour for surfaces that have none: a light clay.
    pub const CLAY: Paint<'static> = Paint::Uniform(CLAY);
}

/// A bone to draw over the surfaces; a round knob if it has no length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The joint that moves it, its thick end.
    pub from: Vec3,
    /// Its thin end.
    pub to: Vec3,
    /// Half its thickness, in the units of the world.
    pub radius: f32,
    /// Linear red, green and blue.
    pub color: Vec3,
}

/// Dots and lines of one size and colour, drawn over all surfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The ends of each line in the world; equal for a dot.
    pub strokes: Vec<[Vec3; 2]>,
    /// Half the thickness, as a share of the picture's shorter side.
    pub radius: f32,
    /// Linear red, green and blue.
    pub color: Vec3,
}

impl Marks {
    /// A dot at every place.
    pub fn dots(places: impl IntoIterator<Item = Vec3>, radius: f32, color: Vec3) -> Marks {
        Marks {
            strokes: places.into_iter().map(|place| [place; 2]).collect(),
            radius,
            color,
        }
    }
}

/// The material of surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substance {
    /// Clay, which hides what is behind it.
    #[default]
    Clay,
    /// Glass: faint where it faces the viewer, opaque along its outlines.
    Glass,
}

/// Whether the edges of triangles are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wireframe {
    /// Only the shaded surface.
    #[default]
    Hidden,
    /// Thin dark lines along visible edges, fainter where they crowd.
    Shown,
}
