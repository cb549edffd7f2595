//! Surfaces by every method, kind of normals and instruction set.

use crate::bake::Bakes;
use crate::subject::{Subject, noise};
use glam::{Vec3, Vec4};
use std::sync::Arc;
use supple::arap::{ArapOptions, HandleSmoothing};
use supple::characters::Character;
use supple::deform::{
    AnimationSpaceWeights, Antipodality, BakedData, BufferOffset, CentersOfRotation, DeltaMush,
    DirectDeltaMush, DualQuaternionIntrinsic, InstructionSet, LocalFrames, MatrixWeights,
    MushVariant, NormalFormat, PoseStream, TangentFormat, VertexBuffer, VertexBuffers,
    VertexStream,
};
use supple::mush::MushOptions;
use supple::{Method, Normals, Output, Palette, Skin, Workspace};
use supple_pins::{Bits, Numbers, Pins};

/// The instruction sets to run on.
#[derive(Clone, Copy)]
pub enum Sets {
    All,
    Best,
}

impl Sets {
    /// Gradients are followed one vertex at a time on any set.
    fn for_normals(self, normals: Normals) -> Vec<InstructionSet> {
        match (self, normals) {
            (Sets::All, Normals::Gradient) => vec![InstructionSet::Plain, InstructionSet::best()],
            (Sets::All, _) => InstructionSet::available().collect(),
            (Sets::Best, _) => vec![InstructionSet::best()],
        }
    }
}

/// The name of a set, which tells what its arithmetic is: the baseline of ARM is not that of x86.
fn label(set: InstructionSet) -> String {
    match set {
        InstructionSet::Baseline if cfg!(target_arch = "aarch64") => "NEON".to_owned(),
        set => set.to_string(),
    }
}

pub fn pin(pins: &mut Pins, subject: &Subject, bakes: &Bakes, sets: Sets) {
    let palettes = subject.palettes();
    for method in Method::ALL {
        let baked = bakes.data();
        for normals in Normals::ALL {
            let skin = Skin::bake_with(subject.rig(), method, normals, &baked).unwrap();
            let name = subject.name(format!("deform/{method}/{normals}"));
            pin_surfaces(pins, &name, &skin, &palettes, sets);
            if normals == Normals::Transported {
                pin_streams(pins, &name, &skin, &palettes);
                pin_crowd(pins, &name, &skin, &palettes, subject);
            }
        }
    }
    for (name, method, baked) in more_methods(subject, bakes) {
        let skin = Skin::bake_with(subject.rig(), &method, Normals::Transported, &baked).unwrap();
        let name = subject.name(format!("deform/{name}"));
        pin_surfaces(pins, &name, &skin, &palettes, sets);
    }
    pin_buffers(pins, subject, &palettes[..2]);
    let v1 = direct_delta_mush(MushVariant::V1);
    let baked = bakes.data();
    let skin = Skin::bake_with(subject.rig(), &v1, Normals::Transported, &baked).unwrap();
    let inverted: Vec<_> = palettes
        .iter()
        .map(|palette| skin.inverted(palette, &mut Workspace::default()).unwrap())
        .collect();
    pins.pin(subject.name("deform/ddm-v1/inverted"), &inverted);
}

fn direct_delta_mush(variant: MushVariant) -> Method {
    Method::DirectDeltaMush(DirectDeltaMush {
        variant,
        ..DirectDeltaMush::default()
    })
}

/// Options of `arap` that are not the defaults, as the command writes them.
fn arap_options() -> [(&'static str, ArapOptions); 7] {
    let usual = ArapOptions::default;
    let smoothed = |smoothing| ArapOptions {
        smoothing,
        ..usual()
    };
    [
        (
            "1",
            ArapOptions {
                iterations: 1,
                ..usual()
            },
        ),
        (
            "8:l=0.9",
            ArapOptions {
                iterations: 8,
                threshold: 0.9,
                ..usual()
            },
        ),
        (
            "strict",
            ArapOptions {
                every_handle: false,
                ..usual()
            },
        ),
        ("plain", smoothed(HandleSmoothing::Plain)),
        ("unsmoothed", smoothed(HandleSmoothing::None)),
        (
            "tolerance=0.001",
            ArapOptions {
                iterations: 100,
                tolerance: 0.001,
                ..usual()
            },
        ),
        (
            "follow",
            ArapOptions {
                follow: true,
                ..usual()
            },
        ),
    ]
}

/// Methods with options or data that are not their defaults.
fn more_methods(subject: &Subject, bakes: &Bakes) -> Vec<(String, Method, BakedData)> {
    let rig = subject.rig();
    let vertices = 0..rig.mesh().vertex_count();
    let mut methods: Vec<(String, Method, BakedData)> = [
        "dual-quaternion:per-joint",
        "linear-dual-blend:0",
        "linear-dual-blend:0.25",
        "linear-dual-blend:1",
        "delta-mush:best-fit",
    ]
    .map(|text| (text.to_owned(), text.parse().unwrap(), bakes.data()))
    .into();
    let of_arap = arap_options().map(|(name, options)| {
        let method = Method::Arap(options);
        (format!("arap:{name}"), method, bakes.data())
    });
    methods.extend(of_arap);
    for variant in MushVariant::ALL {
        let name = format!("ddm-rigid/{variant:?}").to_lowercase();
        let baked = BakedData {
            mush: Some(bakes.rigid.clone()),
            ..BakedData::default()
        };
        methods.push((name, direct_delta_mush(variant), baked));
    }
    let per_joint = CentersOfRotation {
        antipodality: Antipodality::PerJoint,
        ..CentersOfRotation::default()
    };
    let rigid_mush = |frames: LocalFrames| {
        let smoothing = MushOptions {
            rigid: true,
            ..MushOptions::default()
        };
        Method::DeltaMush(DeltaMush { smoothing, frames })
    };
    let few_steps = DualQuaternionIntrinsic {
        tolerance: 1e-3,
        most_steps: 2,
    };
    let share = |vertex: usize| 1.5 * noise(vertex) - 0.25;
    let shares = vertices.clone().map(share).collect();
    let influences = rig.weights().influence_count();
    let along = (0..influences).map(noise).collect();
    let mut animation_space = AnimationSpaceWeights::default();
    let mut multi_weight = MatrixWeights::default();
    let (linear_four, linear_twelve) = (
        AnimationSpaceWeights::linear(rig),
        MatrixWeights::linear(rig),
    );
    for vertex in vertices {
        let learned = |weight: f32, at: usize| weight * (0.9 + 0.2 * noise(13 * vertex + at));
        let row = linear_four.of(vertex);
        animation_space.push(row.map(|(joint, [x, y, z, share])| {
            (joint, [learned(x, 0), learned(y, 1), learned(z, 2), share])
        }));
        let row = linear_twelve.of(vertex);
        multi_weight
            .push(row.map(|(joint, row)| (joint, std::array::from_fn(|at| learned(row[at], at)))));
    }
    let baked = BakedData {
        animation_space: Some(Arc::new(animation_space)),
        multi_weight: Some(Arc::new(multi_weight)),
        endpoint_weights: Some(along),
        dual_shares: Some(shares),
        ..bakes.data()
    };
    let named = [
        ("cor:per-joint", Method::CentersOfRotation(per_joint)),
        ("delta-mush-rigid", rigid_mush(LocalFrames::Tangent)),
        (
            "delta-mush-rigid:best-fit",
            rigid_mush(LocalFrames::BestFit),
        ),
        (
            "dual-quaternion-intrinsic/few-steps",
            Method::DualQuaternionIntrinsic(few_steps),
        ),
        (
            "linear-dual-blend/per-vertex",
            Method::LinearDualBlend(Default::default()),
        ),
        ("stretch-twist/endpoints", Method::StretchTwist),
        ("animation-space/learned", Method::AnimationSpace),
        ("multi-weight/learned", Method::MultiWeight),
    ];
    methods.extend(named.map(|(name, method)| (name.to_owned(), method, baked.clone())));
    methods
}

/// Positions, normals and tangents of some instances; `None` if the method refuses a pose.
fn surface(
    skin: &Skin,
    palettes: &[Palette],
    workspace: &mut Workspace,
) -> Option<impl Bits + use<>> {
    let vertices = palettes.len() * skin.vertex_count();
    let mut positions = vec![Vec3::NAN; vertices];
    let mut normals = vec![Vec3::NAN; vertices];
    let mut tangents = vec![Vec4::NAN; vertices];
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: Some(&mut tangents),
    };
    let outcome = skin.deform_crowd(palettes, workspace, output);
    outcome.ok().map(|()| (positions, normals, tangents))
}

/// All poses one after the other, on each instruction set.
fn pin_surfaces(pins: &mut Pins, name: &str, skin: &Skin, palettes: &[Palette], sets: Sets) {
    for set in sets.for_normals(skin.normals()) {
        let skin = skin.clone().on(set);
        let mut workspace = Workspace::default();
        let surfaces: Vec<_> = palettes
            .iter()
            .map(|palette| surface(&skin, std::slice::from_ref(palette), &mut workspace))
            .collect();
        pins.pin_on(label(set), name, &surfaces);
    }
}

/// Enough instances of one character to be shared out to threads.
fn pin_crowd(pins: &mut Pins, name: &str, skin: &Skin, palettes: &[Palette], subject: &Subject) {
    if subject.character != Character::Bar {
        return;
    }
    let crowd: Vec<Palette> = palettes[..2].iter().cycle().take(9).cloned().collect();
    let surface = surface(skin, &crowd, &mut Workspace::default());
    pins.pin_on(
        label(skin.instructions()),
        format!("{name}/crowd"),
        &surface,
    );
}

/// The streams for vertex loops on other backends.
fn pin_streams(pins: &mut Pins, name: &str, skin: &Skin, palettes: &[Palette]) {
    let Some(layout) = skin.stream_layout() else {
        return;
    };
    let vertices = (0..skin.vertex_count()).map(|vertex| {
        let mut stream = VertexStream::default();
        skin.stream_vertex(vertex, &mut stream);
        (stream.influences, stream.numbers, stream.influence_numbers)
    });
    let vertices: Vec<_> = vertices.collect();
    let mut workspace = Workspace::default();
    let poses = palettes.iter().map(|palette| {
        let mut stream = PoseStream::default();
        let outcome = skin.stream_pose(palette, &mut workspace, &mut stream);
        outcome.ok().map(|()| {
            let stretches = stream.stretches.iter().map(|map| map.to_array());
            let stretches: Vec<_> = stretches.collect();
            (stream.factors, stretches, stream.joints, stream.shared)
        })
    });
    let poses: Vec<_> = poses.collect();
    let baked = (skin.stream_table(), vertices);
    pins.pin(format!("{name}/stream/baked"), &(baked, Numbers(&layout)));
    pins.pin(format!("{name}/stream/poses"), &poses);
    let smoothing = skin.stream_smoothing();
    if let Some(smoothing) = smoothing {
        pins.pin(format!("{name}/stream/smoothing"), &Numbers(&smoothing));
    }
}

/// Vertex buffers with every format of normals and tangents.
fn pin_buffers(pins: &mut Pins, subject: &Subject, palettes: &[Palette]) {
    let skin = Skin::bake(subject.rig(), &Method::Linear, Normals::Transported).unwrap();
    let skin = skin.on(InstructionSet::Plain);
    let count = palettes.len() * skin.vertex_count();
    let normals = [
        NormalFormat::Float32,
        NormalFormat::Snorm16,
        NormalFormat::Snorm8,
        NormalFormat::Octahedral16,
    ];
    let tangents = [
        TangentFormat::Float32,
        TangentFormat::Snorm16,
        TangentFormat::Snorm8,
    ];
    let mut all = Vec::new();
    for normal in normals {
        for tangent in tangents {
            let stride = 12 + normal.bytes() + tangent.bytes();
            let mut bytes = vec![0; stride * count];
            let at = |offset: usize| BufferOffset { buffer: 0, offset };
            let buffers = VertexBuffers {
                buffers: &mut [VertexBuffer {
                    bytes: &mut bytes,
                    stride,
                }],
                position: at(0),
                normal: Some((at(12), normal)),
                tangent: Some((at(12 + normal.bytes()), tangent)),
            };
            skin.deform_into_buffers(palettes, &mut Workspace::default(), buffers)
                .unwrap();
            all.push(bytes);
        }
    }
    pins.pin(subject.name("deform/linear/buffers"), &all);
}
