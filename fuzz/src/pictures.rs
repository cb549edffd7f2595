//! Targets over pictures and pages: PNG, GIF and HTML hold what was drawn, whatever that was.

use crate::input::{Input, Range};
use crate::{methods, rigs};
use glam::Vec3;
use std::io::Cursor;
use std::sync::Arc;
use supple::centers::{CenterOptions, Centers};
use supple::deform::BakedData;
use supple::point_handles::{HandleOptions, place_handles};
use supple::weights::WeightsReport;
use supple::{Asset, Normals, Player};
use supple_render::{
    Background, Camera, Image, Lamps, Look, Marks, Overlays, Scene, SegmentedBody, Settings,
    Silhouette, View, render, write_gif,
};
use supple_report::{ReportOptions, Subject, report};

/// Pictures of any pixels, and of any character.
pub fn pictures(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(4) {
        0 => {
            let width = input.below(20);
            png(&image(&mut input, width));
        }
        1 => {
            let width = input.below(20);
            let frames: Vec<Image> = (0..input.below(5))
                .map(|_| {
                    let width = width + usize::from(input.rarely(16));
                    image(&mut input, width)
                })
                .collect();
            gif(&frames, input.any_double());
        }
        _ => drawn(&mut input),
    }
}

fn image(input: &mut Input, width: usize) -> Image {
    let count = width * input.below(12);
    // Few colours, so that some are equal, or any.
    let step = *input.pick(&[1, 85, 255]);
    let channel = |input: &mut Input| input.byte() / step * step;
    let pixels = (0..count).map(|_| [0; 3].map(|_| channel(input)));
    Image::new(width, pixels.collect())
}

/// A PNG file has the pixels of its picture.
fn png(image: &Image) {
    let mut file = Vec::new();
    if image.write_png(&mut file).is_err() {
        assert!(image.pixels().is_empty(), "a small picture");
        return;
    }
    let mut reader = png::Decoder::new(Cursor::new(file));
    reader.set_transformations(png::Transformations::IDENTITY);
    let mut reader = reader.read_info().expect("a header");
    let mut decoded = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut decoded).expect("pixels");
    assert_eq!((info.width as usize, info.height as usize), (image.width(), image.height()));
    assert_eq!(decoded, image.pixels().as_flattened());
}

/// A GIF file has all frames, at the size of the first.
fn gif(frames: &[Image], frames_per_second: f64) {
    let mut file = Vec::new();
    let written = write_gif(&mut file, frames, frames_per_second);
    let size = |image: &Image| (image.width(), image.height());
    let alike = frames.windows(2).all(|pair| size(&pair[0]) == size(&pair[1]));
    let drawn = frames.first().is_some_and(|first| !first.pixels().is_empty());
    assert_eq!(written.is_ok(), alike && drawn, "{written:?}");
    if written.is_err() {
        return;
    }
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(&file[..]).expect("a header");
    let expected = size(&frames[0]);
    assert_eq!((usize::from(decoder.width()), usize::from(decoder.height())), expected);
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        assert!(usize::from(frame.left + frame.width) <= expected.0);
        assert!(usize::from(frame.top + frame.height) <= expected.1);
        count += 1;
    }
    assert_eq!(count, frames.len());
}

/// A character in a pose, with everything that can be drawn over it.
fn drawn(input: &mut Input) {
    let range = input.range();
    let Some(asset) = rigs::asset(input, range) else {
        return;
    };
    let method = methods::method(input);
    let Ok(mut player) = Player::new(&asset, &method, Normals::Transported) else {
        return;
    };
    let pose = rigs::pose(input, asset.rig.skeleton(), range);
    let _ = player.pose(&pose);
    let overlays = Overlays {
        skeleton: input.flag(),
        weights: input.flag(),
        wireframe: input.flag(),
    };
    let mut look = Look::new(&asset, overlays);
    let centers = Centers::bake(asset.rig.mesh(), asset.rig.weights(), &CenterOptions::PAPER);
    if input.flag()
        && let Ok(centers) = centers
    {
        look = look.with_centers(&asset, Arc::new(centers));
    }
    let mut whole = Silhouette::default();
    whole.add(&player);
    let ground = match input.flag() {
        true => whole.ground(),
        false => Some(input.number(Range::Extreme)),
    };
    let settings = settings(input);
    let view = View {
        yaw_degrees: input.any_double(),
        pitch_degrees: input.any_double(),
    };
    let camera = Camera::framing(whole.points(), view, settings.aspect());
    let mut scene = look.scene(&player, ground);
    if input.flag() {
        scene.marks.push(Marks {
            strokes: (0..input.below(4))
                .map(|_| [0; 2].map(|_| input.vector(Range::Extreme)))
                .collect(),
            radius: input.any_number(),
            color: input.vector(Range::Extreme),
        });
    }
    draw(&scene, &camera, &settings);
    if input.flag()
        && let Ok(handles) = place_handles(asset.rig.mesh(), &HandleOptions::default())
    {
        let body = SegmentedBody::new(asset.rig.mesh(), &handles);
        let camera = body.camera(view, settings.aspect());
        draw(&body.scene(ground), &camera, &settings);
    }
}

fn draw(scene: &Scene<'_>, camera: &Camera, settings: &Settings) {
    let image = render(scene, camera, settings);
    assert_eq!(image.pixels().len(), settings.width * settings.height);
}

fn settings(input: &mut Input) -> Settings {
    Settings {
        width: input.below(24),
        height: input.below(24),
        samples_per_axis: input.below(5),
        lamps: Lamps {
            key: input.below(2),
            dome: input.below(3),
        },
        background: match input.rarely(8) {
            true => Background {
                center: input.vector(Range::Extreme),
                corner: Vec3::ZERO,
            },
            false => Background::default(),
        },
    }
}

/// Names that would end a tag, an attribute or a script, if they were not escaped.
const NAMES: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style><svg onload=alert(1)>",
    "{name} & ' \u{202e}\u{9b}",
    "",
    "hand.L",
];

/// What must not be in a page as it is.
const INJECTED: [&str; 3] = ["<script>alert", "<img src=x", "<svg onload"];

/// A page about any character with any names.
pub fn pages(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(mut asset) = rigs::asset(&mut input, range) else {
        return;
    };
    rename(&mut input, &mut asset);
    let name = |input: &mut Input| (*input.pick(&NAMES)).to_owned();
    let subject = Subject {
        title: name(&mut input),
        file: name(&mut input),
        asset: &asset,
        baked: BakedData::default(),
        weights_report: WeightsReport::default(),
        clips: (0..input.below(2)).map(|_| input.below(3)).collect(),
    };
    let options = ReportOptions {
        methods: (0..1 + input.below(2)).map(|_| methods::method(&mut input)).collect(),
        picture_size: (8 + input.below(4), 8),
        most_clips: input.below(2),
        heading: input.flag().then(|| name(&mut input)),
        lead: input.flag().then(|| name(&mut input)),
        commands: input.flag().then(|| name(&mut input)),
        ..ReportOptions::default()
    };
    let Ok(page) = report(&[subject], &options, |_| ()) else {
        return;
    };
    assert!(page.trim_end().ends_with("</html>"));
    for injected in INJECTED {
        assert!(!page.contains(injected), "{injected} is in the page");
    }
}

fn rename(input: &mut Input, asset: &mut Asset) {
    asset.name = (*input.pick(&NAMES)).to_owned();
    for clip in &mut asset.clips {
        clip.name = (*input.pick(&NAMES)).to_owned();
    }
    for part in &mut asset.parts {
        part.name = (*input.pick(&NAMES)).to_owned();
    }
}
