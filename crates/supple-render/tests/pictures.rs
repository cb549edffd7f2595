//! Properties that every picture must have.

use glam::Vec3;
use std::f32::consts::{PI, TAU};
use supple_render::{
    Bone, Camera, DrawnSurface, Image, Marks, Paint, Scene, Settings, Substance, View, Wireframe,
    render,
};

const RED: Vec3 = Vec3::new(0.8, 0.05, 0.05);
const BLUE: Vec3 = Vec3::new(0.05, 0.05, 0.8);

struct Model {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Model {
    fn painted(&self, color: Vec3) -> DrawnSurface<'_> {
        DrawnSurface {
            positions: &self.positions,
            normals: &self.normals,
            triangles: &self.triangles,
            paint: Paint::Uniform(color),
        }
    }

    fn scaled(&self, scale: f32, offset: Vec3) -> Model {
        Model {
            positions: self.positions.iter().map(|&p| p * scale + offset).collect(),
            normals: self.normals.clone(),
            triangles: self.triangles.clone(),
        }
    }
}

fn sphere(spokes: u32) -> Model {
    let rings = spokes / 2;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for ring in 0..=rings {
        let (around, up) = (PI * ring as f32 / rings as f32).sin_cos();
        for spoke in 0..spokes {
            let (sin, cos) = (TAU * spoke as f32 / spokes as f32).sin_cos();
            positions.push(Vec3::new(around * sin, up, around * cos));
            let next = (spoke + 1) % spokes;
            let (a, b) = (ring * spokes + spoke, ring * spokes + next);
            if ring < rings {
                triangles.extend([[a, a + spokes, b], [b, a + spokes, b + spokes]]);
            }
        }
    }
    Model {
        normals: positions.clone(),
        positions,
        triangles,
    }
}

/// A square in the plane z = `z`.
fn square(half: f32, z: f32) -> Model {
    let corner = |x: f32, y: f32| Vec3::new(x * half, y * half, z);
    Model {
        positions: vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ],
        normals: vec![],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

fn small() -> Settings {
    Settings {
        width: 96,
        height: 96,
        ..Settings::default()
    }
}

fn only<'a>(surface: DrawnSurface<'a>) -> Scene<'a> {
    Scene {
        surfaces: vec![surface],
        ..Scene::default()
    }
}

fn backdrop() -> Image {
    let camera = Camera::framing([], View::FRONT, 1.0);
    render(&Scene::default(), &camera, &small())
}

fn differs(a: [u8; 3], b: [u8; 3]) -> bool {
    (0..3).any(|i| a[i].abs_diff(b[i]) > 2)
}

/// Pixels that are not the backdrop.
fn drawn(image: &Image) -> Vec<(usize, usize)> {
    let backdrop = backdrop();
    let pixels = image.pixels().iter().zip(backdrop.pixels()).enumerate();
    pixels
        .filter(|(_, (a, b))| differs(**a, **b))
        .map(|(i, _)| (i % image.width(), i / image.width()))
        .collect()
}

fn at(image: &Image, x: usize, y: usize) -> [u8; 3] {
    image.pixels()[y * image.width() + x]
}

#[test]
fn the_same_scene_gives_the_same_bits_on_any_number_of_threads() {
    let model = sphere(64);
    let settings = Settings {
        height: 120,
        ..small()
    };
    let camera = Camera::framing(
        model.positions.iter().copied(),
        View::default(),
        settings.aspect(),
    );
    let bone = Bone {
        from: Vec3::NEG_Y,
        to: Vec3::Y,
        radius: 0.1,
        color: BLUE,
    };
    let scene = Scene {
        surfaces: vec![model.painted(RED)],
        bones: vec![bone],
        marks: vec![Marks::dots(model.positions.iter().copied(), 0.01, RED)],
        wireframe: Wireframe::Shown,
        substance: Substance::Glass,
        ground: Some(-1.0),
    };
    let image = render(&scene, &camera, &settings);
    assert_eq!(image, render(&scene, &camera, &settings));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let again = pool.unwrap().install(|| render(&scene, &camera, &settings));
        assert!(image == again, "{threads} threads");
    }
}

#[test]
fn a_sphere_covers_its_disc_in_the_middle() {
    let model = sphere(96);
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let image = render(&only(model.painted(RED)), &camera, &small());
    let pixels = drawn(&image);
    // The margin leaves nine tenths of the width to the disc.
    let expected = PI * (0.45 * 96.0f32).powi(2);
    let found = pixels.len() as f32;
    assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");
    let sum = pixels
        .iter()
        .fold((0, 0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
    let middle = (sum.0 as f32 / found, sum.1 as f32 / found);
    assert!((middle.0 - 47.5).abs() < 0.3 && (middle.1 - 47.5).abs() < 0.3);
    for &(x, y) in &pixels {
        assert!((4..92).contains(&x) && (4..92).contains(&y));
    }
}

#[test]
fn edges_are_anti_aliased() {
    // Spots along the edge of a leaning triangle take many values between surface and backdrop.
    let positions = [
        Vec3::new(-1.0, -1.0, 0.0),
        Vec3::new(1.0, -1.0, 0.0),
        Vec3::new(-0.8, 1.0, 0.0),
    ];
    let surface = DrawnSurface {
        positions: &positions,
        normals: &[],
        triangles: &[[0, 1, 2]],
        paint: Paint::Uniform(Vec3::splat(0.02)),
    };
    let camera = Camera::framing(positions, View::FRONT, 1.0);
    let image = render(&only(surface), &camera, &small());
    let mut values: Vec<u8> = image.pixels().iter().map(|pixel| pixel[1]).collect();
    values.sort_unstable();
    values.dedup();
    let between = values.iter().filter(|&&v| (80..200).contains(&v)).count();
    assert!(between > 8, "{between}");
}

#[test]
fn the_nearer_surface_hides_the_farther_one() {
    let (near, far) = (square(0.5, 0.5), square(1.0, -0.5));
    let points = near.positions.iter().chain(&far.positions).copied();
    let camera = Camera::framing(points, View::FRONT, 1.0);
    for order in [[(&near, RED), (&far, BLUE)], [(&far, BLUE), (&near, RED)]] {
        let scene = Scene {
            surfaces: order.map(|(model, color)| model.painted(color)).to_vec(),
            ..Scene::default()
        };
        let image = render(&scene, &camera, &small());
        let [red, _, blue] = at(&image, 48, 48);
        assert!(red > blue);
        let [red, _, blue] = at(&image, 12, 48);
        assert!(blue > red);
    }
}

#[test]
fn both_sides_of_a_sheet_are_lit_alike_whatever_its_winding() {
    let mut model = square(1.0, 0.0);
    model.normals = vec![Vec3::Z; 4];
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let image = render(&only(model.painted(RED)), &camera, &small());
    model.normals = vec![Vec3::NEG_Z; 4];
    for triangle in &mut model.triangles {
        triangle.reverse();
    }
    let turned = render(&only(model.painted(RED)), &camera, &small());
    assert!(!differs(at(&image, 48, 48), at(&turned, 48, 48)));
}

#[test]
fn tiny_huge_and_distant_models_look_the_same() {
    let picture = |scale: f32, offset: Vec3| {
        let model = sphere(48).scaled(scale, offset);
        let camera = Camera::framing(model.positions.iter().copied(), View::default(), 1.0);
        let scene = Scene {
            ground: Some(offset.y - scale),
            ..only(model.painted(RED))
        };
        render(&scene, &camera, &small())
    };
    let usual = picture(1.0, Vec3::ZERO);
    for (scale, offset) in [(1e-3, 0.0), (1e4, 0.0), (1.0, 100.0)] {
        let other = picture(scale, Vec3::splat(offset));
        let pairs = usual.pixels().iter().zip(other.pixels());
        let different = pairs.filter(|(a, b)| differs(**a, **b)).count();
        assert!(different < 96, "scale {scale}: {different} pixels differ");
    }
}

#[test]
fn wires_darken_only_the_neighbourhood_of_edges() {
    let model = square(1.0, 0.0);
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let plain = render(&only(model.painted(RED)), &camera, &small());
    let scene = Scene {
        wireframe: Wireframe::Shown,
        ..only(model.painted(RED))
    };
    let wired = render(&scene, &camera, &small());
    let pixel_of = |point: Vec3| {
        let (x, y) = camera.project(point, 1.0).unwrap();
        glam::Vec2::new(x as f32, y as f32) * 96.0
    };
    let corners: Vec<_> = model.positions.iter().map(|&p| pixel_of(p)).collect();
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)].map(|(a, b)| (corners[a], corners[b]));
    let mut changed = 0;
    for (index, (a, b)) in plain.pixels().iter().zip(wired.pixels()).enumerate() {
        if a != b {
            changed += 1;
            let pixel = glam::Vec2::new((index % 96) as f32 + 0.5, (index / 96) as f32 + 0.5);
            let distance = edges.iter().map(|&(from, to)| {
                let along =
                    ((pixel - from).dot(to - from) / (to - from).length_squared()).clamp(0.0, 1.0);
                pixel.distance(from.lerp(to, along))
            });
            let nearest = distance.fold(f32::INFINITY, f32::min);
            assert!(nearest < 1.6, "{pixel} is {nearest} away from an edge");
            assert!(b[0] <= a[0]);
        }
    }
    assert!(changed > 100);
}

#[test]
fn bones_show_through_the_surface() {
    let model = sphere(48);
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let bone = Bone {
        from: Vec3::NEG_Y * 0.5,
        to: Vec3::Y * 0.5,
        radius: 0.1,
        color: BLUE,
    };
    let scene = Scene {
        bones: vec![bone],
        ..only(model.painted(RED))
    };
    let image = render(&scene, &camera, &small());
    let [red, _, blue] = at(&image, 48, 58);
    assert!(blue > red);
    let [red, _, blue] = at(&image, 20, 48);
    assert!(red > blue);
}

#[test]
fn marks_are_round_and_come_in_any_order() {
    let model = sphere(48);
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let view = |near: f32| Vec3::Z * near;
    let both = [view(0.4), view(-0.4)];
    let marks = |places: [Vec3; 2], color| Marks::dots(places, 0.1, color);
    let scene = Scene {
        marks: vec![marks(both, BLUE)],
        ..only(model.painted(RED))
    };
    let image = render(&scene, &camera, &small());
    let plain = render(&only(model.painted(RED)), &camera, &small());
    let center = camera.project(view(0.4), 1.0).unwrap();
    let center = glam::DVec2::from(center) * 96.0;
    for (index, (a, b)) in plain.pixels().iter().zip(image.pixels()).enumerate() {
        let pixel = glam::DVec2::new((index % 96) as f64 + 0.5, (index / 96) as f64 + 0.5);
        // The farther dot is a little off, by the perspective of a camera that looks down a little.
        match pixel.distance(center) {
            near if near < 8.5 => assert!(b[2] > b[0], "{pixel}"),
            far if far > 12.5 => assert_eq!(a, b, "{pixel}"),
            _ => (),
        }
    }
    // In whatever order they are given.
    let [near, far] = both;
    let turned = Scene {
        marks: vec![marks([far, near], BLUE)],
        ..only(model.painted(RED))
    };
    assert!(image == render(&turned, &camera, &small()));
    // What comes last lies over what comes first.
    let last = Scene {
        marks: vec![marks(both, RED), marks(both, BLUE)],
        ..only(model.painted(RED))
    };
    let [red, _, blue] = at(&render(&last, &camera, &small()), 48, 48);
    assert!(blue > red);
}

#[test]
fn glass_shows_what_is_behind_it_and_has_an_outline() {
    let model = sphere(96);
    let camera = Camera::framing(model.positions.iter().copied(), View::FRONT, 1.0);
    let dark = model.painted(Vec3::splat(0.02));
    let glass = Scene {
        substance: Substance::Glass,
        ..only(dark)
    };
    let (clay, glass) = (
        render(&only(dark), &camera, &small()),
        render(&glass, &camera, &small()),
    );
    let backdrop = backdrop();
    let brightness = |image: &Image, x: usize| u32::from(at(image, x, 48)[1]);
    assert!(brightness(&glass, 48) > brightness(&clay, 48) + 60);
    assert!(brightness(&glass, 48) + 10 < brightness(&backdrop, 48));
    assert!(
        brightness(&glass, 7) + 40 < brightness(&glass, 48),
        "an outline"
    );
    assert!(!differs(at(&glass, 2, 48), at(&backdrop, 2, 48)));
}

#[test]
fn the_ground_darkens_under_a_model_and_nowhere_far_away() {
    let model = sphere(48);
    let camera = Camera::framing(model.positions.iter().copied(), View::default(), 1.0);
    let scene = Scene {
        ground: Some(-1.0),
        ..only(model.painted(RED))
    };
    let image = render(&scene, &camera, &small());
    let backdrop = backdrop();
    assert!(at(&image, 56, 93)[1] + 8 < at(&backdrop, 56, 93)[1]);
    assert!(!differs(at(&image, 2, 2), at(&backdrop, 2, 2)));
}

#[test]
fn an_empty_scene_is_the_backdrop() {
    let camera = Camera::framing([Vec3::ZERO, Vec3::ONE], View::default(), 1.0);
    let scene = Scene {
        ground: Some(0.0),
        surfaces: vec![DrawnSurface {
            positions: &[],
            normals: &[],
            triangles: &[],
            paint: Paint::CLAY,
        }],
        ..Scene::default()
    };
    assert!(render(&scene, &camera, &small()) == backdrop());
}

#[test]
fn odd_input_draws_what_it_can() {
    let positions = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::Y,
        Vec3::X,
        Vec3::NAN,
        Vec3::splat(1e30),
    ];
    let triangles = [
        [0, 1, 2],
        [0, 0, 0],
        [0, 1, 3],
        [0, 1, 9],
        [0, 1, 4],
        [0, 2, 5],
    ];
    let camera = Camera::framing([Vec3::ZERO, Vec3::X, Vec3::Y], View::default(), 1.0);
    for (normals, colors) in [(vec![], vec![]), (vec![Vec3::ZERO; 2], vec![RED; 3])] {
        let surface = DrawnSurface {
            positions: &positions,
            normals: &normals,
            triangles: &triangles,
            paint: Paint::PerVertex(&colors),
        };
        let scene = Scene {
            wireframe: Wireframe::Shown,
            ground: Some(0.0),
            bones: vec![Bone {
                from: Vec3::X,
                to: Vec3::X,
                radius: 0.0,
                color: RED,
            }],
            marks: vec![Marks {
                strokes: positions.map(|position| [position, Vec3::Y]).to_vec(),
                radius: 0.0,
                color: BLUE,
            }],
            ..only(surface)
        };
        assert!(!drawn(&render(&scene, &camera, &small())).is_empty());
        for (width, height) in [(0, 0), (0, 7), (1, 1), (3, 17)] {
            let settings = Settings {
                width,
                height,
                samples_per_axis: 0,
                ..small()
            };
            let image = render(&scene, &camera, &settings);
            assert_eq!(image.pixels().len(), width * height);
        }
    }
    // A camera in the middle of a surface.
    let model = sphere(16);
    let inside = Camera::framing([Vec3::ZERO, Vec3::splat(0.01)], View::default(), 1.0);
    assert!(!drawn(&render(&only(model.painted(RED)), &inside, &small())).is_empty());
}
