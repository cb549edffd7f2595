//! What is computed once per character: centers of rotation, direct delta mush, twist joints, point
//! handles, surfaces that stay rigid.

use crate::subject::{Subject, noise, rows};
use glam::DVec3;
use std::sync::Arc;
use supple::arap::{
    Arap, ArapOptions, ArapState, HandleSmoothing, RotationMean, handle_palette, turns,
};
use supple::bind::BindMethod;
use supple::centers::{self, CenterOptions, Centers, LiveCenters};
use supple::characters::Character;
use supple::deform::BakedData;
use supple::edit::{Edit, EditRegion, Editor, Paint};
use supple::mush::EdgeWeights;
use supple::mush::Steps;
use supple::mush::{ALPHA_SHARE, Baked, KAPPA_SHARE, LAMBDA_SHARE, Mush, MushOptions};
use supple::point_handles::{HandleKind, HandleOptions, ShapeDiameter, place_handles};
use supple::twist::{TwistOf, TwistOptions, split};
use supple::{Rig, Weights};
use supple_pins::{Bits, Numbers, Pins};

/// Data shared by several methods.
pub struct Bakes {
    pub centers: Arc<Centers>,
    /// From the weights as they are.
    pub painted: Arc<Mush>,
    /// From the heaviest joint of each vertex alone.
    pub rigid: Arc<Mush>,
}

impl Bakes {
    /// Data that methods use instead of computing them again.
    pub fn data(&self) -> BakedData {
        BakedData {
            centers: Some(self.centers.clone()),
            mush: Some(self.painted.clone()),
            ..BakedData::default()
        }
    }
}

pub fn pin(pins: &mut Pins, subject: &Subject) -> Bakes {
    pin_weights(pins, subject);
    pin_twist(pins, subject);
    pin_handles(pins, subject);
    pin_arap(pins, subject);
    let centers = Arc::new(pin_centers(pins, subject));
    let [painted, rigid] = pin_mush(pins, subject).map(Arc::new);
    Bakes {
        centers,
        painted,
        rigid,
    }
}

fn pin_weights(pins: &mut Pins, subject: &Subject) {
    let weights = subject.rig().weights();
    let made: [(&str, Weights); 3] = [
        ("16-bits", weights.in_16_bits()),
        ("limited", weights.limited(2)),
        ("heaviest", weights.heaviest_only()),
    ];
    for (name, made) in made {
        pins.pin(subject.name(format!("weights/{name}")), &rows(&made));
    }
}

fn pin_centers(pins: &mut Pins, subject: &Subject) -> Centers {
    let (mesh, weights) = (subject.rig().mesh(), subject.rig().weights());
    let paper = CenterOptions::PAPER;
    let coarse = CenterOptions {
        sigma: 0.2,
        epsilon: 0.5,
        accuracy: 1e-4,
    };
    let baked = Centers::bake(mesh, weights, &paper).unwrap();
    pins.pin(subject.name("centers/fast"), baked.points());
    let coarsely = Centers::bake(mesh, weights, &coarse).unwrap();
    pins.pin(subject.name("centers/coarse"), coarsely.points());
    let exact = centers::exact(mesh, weights, &coarse).unwrap();
    pins.pin(subject.name("centers/exact"), &exact);
    let carried: Vec<_> = subject
        .palettes()
        .iter()
        .map(|palette| baked.carried(weights, palette).unwrap())
        .collect();
    pins.pin(subject.name("centers/carried"), &carried);
    let places = baked.points_or_places(mesh);
    pins.pin(subject.name("centers/places"), &places);
    pins.pin(
        subject.name("centers/fingerprint"),
        &paper.fingerprint(subject.rig()),
    );
    // A change of weights, followed and taken back.
    let mut live = LiveCenters::new(mesh, weights, &paper).unwrap();
    let scale = Edit::Flood(Paint::Scale {
        joint: 1,
        factor: 0.5,
    });
    let region = EditRegion::Vertices((0..200).collect());
    let editor = Editor::new(subject.rig());
    let change = editor.apply(weights, &scale, &region).unwrap();
    let edited = change.redo(weights).unwrap();
    let changed: Vec<usize> = change.vertices().iter().map(|&v| v as usize).collect();
    let mut strokes = Vec::new();
    for weights in [&edited, weights] {
        let touched = live.update(weights, &changed).unwrap();
        strokes.push((touched, live.centers().points().to_vec()));
    }
    pins.pin(subject.name("centers/live"), &strokes);
    baked
}

fn pin_mush(pins: &mut Pins, subject: &Subject) -> [Mush; 2] {
    let usual = MushOptions::default();
    let rigid = MushOptions {
        rigid: true,
        ..usual.clone()
    };
    let explicit = MushOptions {
        iterations: 8,
        lambda: 0.5,
        edge_weights: EdgeWeights::Cotangent,
        steps: Steps::Explicit,
        radius_from_bones: false,
        max_influences: Some(3),
        alpha_at_joints: vec![(1, 0.25)],
        ..usual.clone()
    };
    let mut bake = |name: &str, rig: &Rig, options: &MushOptions| {
        let baked = Mush::bake(rig, options).unwrap();
        pins.pin(subject.name(format!("mush/{name}")), &mush(&baked));
        let (mesh, skeleton, weights) = (rig.mesh(), rig.skeleton(), rig.weights());
        let fingerprint = options.fingerprint(mesh, skeleton, weights, |_, joint| joint);
        pins.pin(
            subject.name(format!("mush/{name}/fingerprint")),
            &fingerprint.unwrap(),
        );
        baked.mush
    };
    if subject.character == Character::Arm {
        bake("explicit", subject.rig(), &explicit);
        bake(
            "painted-shares",
            &with_painted_shares(subject.rig()),
            &usual,
        );
    }
    [
        bake("usual", subject.rig(), &usual),
        bake("rigid", subject.rig(), &rigid),
    ]
}

fn mush(Baked { mush, connections }: &Baked) -> impl Bits + use<> {
    let parts = |vertex: usize| {
        let parts = mush.parts(vertex).iter();
        let parts = parts.map(|part| (part.rotation_weight, part.lever, part.moments));
        parts.collect::<Vec<_>>()
    };
    let vertices = 0..mush.centers().len();
    let connections = (
        connections.pieces,
        connections.pieces_left,
        connections.links,
    );
    (
        rows(mush.weights()),
        mush.centers().to_vec(),
        vertices.map(parts).collect::<Vec<_>>(),
        connections,
    )
}

fn with_painted_shares(rig: &Rig) -> Rig {
    let mut mesh = rig.mesh().clone();
    for (at, name) in [LAMBDA_SHARE, KAPPA_SHARE, ALPHA_SHARE].iter().enumerate() {
        let vertices = 0..mesh.vertex_count();
        let shares = vertices.map(|vertex| (vertex % 7 != 0).then(|| noise(3 * vertex + at)));
        mesh = mesh.with_painted(name, shares.collect()).unwrap();
    }
    Rig::new(mesh, rig.skeleton().clone(), rig.weights().clone()).unwrap()
}

/// The first joint that can be split, by either twist.
fn pin_twist(pins: &mut Pins, subject: &Subject) {
    let joints = 0..subject.skeleton().joints().len();
    for twist_of in [None, Some(TwistOf::Child), Some(TwistOf::Joint)] {
        let options = TwistOptions {
            twist_of,
            ..TwistOptions::default()
        };
        let mut joints = joints.clone();
        let twisted = joints.find_map(|joint| split(&subject.asset, joint, &options).ok());
        let Some(twisted) = twisted else {
            continue;
        };
        let kind = twist_of.map_or("found".to_owned(), |of| format!("{of:?}").to_lowercase());
        let name = |what: &str| subject.name(format!("twist/{kind}/{what}"));
        pins.pin(name("added"), &Numbers(&twisted.added));
        pins.pin(name("weights"), &rows(twisted.asset.rig.weights()));
        pins.pin(name("skeleton"), &Numbers(twisted.asset.rig.skeleton()));
        pins.pin(name("clips"), &Numbers(&twisted.asset.clips));
        let skeleton = twisted.asset.rig.skeleton();
        let clip = &twisted.asset.clips[0];
        let mut pose = twisted.asset.pose_at(clip, 0.5 * clip.duration());
        twisted.added.follow(skeleton, &mut pose);
        let turned = pose.locals[twisted.added.node].rotation();
        pins.pin(name("follow"), &turned);
    }
}

fn pin_handles(pins: &mut Pins, subject: &Subject) {
    let mesh = subject.rig().mesh();
    let diameter = ShapeDiameter::of(mesh);
    pins.pin(
        subject.name("handles/thickness"),
        &(diameter.of_vertices(), diameter.of_triangles()),
    );
    let few = HandleOptions {
        clusters: Some(2),
        count: Some(6),
        ends: false,
        ..HandleOptions::default()
    };
    for (name, options) in [("usual", HandleOptions::default()), ("few", few)] {
        if name == "few" && subject.character == Character::Figure {
            continue; // takes long
        }
        let Ok(placed) = place_handles(mesh, &options) else {
            continue;
        };
        let kind = |kind: &HandleKind| match kind {
            HandleKind::Between => 0u8,
            HandleKind::End => 1,
            HandleKind::Along => 2,
            HandleKind::Given => 3,
        };
        let kinds: Vec<u8> = placed.kinds.iter().map(kind).collect();
        let name = |what: &str| subject.name(format!("handles/{name}/{what}"));
        let found = (placed.places.clone(), kinds, placed.edges.clone());
        pins.pin(name("placed"), &found);
        pins.pin(name("segments"), &Numbers(&placed.segments));
        pins.pin(name("report"), &Numbers(&placed.report));
        let moved: Vec<DVec3> = placed
            .places
            .iter()
            .enumerate()
            .map(|(at, place)| *place + 0.1 * DVec3::splat(f64::from(noise(at))))
            .collect();
        for mean in [RotationMean::Recursion, RotationMean::Eigenvector] {
            let turned = turns(&placed.places, &moved, &placed.edges, mean).unwrap();
            let kind = format!("turns/{mean:?}").to_lowercase();
            pins.pin(name(&kind), &turned);
        }
        if options.count.is_none() {
            continue;
        }
        let heat = BindMethod::Heat(Default::default());
        let bound = placed.bind(mesh, &heat, &|_| {}).unwrap();
        pins.pin(name("weights"), &rows(&bound.weights));
        let turned = turns(
            &placed.places,
            &moved,
            &placed.edges,
            RotationMean::default(),
        );
        let palette = handle_palette(&placed.places, &moved, &turned.unwrap()).unwrap();
        let handles = placed.places.len();
        let arap = Arap::of(mesh, &bound.weights, handles, &ArapOptions::default()).unwrap();
        let mut positions = mesh.positions().to_vec();
        arap.deform(&palette, &mut ArapState::default(), &mut positions)
            .unwrap();
        pins.pin(name("arap"), &positions);
    }
}

fn pin_arap(pins: &mut Pins, subject: &Subject) {
    let options = ArapOptions {
        iterations: 4,
        smoothing: HandleSmoothing::Detailed,
        follow: true,
        ..ArapOptions::default()
    };
    let mut arap = Arap::new(subject.rig(), &options).unwrap();
    let palettes = subject.palettes();
    let mut state = ArapState::default();
    let energies = arap.energies(&palettes[0], &mut state).unwrap();
    pins.pin(subject.name("arap/energies"), &energies);
    // Frames that follow each other, then one with a handle switched off.
    let mut frames = Vec::new();
    state = ArapState::default();
    for palette in &palettes {
        let mut positions = subject.rig().mesh().positions().to_vec();
        arap.deform(palette, &mut state, &mut positions).unwrap();
        frames.push(positions);
    }
    arap.set_active(1, false).unwrap();
    let mut positions = subject.rig().mesh().positions().to_vec();
    arap.deform(&palettes[0], &mut state, &mut positions)
        .unwrap();
    frames.push(positions);
    pins.pin(subject.name("arap/frames"), &frames);
    pins.pin(subject.name("arap/report"), &Numbers(&arap.report()));
}
