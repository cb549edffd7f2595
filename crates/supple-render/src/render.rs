//! Drawing a scene on the CPU.

use crate::camera::Camera;
use crate::color::dithered_srgb_from_linear;
use crate::fragment::cut;
use crate::image::Image;
use crate::light::{GROUND_LIFT, Lamps, Lights};
use crate::raster::{BAND_ROWS, Projected, Samples};
use crate::receiver::{Arriving, Receiver};
use crate::scene::{Scene, Substance};
use crate::shade::{glass, shade};
use crate::stage::{Lens, Stage, stage_from_world};
use crate::{bones, marks};
use glam::{Vec2, Vec3};
use supple::exec;

/// The ground's shadow starts to fade at this distance from the middle of the stage, and is gone at
/// the next.
pub(crate) const SHADOW_FADES_FROM: f32 = 1.0;
pub(crate) const SHADOW_GONE_AT: f32 = 3.2;

/// The darkness of the ground where no light arrives.
pub(crate) const SHADOW_STRENGTH: f32 = 0.8;

/// The position at which the backdrop is brightest, as a share of the picture, and the distance
/// from there, in halves of the picture, at which it is darkest.
pub(crate) const BACKDROP_MIDDLE: Vec2 = Vec2::new(0.5, 0.48);
pub(crate) const BACKDROP_REACH: f32 = 1.45;

/// The share by which surfaces pale under bones.
const PALE: f32 = 0.3;

/// Neighbouring pixels round differently, so that the backdrop's faint gradient shows no steps.
const ROUNDING: [[f32; 4]; 4] = [
    [0.031, 0.531, 0.156, 0.656],
    [0.781, 0.281, 0.906, 0.406],
    [0.219, 0.719, 0.094, 0.594],
    [0.969, 0.469, 0.844, 0.344],
];

/// Settings of a picture: size, samples, light and background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples along one side of a pixel, from 1 (jagged) to 8.
    pub samples_per_axis: usize,
    /// The light.
    pub lamps: Lamps,
    /// The backdrop behind the scene.
    pub background: Background,
}

/// A backdrop, bright in the middle; linear colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// In the middle of the picture.
    pub center: Vec3,
    /// In its corners.
    pub corner: Vec3,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            width: 800,
            height: 800,
            samples_per_axis: 4,
            lamps: Lamps::MANY,
            background: Background::default(),
        }
    }
}

impl Default for Background {
    fn default() -> Background {
        Background {
            center: Vec3::new(0.91, 0.915, 0.925),
            corner: Vec3::new(0.67, 0.69, 0.72),
        }
    }
}

impl Settings {
    /// Width over height, for [`Camera::framing`].
    pub fn aspect(&self) -> f64 {
        self.width.max(1) as f64 / self.height.max(1) as f64
    }
}

/// Draws a scene. The same input gives the same bits, whatever the number of threads.
pub fn render(scene: &Scene, camera: &Camera, settings: &Settings) -> Image {
    if settings.width == 0 || settings.height == 0 {
        return Image::new(settings.width, Vec::new());
    }
    let per_axis = settings.samples_per_axis.clamp(1, 8);
    let lens = Lens::new(camera, settings.width, settings.height);
    let stage = Stage::new(&scene.surfaces, camera);
    let painter = Painter {
        scene,
        lights: Lights::new(&stage, lens.camera_from_stage.row(0), settings.lamps),
        projected: Projected::new(&stage, &lens),
        stage,
        ground: ground_on_stage(scene, camera, &lens),
        lens,
        per_axis,
        background: settings.background,
    };
    let bands = exec::map(settings.height.div_ceil(BAND_ROWS), |band| {
        painter.band(band)
    });
    finished(bands.concat(), scene, camera, &painter.lens, per_axis)
}

/// Draws what lies over the surfaces, and rounds colours to those of a file.
pub(crate) fn finished(
    mut colors: Vec<Vec3>,
    scene: &Scene,
    camera: &Camera,
    lens: &Lens,
    per_axis: usize,
) -> Image {
    bones::draw_over(&mut colors, &scene.bones, camera, lens, per_axis);
    for marks in &scene.marks {
        marks::draw_over(&mut colors, marks, camera, lens);
    }
    let bands = exec::map(lens.height.div_ceil(BAND_ROWS), |band| {
        let rows = band * BAND_ROWS..((band + 1) * BAND_ROWS).min(lens.height);
        let encoded = rows.map(|row| {
            let colors = &colors[row * lens.width..(row + 1) * lens.width];
            dithered_srgb_from_linear(colors, ROUNDING[row % 4].into_iter().cycle())
        });
        encoded.collect::<Vec<_>>().concat()
    });
    Image::new(lens.width, bands.concat())
}

/// The height of the ground on the stage, where it can be seen.
pub(crate) fn ground_on_stage(scene: &Scene, camera: &Camera, lens: &Lens) -> Option<f32> {
    let height = stage_from_world(camera, Vec3::Y * scene.ground?).y;
    (lens.eye.y > height).then_some(height)
}

/// The share by which surfaces pale.
pub(crate) fn paleness(scene: &Scene) -> f32 {
    let pales = scene.substance == Substance::Clay && !scene.bones.is_empty();
    if pales { PALE } else { 0.0 }
}

/// All that a band needs.
struct Painter<'a> {
    scene: &'a Scene<'a>,
    stage: Stage,
    projected: Projected,
    lights: Lights,
    lens: Lens,
    per_axis: usize,
    background: Background,
    /// The height of the ground on the stage, where it can be seen.
    ground: Option<f32>,
}

impl Painter<'_> {
    /// The linear colours of a band of rows.
    fn band(&self, band: usize) -> Vec<Vec3> {
        let (stage, lens) = (&self.stage, &self.lens);
        let samples = Samples::of_band(stage, &self.projected, lens, band, self.per_axis);
        let fragments = cut(&samples, stage, &self.projected, lens, self.scene.wireframe);
        let receivers: Vec<_> = fragments.iter().map(|f| (f.pixel, f.receiver)).collect();
        let arriving = self.lights.arriving(&receivers, lens.width);

        let pixel_count = samples.rows * lens.width;
        let mut colors = vec![Vec3::ZERO; pixel_count];
        let mut free = vec![1.0f32; pixel_count];
        for (fragment, arriving) in fragments.iter().zip(&arriving) {
            let color = shade(fragment, arriving, self.lights.key);
            let (color, opacity) = match self.scene.substance {
                Substance::Clay => (color, 1.0),
                Substance::Glass => glass(fragment, color),
            };
            let hidden = fragment.coverage * opacity;
            colors[fragment.pixel] += color * hidden;
            free[fragment.pixel] -= hidden;
        }
        self.add_backdrop(&mut colors, &free, samples.first_row);
        colors
    }

    /// Fills what no surface covers.
    fn add_backdrop(&self, colors: &mut [Vec3], free: &[f32], first_row: usize) {
        let pale = paleness(self.scene);
        let width = self.lens.width;
        let centers = (0..colors.len() / width).flat_map(|row| {
            let y = (first_row + row) as f32 + 0.5;
            (0..width).map(move |column| Vec2::new(column as f32 + 0.5, y))
        });
        let mut caught = Vec::new();
        for (pixel, (center, &free)) in centers.clone().zip(free).enumerate() {
            let position = (free > 1e-3).then(|| self.ground_at(center)).flatten();
            caught.extend(position.map(|position| {
                let receiver = Receiver {
                    position,
                    normal: Vec3::Y,
                    lift: GROUND_LIFT,
                };
                (pixel, receiver)
            }));
        }
        let mut dimming = vec![Vec3::ONE; colors.len()];
        let arriving = self.lights.arriving_on_plane(&caught, width);
        for ((pixel, receiver), arriving) in caught.iter().zip(&arriving) {
            dimming[*pixel] = dimmed(receiver.position, arriving);
        }
        let pixels = colors.iter_mut().zip(centers).zip(free.iter().zip(dimming));
        for ((color, center), (free, dimming)) in pixels {
            let backdrop = self.backdrop(center);
            let free = free.clamp(0.0, 1.0);
            *color = color.lerp(backdrop * (1.0 - free), pale) + backdrop * dimming * free;
        }
    }

    fn backdrop(&self, pixel: Vec2) -> Vec3 {
        let size = Vec2::new(self.lens.width as f32, self.lens.height as f32);
        let from_middle = (pixel / size - BACKDROP_MIDDLE) * 2.0;
        let outward = (from_middle.length() / BACKDROP_REACH).min(1.0);
        let Background { center, corner } = self.background;
        center.lerp(corner, outward * outward * (1.5 - 0.5 * outward))
    }

    /// The ground seen at a pixel, as far as shadows reach on it.
    fn ground_at(&self, pixel: Vec2) -> Option<Vec3> {
        let height = self.ground?;
        let direction = self.lens.direction(pixel);
        let steps = (height - self.lens.eye.y) / direction.y;
        let point = self.lens.eye + direction * steps;
        let near = direction.y < 0.0 && point.with_y(0.0).length() < SHADOW_GONE_AT;
        near.then_some(point)
    }
}

/// The remaining light of the backdrop on the ground.
fn dimmed(point: Vec3, arriving: &Arriving) -> Vec3 {
    let distance = point.with_y(0.0).length();
    let beyond =
        ((distance - SHADOW_FADES_FROM) / (SHADOW_GONE_AT - SHADOW_FADES_FROM)).clamp(0.0, 1.0);
    let fade = 1.0 - beyond * beyond * (3.0 - 2.0 * beyond);
    let open = arriving.diffuse / arriving.unblocked.max(Vec3::splat(1e-6));
    Vec3::ONE - (Vec3::ONE - open) * (SHADOW_STRENGTH * fade)
}
