//! What a picture shows.

use glam::Vec3;

/// Everything in a picture.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// The surfaces, lit and shadowed.
    pub surfaces: Vec<Surface<'a>>,
    /// Bones drawn over the surfaces, which pale a little so that the bones stand out.
    pub bones: Vec<Bone>,
    /// Dots and lines drawn over surfaces and bones, the last over all others.
    pub marks: Vec<Marks>,
    /// Whether the edges of triangles show.
    pub wireframe: Wireframe,
    /// Whether surfaces hide what is behind them.
    pub substance: Substance,
    /// The height of a ground that catches the shadow; give all frames of a clip the same.
    pub ground: Option<f32>,
}

/// A triangle surface to draw; both sides show.
///
/// Normals or colours that are too few, and triangles that name no vertex, are passed over.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
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

/// A bone to draw over the surfaces. One without length is a round knob.
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

/// Strokes of one size and colour, seen through everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// From where to where in the world; to the same place for a dot.
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

/// What surfaces are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substance {
    /// Clay, which hides what is behind it.
    #[default]
    Clay,
    /// Glass: faint where it faces the viewer, plain along its outlines.
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
