//! Text over pictures: names of methods, and the scale of the colours of stretch.

use crate::color::{FULL_STRETCH, srgb_from_linear, stretch_color};
use crate::image::Image;
use ab_glyph::{Font, FontRef, Glyph, PxScaleFont, ScaleFont, point};

/// Roboto Medium, printable ASCII and a few signs; see `fonts/README.md`.
const FONT: &[u8] = include_bytes!("../fonts/Roboto-Medium.ttf");

/// The height of text as a share of the shorter side of a picture, and the least in pixels.
const TEXT_HEIGHT: f32 = 0.036;
const LEAST_TEXT_HEIGHT: f32 = 13.0;

/// Lengths relative to the height of text: the distance of a plate from the edges of the picture,
/// the space around its content, and its rounded corners.
const DISTANCE: f32 = 0.7;
const PADDING: [f32; 2] = [0.55, 0.28];
const CORNER: f32 = 0.42;

/// The colours of plates and of text.
const PLATE: [u8; 3] = [255; 3];
const PLATE_OPACITY: f32 = 0.8;
const INK: [u8; 3] = [32, 35, 40];

/// The scale of stretch: its title, its ends, and its size relative to the height of text.
const SCALE_TITLE: &str = "Area, compared with rest";
const SCALE_ENDS: [&str; 3] = ["½×", "1×", "2×"];
const SCALE_BAR: [f32; 2] = [10.4, 0.5];
const SCALE_GAP: f32 = 0.2;

/// A rectangle in pixels.
#[derive(Clone, Copy)]
struct Rectangle {
    left: f32,
    top: f32,
    width: f32,
    height: f32,
}

/// The font at one size, in pixels.
struct Text {
    font: PxScaleFont<FontRef<'static>>,
    height: f32,
}

impl Text {
    /// Text for a picture, smaller where something as wide as `ems` times its height would not fit.
    fn for_picture(image: &Image, ems: impl Fn(&Text) -> f32) -> Option<Text> {
        let side = image.width().min(image.height()) as f32;
        let text = Text::of_height((TEXT_HEIGHT * side).max(LEAST_TEXT_HEIGHT))?;
        let across = ems(&text) + 2.0 * (DISTANCE + PADDING[0]);
        let most = (image.width() as f32 / across).min(image.height() as f32 / 4.0);
        match text.height <= most {
            true => Some(text),
            false => Text::of_height(most),
        }
    }

    fn of_height(height: f32) -> Option<Text> {
        let font = FontRef::try_from_slice(FONT).ok()?.into_scaled(height);
        Some(Text { font, height })
    }

    /// The glyphs of a line from the left end of its base line, and its length.
    fn line(&self, text: &str) -> (Vec<Glyph>, f32) {
        let mut end = 0.0;
        let glyphs = text.chars().map(|character| {
            let mut glyph = self.font.scaled_glyph(character);
            glyph.position = point(end, 0.0);
            end += self.font.h_advance(glyph.id);
            glyph
        });
        let glyphs: Vec<Glyph> = glyphs.collect();
        (glyphs, end)
    }

    fn length(&self, text: &str) -> f32 {
        self.line(text).1
    }

    /// Draws a line whose top is at `top`.
    fn draw(&self, image: &mut Image, text: &str, left: f32, top: f32) {
        let base = top + self.font.ascent();
        for mut glyph in self.line(text).0 {
            glyph.position += point(left, base);
            if let Some(outline) = self.font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|x, y, covered| {
                    let (x, y) = (corner.x + x as f32, corner.y + y as f32);
                    image.blend(x, y, INK, covered);
                });
            }
        }
    }
}

impl Image {
    /// Writes a text on a plate in the upper left corner; characters beyond ASCII may be missing.
    pub fn with_label(mut self, text: &str) -> Image {
        let ems = |font: &Text| font.length(text) / font.height;
        let Some(font) = Text::for_picture(&self, ems) else {
            return self;
        };
        let em = font.height;
        let plate = Rectangle {
            left: DISTANCE * em,
            top: DISTANCE * em,
            width: font.length(text) + 2.0 * PADDING[0] * em,
            height: (1.0 + 2.0 * PADDING[1]) * em,
        };
        self.draw_plate(plate, CORNER * em);
        let (left, top) = (PADDING[0] * em, PADDING[1] * em);
        font.draw(&mut self, text, plate.left + left, plate.top + top);
        self
    }

    /// Draws the scale of [`stretch_color`] on a plate in the lower left corner.
    pub fn with_stretch_scale(mut self) -> Image {
        let Some(font) = Text::for_picture(&self, |_| SCALE_BAR[0]) else {
            return self;
        };
        let em = font.height;
        let [bar_width, bar_height] = SCALE_BAR.map(|size| size * em);
        let height = (2.0 + 2.0 * SCALE_GAP + 2.0 * PADDING[1]) * em + bar_height;
        let plate = Rectangle {
            left: DISTANCE * em,
            top: self.height() as f32 - DISTANCE * em - height,
            width: bar_width + 2.0 * PADDING[0] * em,
            height,
        };
        self.draw_plate(plate, CORNER * em);
        let (left, top) = (plate.left + PADDING[0] * em, plate.top + PADDING[1] * em);
        font.draw(&mut self, SCALE_TITLE, left, top);
        let bar_top = top + (1.0 + SCALE_GAP) * em;
        let bar = Rectangle {
            left,
            top: bar_top,
            width: bar_width,
            height: bar_height,
        };
        self.fill(bar, bar_height * 0.3, 1.0, |x| {
            let share = 2.0 * (x - left) / bar_width - 1.0;
            srgb_from_linear(stretch_color(FULL_STRETCH * share))
        });
        for (index, end) in SCALE_ENDS.into_iter().enumerate() {
            let share = index as f32 / 2.0;
            let left = left + share * (bar_width - font.length(end));
            font.draw(&mut self, end, left, bar_top + bar_height + SCALE_GAP * em);
        }
        self
    }

    fn draw_plate(&mut self, plate: Rectangle, corner: f32) {
        self.fill(plate, corner, PLATE_OPACITY, |_| PLATE);
    }

    /// Fills a rectangle with rounded corners; the colour depends on the place from the left.
    fn fill(&mut self, area: Rectangle, corner: f32, opacity: f32, color: impl Fn(f32) -> [u8; 3]) {
        let (right, bottom) = (area.left + area.width, area.top + area.height);
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        for row in area.top.floor() as usize..=bottom.max(0.0) as usize {
            for column in area.left.floor() as usize..=right.max(0.0) as usize {
                let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
                // The distance from the outline, negative inside.
                let beside = (x - middle.0).abs() - area.width / 2.0 + corner;
                let above = (y - middle.1).abs() - area.height / 2.0 + corner;
                let outside = beside.max(0.0).hypot(above.max(0.0)) - corner;
                let distance = outside + beside.max(above).min(0.0);
                let covered = (0.5 - distance).clamp(0.0, 1.0);
                self.blend(column as f32, row as f32, color(x), covered * opacity);
            }
        }
    }

    /// Blends a colour over a pixel, which may lie outside of the picture.
    fn blend(&mut self, x: f32, y: f32, color: [u8; 3], opacity: f32) {
        let is_inside = x >= 0.0 && y >= 0.0 && (x as usize) < self.width();
        let place = (x.max(0.0) as usize, y.max(0.0) as usize);
        let Some(pixel) = self.pixel_mut(place).filter(|_| is_inside) else {
            return;
        };
        let opacity = opacity.clamp(0.0, 1.0);
        for (value, over) in pixel.iter_mut().zip(color) {
            let (under, over) = (f32::from(*value), f32::from(over));
            *value = (under + (over - under) * opacity + 0.5) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAY: [u8; 3] = [128; 3];

    fn gray(width: usize, height: usize) -> Image {
        Image::new(width, vec![GRAY; width * height])
    }

    /// The smallest rectangle around what differs from the plain picture.
    fn drawn(image: &Image) -> [usize; 4] {
        let pixels = image.pixels().iter().enumerate();
        let changed = pixels.filter(|(_, pixel)| **pixel != GRAY);
        let places = changed.map(|(index, _)| (index % image.width(), index / image.width()));
        places.fold([usize::MAX, usize::MAX, 0, 0], |around, (x, y)| {
            let [left, top, right, bottom] = around;
            [left.min(x), top.min(y), right.max(x), bottom.max(y)]
        })
    }

    fn has_ink(image: &Image) -> bool {
        image.pixels().iter().any(|pixel| pixel[0] < 60)
    }

    #[test]
    fn labels_stay_in_the_upper_left_corner_and_grow_with_the_picture() {
        let one = gray(400, 300).with_label("dual-quaternion");
        let [left, top, right, bottom] = drawn(&one);
        assert!(has_ink(&one) && left < 20 && top < 20 && right < 200 && bottom < 50);
        let twice = gray(1600, 1200).with_label("dual-quaternion");
        let [_, _, wide, high] = drawn(&twice);
        assert!(wide > 2 * right && high > 2 * bottom);
    }

    #[test]
    fn texts_and_the_scale_shrink_to_fit_small_pictures() {
        for (width, height) in [(60, 60), (60, 400), (400, 24)] {
            let [_, _, right, bottom] = drawn(&gray(width, height).with_label("linear-dual-blend"));
            assert!(
                right < width - 1 && bottom < height - 1,
                "{width} × {height}"
            );
        }
        let scale = gray(60, 60).with_stretch_scale();
        let [left, top, right, _] = drawn(&scale);
        assert!(left > 0 && top > 20 && right < 59);
        for (width, height) in [(1, 1), (3, 2), (0, 0)] {
            gray(width, height).with_label("x").with_stretch_scale();
        }
    }

    #[test]
    fn the_scale_goes_from_blue_to_red() {
        let image = gray(400, 400).with_stretch_scale();
        let is = |wanted: fn(&[u8; 3]) -> bool| image.pixels().iter().any(wanted);
        assert!(has_ink(&image));
        assert!(is(|&[r, _, b]| b > 150 && r < 80) && is(|&[r, _, b]| r > 150 && b < 80));
    }
}
