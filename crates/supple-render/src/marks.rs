//! Marks over a finished picture: round dots and thin lines, near ones over far ones.

use crate::camera::Camera;
use crate::raster::NEAR;
use crate::scene::Marks;
use crate::stage::{Lens, stage_from_world};
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// No mark is thinner than twice this, in pixels.
const THINNEST: f32 = 0.7;

/// Of several strokes between the same two cells, only the nearest is drawn. Cells along one side
/// of a pixel.
const CELLS_PER_PIXEL: f32 = 2.0;

/// Marks darken from here, as a share of their radius, to their rim: so they stay apart where they
/// overlap.
const RIM_FROM: f32 = 0.45;

/// The darkness of the rim of a mark that is this much thicker than the thinnest, in pixels; thin
/// ones have no rim.
const RIM: f32 = 0.7;
const RIM_GROWS: f32 = 0.5;

/// A stroke in the picture: its distance along the view, and its ends in pixels.
type Drawn = (f32, [Vec2; 2]);

/// Draws marks over a finished picture of linear colours.
pub(crate) fn draw_over(colors: &mut [Vec3], marks: &Marks, camera: &Camera, lens: &Lens) {
    let side = lens.width.min(lens.height) as f32;
    let radius = (marks.radius * side).max(THINNEST);
    for (_, ends) in nearest_last(marks, camera, lens) {
        draw(colors, ends, radius, marks.color, lens);
    }
}

/// The strokes in the picture, the nearest last; one of all that nearly coincide.
fn nearest_last(marks: &Marks, camera: &Camera, lens: &Lens) -> Vec<Drawn> {
    let mut nearest: HashMap<[i32; 4], Drawn> = HashMap::new();
    for stroke in &marks.strokes {
        let ends = stroke.map(|end| lens.pixel_from_stage(stage_from_world(camera, end)));
        if !ends.iter().all(|end| end.is_finite() && end.z >= NEAR) {
            continue;
        }
        let distance = 0.5 * (ends[0].z + ends[1].z);
        let pixels = ends.map(|end| end.truncate() / end.z);
        let [from, to] = pixels.map(|pixel| (pixel * CELLS_PER_PIXEL).as_ivec2());
        let kept = nearest
            .entry([from.x, from.y, to.x, to.y])
            .or_insert((distance, pixels));
        if distance < kept.0 {
            *kept = (distance, pixels);
        }
    }
    // By distance, then by place: in whatever order they came, the same picture.
    let mut kept: Vec<([i32; 4], Drawn)> = nearest.into_iter().collect();
    kept.sort_unstable_by(|(a, near), (b, far)| far.0.total_cmp(&near.0).then(a.cmp(b)));
    kept.into_iter().map(|(_, drawn)| drawn).collect()
}

fn draw(colors: &mut [Vec3], [from, to]: [Vec2; 2], radius: f32, color: Vec3, lens: &Lens) {
    let reach = radius + 0.5;
    let (low, high) = (from.min(to) - reach, from.max(to) + reach);
    let range = |low: f32, high: f32, end: usize| low as usize..(high.ceil() as usize).min(end);
    let along = to - from;
    let rim = RIM * ((radius - THINNEST) / RIM_GROWS).min(1.0);
    let per_length = 1.0 / along.length_squared().max(f32::MIN_POSITIVE);
    for row in range(low.y, high.y, lens.height) {
        for column in range(low.x, high.x, lens.width) {
            let pixel = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
            let share = ((pixel - from).dot(along) * per_length).clamp(0.0, 1.0);
            let distance = pixel.distance(from + along * share);
            let coverage = (reach - distance).clamp(0.0, 1.0);
            let outward = ((distance / radius - RIM_FROM) / (1.0 - RIM_FROM)).clamp(0.0, 1.0);
            let shaded = color * (1.0 - rim * outward);
            let under = &mut colors[row * lens.width + column];
            *under = under.lerp(shaded, coverage);
        }
    }
}
