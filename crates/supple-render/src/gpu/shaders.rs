//! The shaders of pictures, put together; numbers that both ways share are written into them.

use crate::fragment::WIRE_HALF_WIDTH;
use crate::light::{
    BLOCK, BLOCKS, BLUR, GROUND_LIFT, MAP_SIZE, MAX_BLUR, MIN_BLUR, SEARCH, SURFACE_LIFT,
};
use crate::raster::NEAR;
use crate::render::{
    BACKDROP_MIDDLE, BACKDROP_REACH, SHADOW_FADES_FROM, SHADOW_GONE_AT, SHADOW_STRENGTH,
};
use crate::shade::{
    GLASS_DARK, GLASS_EDGE, GLASS_FACING, GLASS_OUTLINE, INK, INK_STRENGTH, SHOULDER,
};

const VIEW: &str = include_str!("../../shaders/view.wgsl");
const LIGHT: &str = include_str!("../../shaders/light.wgsl");

/// Vertices that are where they are.
pub(super) const PLAIN: &str = include_str!("../../shaders/plain.wgsl");

/// Surfaces whose vertices come from `posed_vertex` of another text: entry points `draw_surface`
/// and `shade`.
pub(super) fn surface(vertices: &str) -> String {
    let surface = include_str!("../../shaders/surface.wgsl");
    [&constants(), vertices, VIEW, LIGHT, surface].join("\n")
}

/// The shader of such a surface for the maps of lamps: `draw_map`.
pub(super) fn lamp_map(vertices: &str) -> String {
    let lamp_map = include_str!("../../shaders/lamp_map.wgsl");
    [&constants(), vertices, VIEW, lamp_map].join("\n")
}

/// The highest of each block of lamp maps: `in_blocks`, then `around_blocks`.
pub(super) fn highest() -> String {
    let highest = include_str!("../../shaders/highest.wgsl");
    [&constants(), highest].join("\n")
}

/// The shader of the backdrop behind the surfaces: `cover` and `fill`.
pub(super) fn backdrop() -> String {
    let backdrop = include_str!("../../shaders/backdrop.wgsl");
    [&constants(), VIEW, LIGHT, backdrop].join("\n")
}

fn constants() -> String {
    let whole = [
        ("MAP_SIZE", MAP_SIZE),
        ("BLOCK", BLOCK),
        ("BLOCKS", BLOCKS),
        ("SEARCH_TAPS", SEARCH.len()),
        ("BLUR_TAPS", BLUR.len()),
    ];
    let real = [
        ("MIN_BLUR", MIN_BLUR),
        ("MAX_BLUR", MAX_BLUR),
        ("SURFACE_LIFT", SURFACE_LIFT),
        ("GROUND_LIFT", GROUND_LIFT),
        ("NEAR", NEAR),
        ("WIRE_HALF_WIDTH", WIRE_HALF_WIDTH),
        ("SHOULDER", SHOULDER),
        ("INK_STRENGTH", INK_STRENGTH),
        ("GLASS_FACING", GLASS_FACING),
        ("GLASS_EDGE", GLASS_EDGE),
        ("GLASS_DARK", GLASS_DARK),
        ("GLASS_OUTLINE", GLASS_OUTLINE),
        ("SHADOW_FADES_FROM", SHADOW_FADES_FROM),
        ("SHADOW_GONE_AT", SHADOW_GONE_AT),
        ("SHADOW_STRENGTH", SHADOW_STRENGTH),
        ("BACKDROP_REACH", BACKDROP_REACH),
    ];
    let taps = |taps: &[[f32; 2]]| {
        let vectors: Vec<_> = taps
            .iter()
            .map(|[x, y]| format!("vec2<f32>({x:?}, {y:?})"))
            .collect();
        format!("array({})", vectors.join(", "))
    };
    let whole = whole.map(|(name, value)| format!("const {name} = {value}u;\n"));
    let real = real.map(|(name, value)| format!("const {name} = f32({value:?});\n"));
    let [red, green, blue] = INK.to_array();
    let [x, y] = BACKDROP_MIDDLE.to_array();
    [
        whole.concat(),
        real.concat(),
        format!("const INK = vec3<f32>({red:?}, {green:?}, {blue:?});\n"),
        format!("const BACKDROP_MIDDLE = vec2<f32>({x:?}, {y:?});\n"),
        format!("const search = {};\n", taps(&SEARCH)),
        format!("const blur = {};\n", taps(&BLUR)),
    ]
    .concat()
}
