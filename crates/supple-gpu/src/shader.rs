//! The shaders, assembled from their parts.

use crate::format::{Format, Width, vertex_words};
use supple::deform::{Antipodality, Kernel, StreamLayout};

/// The number of vertices in a slice, whose words are interleaved: one workgroup.
pub const LANES: usize = 64;

const FRAME: &str = include_str!("../shaders/frame.wgsl");
const DATA: &str = include_str!("../shaders/data.wgsl");
const BLEND: &str = include_str!("../shaders/blend.wgsl");
const QUATERNION: &str = include_str!("../shaders/quaternion.wgsl");
const DUAL_QUATERNIONS: &str = include_str!("../shaders/dual_quaternions.wgsl");
const ROTATIONS: &str = include_str!("../shaders/rotations.wgsl");
const MOTIONS: &str = include_str!("../shaders/motions.wgsl");
const PATCHES: &str = include_str!("../shaders/patches.wgsl");
const NEAREST_ROTATION: &str = include_str!("../shaders/nearest_rotation.wgsl");
const POINTS: &str = include_str!("../shaders/points.wgsl");
const FIELDS: &str = include_str!("../shaders/fields.wgsl");
const REST: &str = include_str!("../shaders/rest.wgsl");
const POSED: &str = include_str!("../shaders/posed.wgsl");
const COMPUTE: &str = include_str!("../shaders/compute.wgsl");
const VERTEX: &str = include_str!("../shaders/vertex.wgsl");

/// The stage of a pipeline that deforms vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A compute pass with the entry point `deform`, which writes surfaces into buffers, for
    /// renderers that read them more than once.
    Compute,
    /// A vertex shader with the entry point `draw`, which draws surfaces directly.
    Vertex,
}

impl Stage {
    /// Both stages.
    pub const ALL: [Stage; 2] = [Stage::Compute, Stage::Vertex];
}

/// The parts that compute the frame of a kernel, in order; the last one is its own.
fn parts(kernel: Kernel) -> Option<&'static [&'static str]> {
    Some(match kernel {
        Kernel::Linear => &[BLEND, include_str!("../shaders/linear.wgsl")],
        Kernel::AnimationSpace => &[include_str!("../shaders/animation_space.wgsl")],
        Kernel::DualQuaternion => &[
            QUATERNION,
            DUAL_QUATERNIONS,
            include_str!("../shaders/dual_quaternion.wgsl"),
        ],
        Kernel::LinearDualBlend => &[
            BLEND,
            QUATERNION,
            DUAL_QUATERNIONS,
            include_str!("../shaders/linear_dual_blend.wgsl"),
        ],
        Kernel::CentersOfRotation => &[
            QUATERNION,
            MOTIONS,
            include_str!("../shaders/centers_of_rotation.wgsl"),
        ],
        Kernel::MushNearest => &[
            QUATERNION,
            NEAREST_ROTATION,
            PATCHES,
            include_str!("../shaders/direct_delta_mush_v0.wgsl"),
        ],
        Kernel::MushCofactors => &[
            QUATERNION,
            NEAREST_ROTATION,
            PATCHES,
            include_str!("../shaders/direct_delta_mush_v1.wgsl"),
        ],
        Kernel::MushQuaternions => &[
            QUATERNION,
            ROTATIONS,
            PATCHES,
            include_str!("../shaders/direct_delta_mush_v2.wgsl"),
        ],
        Kernel::MushMatrices => &[
            PATCHES,
            include_str!("../shaders/direct_delta_mush_v3.wgsl"),
        ],
        Kernel::MushCenters => &[
            QUATERNION,
            ROTATIONS,
            PATCHES,
            include_str!("../shaders/direct_delta_mush_v4.wgsl"),
        ],
        Kernel::Spherical => &[
            QUATERNION,
            MOTIONS,
            include_str!("../shaders/spherical.wgsl"),
        ],
        Kernel::SwingTwist => &[
            BLEND,
            QUATERNION,
            include_str!("../shaders/swing_twist.wgsl"),
        ],
        Kernel::StretchTwist => &[QUATERNION, include_str!("../shaders/stretch_twist.wgsl")],
        Kernel::DeltaMush => &[POINTS, include_str!("../shaders/delta_mush.wgsl")],
        _ => return None,
    })
}

/// The WGSL text of a shader that deforms surfaces, with an entry point for a stage. None if the
/// method has no shader.
///
/// If the kernel has [`passes`], they go before it.
pub fn shader(layout: &StreamLayout, format: Format, stage: Stage) -> Option<String> {
    let calling = match stage {
        Stage::Compute => &[COMPUTE][..],
        Stage::Vertex => &[POSED, VERTEX][..],
    };
    with_frames(layout, format, calling)
}

/// The WGSL text of functions for your own vertex shader, without an entry point. None if the
/// method has no shader.
///
/// `posed_vertex(index, instance)` gives the position, the normal and the tangent of a vertex. It
/// reads only the bindings of group 0 ([`crate::GpuSkin::inputs`]). If the kernel has [`passes`],
/// they go before it ([`crate::GpuSkin::prepare`]).
pub fn vertex_functions(layout: &StreamLayout, format: Format) -> Option<String> {
    with_frames(layout, format, &[POSED])
}

/// The text of the frame of a vertex, of the rest surface, and of their caller.
fn with_frames(layout: &StreamLayout, format: Format, calling: &[&str]) -> Option<String> {
    let kernel = parts(layout.kernel)?;
    let parts = [&[FRAME, DATA], kernel, &[REST], calling].concat();
    Some(joined(layout, format, &parts))
}

/// A pass over the whole surface before vertices are deformed, as delta mush needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pass {
    /// Moves the points of the surface with the joints; once.
    BlendPoints,
    /// Adds one term of the series that smooth them; once for each term of each series.
    SmoothPoints,
}

impl Pass {
    /// The name of its entry point.
    pub fn entry_point(self) -> &'static str {
        match self {
            Pass::BlendPoints => "blend_points",
            Pass::SmoothPoints => "smooth_points",
        }
    }

    /// The WGSL text of its shader.
    pub fn shader(self, layout: &StreamLayout, format: Format) -> String {
        let own = match self {
            Pass::BlendPoints => include_str!("../shaders/blend_points.wgsl"),
            Pass::SmoothPoints => include_str!("../shaders/smooth_points.wgsl"),
        };
        joined(layout, format, &[FRAME, DATA, POINTS, FIELDS, own])
    }
}

/// The passes that go before the shader of a kernel, in order; most kernels have none.
pub fn passes(kernel: Kernel) -> &'static [Pass] {
    match kernel {
        Kernel::DeltaMush => &[Pass::BlendPoints, Pass::SmoothPoints],
        _ => &[],
    }
}

/// The text of a shader from its parts, after the constants that they use.
fn joined(layout: &StreamLayout, format: Format, parts: &[&str]) -> String {
    let StreamLayout {
        per_vertex,
        per_influence,
        per_joint,
        ..
    } = layout;
    let per_vertex_sign = layout.antipodality == Antipodality::PerVertex;
    let Format {
        normals, tangents, ..
    } = format;
    let vertex_words = vertex_words(layout);
    let words = format.influence_words(layout);
    let first_influences = format.first_influences(layout);
    let rest = format.rest_words();
    let short_weights = format.has_short_weights(layout.kernel);
    let short_numbers = format.numbers == Width::Short;
    let short_rest = format.rest == Width::Short;
    let mut text = format!(
        "\
const LANES = {LANES}u;
const VERTEX_NUMBERS = {per_vertex}u;
const VERTEX_WORDS = {vertex_words}u;
const INFLUENCE_NUMBERS = {per_influence}u;
const INFLUENCE_WORDS = {words}u;
const FIRST_INFLUENCES = {first_influences}u;
const JOINT_VECTORS = {per_joint}u;
const SIGNS_PER_VERTEX = {per_vertex_sign};
const SHORT_WEIGHTS = {short_weights};
const SHORT_NUMBERS = {short_numbers};
const SHORT_REST = {short_rest};
const REST_WORDS = {rest}u;
const WITH_NORMALS = {normals};
const WITH_TANGENTS = {tangents};
"
    );
    for part in parts {
        text.push('\n');
        text.push_str(part);
    }
    text
}
