//! The pictures of `docs/direct-delta-mush.md`.

use crate::Outcome;
use crate::album::{Album, LIGHT, Moment, Shot, character};
use glam::{Mat3, Vec3};
use supple::deform::{DirectDeltaMush, MushVariant};
use supple::mush::EdgeWeights;
use supple::mush::{Mush, MushOptions};
use supple::weights::WeightsBuilder;
use supple::{Affine, Asset, Mesh, Method, Normals, Rig, Weights};
use supple_render::{Overlays, View};

pub(super) fn draw(album: &Album) -> Outcome<()> {
    grid(album)?;
    alphas(album)?;
    variants(album)?;
    sliding(album)?;
    hips(album)?;
    thickness(album)?;
    pieces(album)
}

/// Rotations smoothed more from row to row, translations from column to column.
fn grid(album: &Album) -> Outcome<()> {
    let bar = character("bar:2000")?;
    let bend = Shot {
        moment: Moment::Clip("bend-90"),
        size: (150, 150),
        overlays: SKELETON,
        ..Shot::of(&bar, BESIDE)
    };
    let twist = Shot {
        moment: Moment::Clip("twist-135"),
        size: (150, 54),
        ..bend.clone()
    };
    album.draw("rigid-bend-90", &bend, &Method::Rigid)?;
    for lambda in [10, 100, 500] {
        for kappa in [10, 100, 500] {
            let method = mush(f64::from(lambda), f64::from(kappa), 0.9);
            album.draw(&format!("grid-bend-90-{lambda}-{kappa}"), &bend, &method)?;
            album.draw(&format!("grid-twist-135-{lambda}-{kappa}"), &twist, &method)?;
        }
    }
    Ok(())
}

/// The same rotations, with more and more of the bones' own translations.
fn alphas(album: &Album) -> Outcome<()> {
    let bar = character("bar:2000")?;
    let rings = stripes(&bar, 0.05, |place| place.x);
    let lines = stripes(&bar, 0.4, |place| place.y.atan2(place.z));
    let clips = [
        ("bend-90", (150, 150), rings),
        ("twist-135", (150, 54), lines),
    ];
    for (clip, size, pattern) in clips {
        for alpha in [0.0, 0.5, 0.9] {
            let shot = Shot {
                moment: Moment::Clip(clip),
                size,
                colors: Some(pattern.clone()),
                ..Shot::of(&bar, BESIDE)
            };
            let method = mush(500.0, 10.0, alpha);
            album.draw(&format!("alpha-{clip}-{alpha}"), &shot, &method)?;
        }
    }
    Ok(())
}

/// Two bones that are not connected, moved apart and turned.
fn variants(album: &Album) -> Outcome<()> {
    let bar = character("bar:4000")?;
    let lifted = |by: Vec3| {
        [
            Affine::IDENTITY,
            Affine::from_mat3_translation(Mat3::IDENTITY, by),
        ]
    };
    let turned = |degrees: f32, at: Vec3| {
        let turn = Mat3::from_rotation_z(degrees.to_radians());
        Affine::from_mat3_translation(turn, at - turn * at)
    };
    let middle = Vec3::X * 0.25;
    let poses = [
        ("lifted", lifted(Vec3::Y * 0.35)),
        ("folded", lifted(Vec3::new(-0.7, 0.3, 0.0))),
        ("curled", [turned(-85.0, -middle), turned(85.0, middle)]),
    ];
    let stripes = stripes(&bar, 0.05, |place| place.x);
    for (pose, joints) in poses {
        for (index, variant) in MushVariant::ALL.into_iter().enumerate() {
            let method = Method::DirectDeltaMush(DirectDeltaMush {
                variant,
                smoothing: by_hand(300.0, 300.0, 0.0),
            });
            let shot = Shot {
                moment: Moment::Palette(joints.to_vec()),
                size: (120, 100),
                colors: Some(stripes.clone()),
                ..Shot::of(&bar, BESIDE)
            };
            album.draw(&format!("{pose}-v{index}"), &shot, &method)?;
        }
    }
    Ok(())
}

/// Bands of the same height at rest on the back of someone who raises the arms: smoothed as far as
/// limbs are thick, and much farther.
fn sliding(album: &Album) -> Outcome<()> {
    let figure = character("figure:20000")?;
    let far = MushOptions {
        radius_from_bones: false,
        lambda: 15.0,
        kappa: 3.0,
        alpha: 0.5,
        ..from_bind()
    };
    let shot = Shot {
        moment: Moment::Clip("arms-raised"),
        size: (150, 168),
        colors: Some(stripes(&figure, 0.03, |place| place.y)),
        framed: |place| place.y > 0.95 && place.y < 1.5 && place.x.abs() < 0.2,
        ..Shot::of(&figure, View::BACK)
    };
    let rest = Shot {
        moment: Moment::Rest,
        ..shot.clone()
    };
    // The same joints over the same long ways, for methods that only know weights.
    let mut weighted = figure.clone();
    let weights = Mush::bake(&figure.rig, &far)?.mush.weights().clone();
    let rig = &figure.rig;
    weighted.rig = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
    let same_weights = Shot {
        asset: &weighted,
        ..shot.clone()
    };
    album.draw("back-rest", &rest, &Method::Linear)?;
    album.draw("back-near", &shot, &computed(from_bind()))?;
    album.draw("back-far", &shot, &computed(far))?;
    album.draw("back-far-linear", &same_weights, &Method::Linear)?;
    album.draw("back-far-dual-quaternion", &same_weights, &"dqs".parse()?)
}

/// A raised thigh. Hips need rotations that reach farther than limbs are thick.
fn hips(album: &Album) -> Outcome<()> {
    let figure = character("figure:20000")?;
    let shot = Shot {
        moment: Moment::Clip("hip-flexion-90"),
        size: (160, 142),
        normals: Normals::Transported,
        framed: |place| (place - Vec3::new(0.1, 0.95, 0.05)).length() < 0.17,
        ..Shot::of(&figure, HIP)
    };
    let wide = MushOptions {
        radius_from_bones: false,
        lambda: 10.0,
        kappa: 2.0,
        ..from_bind()
    };
    let mut soft = wide.clone();
    let nodes = figure.rig.skeleton().nodes();
    for (index, joint) in figure.rig.skeleton().joints().iter().enumerate() {
        let name = nodes[joint.node].name.as_str();
        if ["pelvis", "spine1", "thigh.L", "thigh_twist.L"].contains(&name) {
            soft.alpha_at_joints.push((index, 0.0));
        }
    }
    album.draw("hip-linear", &shot, &Method::Linear)?;
    album.draw("hip-dual-quaternion", &shot, &"dqs".parse()?)?;
    album.draw("hip-near", &shot, &computed(from_bind()))?;
    album.draw("hip-wide", &shot, &computed(wide))?;
    album.draw("hip-soft", &shot, &computed(soft))
}

/// An elbow and a fist by few steps, by many, and by as many as the limb is thick.
fn thickness(album: &Album) -> Outcome<()> {
    let figure = character("figure:55000")?;
    let fixed = |iterations| {
        computed(MushOptions {
            iterations,
            lambda: 0.5,
            kappa: 0.5,
            radius_from_bones: false,
            ..from_bind()
        })
    };
    let methods = [
        ("few", fixed(5)),
        ("many", fixed(1000)),
        ("radius", computed(from_bind())),
    ];
    for (name, method) in methods {
        let elbow = Shot {
            moment: Moment::Clip("elbow-bend-120"),
            size: (160, 134),
            framed: |place| (place - Vec3::new(0.37, 1.2, -0.02)).length() < 0.1,
            normals: Normals::Transported,
            ..Shot::of(&figure, ELBOW)
        };
        let fist = Shot {
            moment: Moment::Clip("fist"),
            size: (160, 134),
            framed: |place| place.x > 0.55,
            normals: Normals::Transported,
            ..Shot::of(&figure, FIST)
        };
        album.draw(&format!("elbow-{name}"), &elbow, &method)?;
        album.draw(&format!("fist-{name}"), &fist, &method)?;
    }
    Ok(())
}

/// A bar cut in five, with gaps narrower or wider than its edges are long.
fn pieces(album: &Album) -> Outcome<()> {
    let bar = character("bar:4000")?;
    for (name, gap) in [("near", 0.004), ("far", 0.03)] {
        let (cut, colors) = cut(&bar, gap)?;
        let shot = Shot {
            moment: Moment::Clip("bend-90"),
            size: (180, 170),
            colors: Some(colors),
            ..Shot::of(&cut, BESIDE)
        };
        album.draw(&format!("pieces-{name}"), &shot, &mush(300.0, 100.0, 0.5))?;
    }
    Ok(())
}

const BESIDE: View = View {
    yaw_degrees: 10.0,
    pitch_degrees: 15.0,
};

const HIP: View = View {
    yaw_degrees: 58.0,
    pitch_degrees: 12.0,
};

const ELBOW: View = View {
    yaw_degrees: 150.0,
    pitch_degrees: 20.0,
};

const FIST: View = View {
    yaw_degrees: 60.0,
    pitch_degrees: 10.0,
};

const SKELETON: Overlays = Overlays {
    skeleton: true,
    weights: false,
    wireframe: false,
};

/// The options of `--rigid`.
fn from_bind() -> MushOptions {
    MushOptions {
        rigid: true,
        ..MushOptions::default()
    }
}

/// The products of steps and their sizes, the same everywhere; cotangents, so that it does not
/// matter how the bar is cut into triangles.
fn by_hand(lambda: f64, kappa: f64, alpha: f64) -> MushOptions {
    let iterations = 20;
    MushOptions {
        iterations,
        lambda: lambda / f64::from(iterations),
        kappa: kappa / f64::from(iterations),
        alpha,
        edge_weights: EdgeWeights::Cotangent,
        radius_from_bones: false,
        ..from_bind()
    }
}

fn computed(options: MushOptions) -> Method {
    Method::DirectDeltaMush(DirectDeltaMush {
        variant: MushVariant::V0,
        smoothing: options,
    })
}

fn mush(lambda: f64, kappa: f64, alpha: f64) -> Method {
    computed(by_hand(lambda, kappa, alpha))
}

const DARK: Vec3 = Vec3::new(0.22, 0.10, 0.05);

/// A pattern painted on the rest surface.
fn stripes(asset: &Asset, width: f32, along: impl Fn(Vec3) -> f32) -> Vec<Vec3> {
    let places = asset.rig.mesh().positions().iter();
    let color = |place: &Vec3| {
        let wave = (along(*place) * std::f32::consts::PI / width).sin();
        LIGHT.lerp(DARK, (0.5 + 4.0 * wave).clamp(0.0, 1.0))
    };
    places.map(color).collect()
}

/// The positions of cuts through the bar: beside its joint, not at it.
const CUTS: [f32; 4] = [-0.2, -0.05, 0.05, 0.2];

/// The bar in pieces, which are drawn apart by a gap, in two colours by turns.
fn cut(bar: &Asset, gap: f32) -> Outcome<(Asset, Vec<Vec3>)> {
    let mesh = bar.rig.mesh();
    let places = mesh.positions();
    let piece_of = |triangle: &[u32; 3]| {
        let x: f32 = triangle
            .iter()
            .map(|&corner| places[corner as usize].x / 3.0)
            .sum();
        CUTS.iter().filter(|&&at| at < x).count()
    };
    let mut vertices: Vec<(usize, u32)> = Vec::new();
    for triangle in mesh.triangles() {
        vertices.extend(triangle.map(|corner| (piece_of(triangle), corner)));
    }
    vertices.sort_unstable();
    vertices.dedup();
    let at = |piece: usize, corner: u32| vertices.partition_point(|known| *known < (piece, corner));
    let triangles = mesh.triangles().iter();
    let triangles = triangles
        .map(|triangle| triangle.map(|corner| at(piece_of(triangle), corner) as u32))
        .collect();
    let middle = (CUTS.len() as f32) / 2.0;
    let place = |&(piece, vertex): &(usize, u32)| {
        places[vertex as usize] + Vec3::X * gap * (piece as f32 - middle)
    };
    let joints = bar.rig.skeleton().joints().len();
    let mut weights = WeightsBuilder::new(joints)?;
    for &(_, vertex) in &vertices {
        let row = bar.rig.weights().of(vertex as usize);
        weights.push(row.map(|influence| (influence.joint, influence.weight)), 0)?;
    }
    let weights: Weights = weights.finish().0;
    let positions = vertices.iter().map(place).collect();
    let mesh = Mesh::new(positions, None, None, triangles)?;
    let mut cut = bar.clone();
    cut.rig = Rig::new(mesh, bar.rig.skeleton().clone(), weights)?;
    cut.parts.clear();
    let color = |&(piece, _): &(usize, u32)| {
        if piece % 2 == 0 {
            LIGHT
        } else {
            DARK.lerp(LIGHT, 0.3)
        }
    };
    let colors = vertices.iter().map(color).collect();
    Ok((cut, colors))
}
