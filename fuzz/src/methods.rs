//! The target over skinning methods.

use crate::input::{Input, Range};
use crate::rigs;
use glam::{Vec3, Vec4};
use std::sync::Arc;
use supple::arap::{ArapOptions, HandleSmoothing};
use supple::centers::CenterOptions;
use supple::deform::{
    AnimationSpaceWeights, Antipodality, BakedData, BufferOffset, CentersOfRotation, DeltaMush,
    DirectDeltaMush, DualQuaternion, DualQuaternionIntrinsic, DualShare, InstructionSet,
    LinearDualBlend, LocalFrames, MatrixWeights, MushVariant, NormalFormat, PoseStream,
    TangentFormat, VertexBuffer, VertexBuffers, VertexStream,
};
use supple::mush::EdgeWeights;
use supple::mush::MushOptions;
use supple::mush::Steps;
use supple::{Method, Normals, Output, Palette, Rig, Skin, Weights, Workspace};

/// One method on a rig in some poses. Of moderate numbers it must make finite ones; of extreme ones
/// anything but a panic.
pub fn methods(data: &[u8]) {
    let mut input = Input::new(data);
    let method = method(&mut input);
    let normals = *input.pick(&Normals::ALL);
    let range = input.range();
    let Some(rig) = rigs::rig(&mut input, range) else {
        return;
    };
    for vertex in 0..rig.mesh().vertex_count() {
        check_row(rig.weights(), vertex);
    }
    let baked = learned_weights(&mut input, &rig, &method);
    let Ok(skin) = Skin::bake_with(&rig, &method, normals, &baked) else {
        return;
    };
    let sets: Vec<InstructionSet> = InstructionSet::available().collect();
    let skin = skin.on(*input.pick(&sets));
    let mut workspace = Workspace::default();
    let mut posed: Vec<(Palette, Surface)> = Vec::new();
    for _ in 0..1 + input.below(3) {
        let palette = rigs::palette(&mut input, rig.skeleton(), range);
        let Some(surface) = deform(&skin, &rig, &palette, &mut workspace) else {
            continue;
        };
        let finite = palette.posed_from_bind.iter();
        let mut finite = finite.map(|joint| joint.to_array().iter().all(|x| x.abs() < 1e6));
        if range == Range::Moderate && finite.all(|finite| finite) {
            surface.check_finite(&method);
        }
        let _ = skin.inverted(&palette, &mut workspace);
        posed.push((palette, surface));
    }
    // What is kept between frames may change the next one.
    if !matches!(method, Method::Arap(_)) {
        as_a_crowd(&skin, &posed, &mut workspace);
        if let Some((palette, surface)) = posed.last() {
            into_buffers(&mut input, &skin, palette, surface, &mut workspace);
        }
    }
    let palettes: Vec<&Palette> = posed.iter().map(|(palette, _)| palette).collect();
    as_streams(&skin, &palettes, &mut workspace);
}

/// All poses at once: bit for bit what each gives alone.
fn as_a_crowd(skin: &Skin, posed: &[(Palette, Surface)], workspace: &mut Workspace) {
    let palettes: Vec<Palette> = posed.iter().map(|(palette, _)| palette.clone()).collect();
    let count = palettes.len() * skin.vertex_count();
    let mut positions = vec![Vec3::ZERO; count];
    let mut normals = vec![Vec3::ZERO; count];
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: None,
    };
    let deformed = skin.deform_crowd(&palettes, workspace, output);
    deformed.expect("poses that each can be deformed to");
    let alone = posed.iter().flat_map(|(_, surface)| &surface.positions);
    assert!(same_bits(&positions, alone), "positions in a crowd");
    let alone = posed.iter().flat_map(|(_, surface)| &surface.normals);
    assert!(same_bits(&normals, alone), "normals in a crowd");
}

fn same_bits<'a>(found: &[Vec3], expected: impl Iterator<Item = &'a Vec3>) -> bool {
    // What a NaN holds besides depends on the order of operands, which compilers may choose.
    let bits = |vector: &Vec3| {
        let numbers = vector.to_array();
        numbers.map(|number| if number.is_nan() { f32::NAN } else { number }.to_bits())
    };
    found.iter().map(bits).eq(expected.map(bits))
}

/// Vertex buffers of any layout: refused, or the positions are there.
fn into_buffers(
    input: &mut Input,
    skin: &Skin,
    palette: &Palette,
    surface: &Surface,
    workspace: &mut Workspace,
) {
    let place = |input: &mut Input| BufferOffset {
        buffer: input.below(3),
        offset: match input.rarely(16) {
            true => input.word() as usize,
            false => input.below(40),
        },
    };
    let position = place(input);
    let normal = input.flag().then(|| {
        let formats = [
            NormalFormat::Float32,
            NormalFormat::Snorm16,
            NormalFormat::Snorm8,
            NormalFormat::Octahedral16,
        ];
        (place(input), *input.pick(&formats))
    });
    let tangent = input.flag().then(|| {
        let formats = [
            TangentFormat::Float32,
            TangentFormat::Snorm16,
            TangentFormat::Snorm8,
        ];
        (place(input), *input.pick(&formats))
    });
    let mut layouts: Vec<(usize, Vec<u8>)> = (0..1 + input.below(3))
        .map(|_| {
            let stride = match input.rarely(16) {
                true => input.word() as usize,
                false => input.below(64),
            };
            let bytes = match input.rarely(8) {
                true => input.below(256),
                false => skin.vertex_count() * stride.min(64) + input.below(8),
            };
            (stride, vec![0; bytes])
        })
        .collect();
    let mut buffers: Vec<VertexBuffer> = layouts
        .iter_mut()
        .map(|(stride, bytes)| VertexBuffer {
            bytes,
            stride: *stride,
        })
        .collect();
    let wanted = VertexBuffers {
        buffers: &mut buffers,
        position,
        normal,
        tangent,
    };
    let palettes = std::slice::from_ref(palette);
    if skin.deform_into_buffers(palettes, workspace, wanted).is_err() {
        return;
    }
    let (stride, bytes) = &layouts[position.buffer];
    for (vertex, expected) in surface.positions.iter().enumerate() {
        let at = vertex * stride + position.offset;
        let expected = expected.to_array().map(f32::to_le_bytes);
        assert_eq!(bytes[at..at + 12], *expected.as_flattened());
    }
}

/// The data that a GPU would be given have the sizes of their layout.
fn as_streams(skin: &Skin, palettes: &[&Palette], workspace: &mut Workspace) {
    skin.stream_table();
    skin.stream_smoothing();
    let mut of_vertex = VertexStream::default();
    let mut of_pose = PoseStream::default();
    let Some(layout) = skin.stream_layout() else {
        return;
    };
    for vertex in 0..skin.vertex_count() {
        skin.stream_vertex(vertex, &mut of_vertex);
        let influences = of_vertex.influences.len();
        assert_eq!(of_vertex.numbers.len(), layout.per_vertex);
        assert_eq!(
            of_vertex.influence_numbers.len(),
            influences * layout.per_influence
        );
    }
    for palette in palettes {
        let streamed = skin.stream_pose(palette, workspace, &mut of_pose);
        streamed.expect("a pose that can be deformed to");
        let joints = palette.posed_from_bind.len();
        assert_eq!(of_pose.joints.len(), joints * layout.per_joint);
        assert_eq!(of_pose.shared.len(), layout.shared);
    }
}

/// Checks the invariants of a row of weights.
pub fn check_row(weights: &Weights, vertex: usize) {
    let (joints, values) = weights.row(vertex);
    assert!(!joints.is_empty(), "vertex {vertex} follows nothing");
    assert!(values.iter().all(|&weight| weight > 0.0));
    assert_eq!(values.iter().sum::<f32>(), 1.0);
    for (pair, joints) in values.windows(2).zip(joints.windows(2)) {
        let ordered = pair[0] > pair[1] || (pair[0] == pair[1] && joints[0] < joints[1]);
        assert!(ordered, "vertex {vertex}: {joints:?} {pair:?}");
    }
}

struct Surface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
}

impl Surface {
    fn check_finite(&self, method: &Method) {
        for (vertex, position) in self.positions.iter().enumerate() {
            assert!(
                position.is_finite(),
                "{method}: vertex {vertex} at {position}"
            );
        }
        for (vertex, normal) in self.normals.iter().enumerate() {
            assert!(normal.is_finite(), "{method}: normal {vertex} is {normal}");
        }
        for (vertex, tangent) in self.tangents.iter().flatten().enumerate() {
            assert!(
                tangent.is_finite(),
                "{method}: tangent {vertex} is {tangent}"
            );
        }
    }
}

fn deform(skin: &Skin, rig: &Rig, palette: &Palette, space: &mut Workspace) -> Option<Surface> {
    let mesh = rig.mesh();
    let mut surface = Surface {
        positions: mesh.positions().to_vec(),
        normals: mesh.normals().to_vec(),
        tangents: mesh.tangents().map(<[Vec4]>::to_vec),
    };
    let output = Output {
        positions: &mut surface.positions,
        normals: Some(&mut surface.normals),
        tangents: surface.tangents.as_deref_mut(),
    };
    skin.deform(palette, space, output).ok()?;
    Some(surface)
}

/// A method with options, those of another target as well.
pub fn method(input: &mut Input) -> Method {
    let method = input.pick(Method::ALL);
    match method {
        Method::DualQuaternion(_) if input.flag() => Method::DualQuaternion(DualQuaternion {
            antipodality: Antipodality::PerJoint,
        }),
        Method::DualQuaternionIntrinsic(_) if input.flag() => {
            Method::DualQuaternionIntrinsic(DualQuaternionIntrinsic {
                tolerance: f64::from(input.number(Range::Extreme)),
                most_steps: input.below(60) as u32,
            })
        }
        Method::LinearDualBlend(_) => Method::LinearDualBlend(LinearDualBlend {
            dual: match input.flag() {
                true => DualShare::AsPainted,
                false => DualShare::Everywhere(input.number(Range::Moderate)),
            },
        }),
        Method::CentersOfRotation(_) => Method::CentersOfRotation(CentersOfRotation {
            antipodality: *input.pick(&[Antipodality::PerVertex, Antipodality::PerJoint]),
            centers: center_options(input),
        }),
        Method::CorProcrustes(_) => Method::CorProcrustes(center_options(input)),
        Method::DeltaMush(_) => Method::DeltaMush(DeltaMush {
            smoothing: mush_options(input),
            frames: *input.pick(&[LocalFrames::Tangent, LocalFrames::BestFit]),
        }),
        Method::DirectDeltaMush(_) => Method::DirectDeltaMush(DirectDeltaMush {
            variant: *input.pick(&MushVariant::ALL),
            smoothing: mush_options(input),
        }),
        Method::Arap(_) => Method::Arap(ArapOptions {
            iterations: input.below(5),
            threshold: f64::from(input.byte()) / 200.0,
            every_handle: input.flag(),
            tolerance: f64::from(input.below(2) as u32) * 1e-3,
            smoothing: *input.pick(&[
                HandleSmoothing::Detailed,
                HandleSmoothing::Plain,
                HandleSmoothing::None,
            ]),
            follow: input.flag(),
        }),
        other => other.clone(),
    }
}

/// Mostly those by which centers are summed directly, which is quick for surfaces as small as
/// these.
fn center_options(input: &mut Input) -> CenterOptions {
    match input.below(8) {
        0 => CenterOptions::PAPER,
        1 => CenterOptions {
            sigma: f64::from(input.number(Range::Extreme)),
            epsilon: f64::from(input.number(Range::Extreme)),
            accuracy: f64::from(input.number(Range::Extreme)),
        },
        _ => CenterOptions {
            epsilon: 0.5,
            accuracy: 1e-9,
            ..CenterOptions::PAPER
        },
    }
}

fn mush_options(input: &mut Input) -> MushOptions {
    MushOptions {
        iterations: input.below(24) as u32,
        lambda: f64::from(input.byte()) / 16.0,
        kappa: f64::from(input.byte()) / 32.0,
        alpha: f64::from(input.byte()) / 256.0,
        edge_weights: *input.pick(&[EdgeWeights::Uniform, EdgeWeights::Cotangent]),
        steps: *input.pick(&[Steps::Implicit, Steps::Explicit]),
        radius_from_bones: input.flag(),
        rigid: input.flag(),
        max_influences: input.flag().then(|| input.below(5)),
        prune: f64::from(input.below(4) as u32) * 1e-3,
        alpha_at_joints: match input.rarely(4) {
            true => vec![(input.below(4), f64::from(input.byte()) / 255.0)],
            false => Vec::new(),
        },
    }
}

/// Numbers that nobody learned, for methods that take learned ones.
fn learned_weights(input: &mut Input, rig: &Rig, method: &Method) -> BakedData {
    let mut baked = BakedData::default();
    if !input.flag() {
        return baked;
    }
    let joints = rig.skeleton().joints().len() + usize::from(input.rarely(16));
    let vertices = rig.mesh().vertex_count() + usize::from(input.rarely(16));
    match method {
        Method::AnimationSpace => {
            let mut weights = AnimationSpaceWeights::default();
            for _ in 0..vertices {
                let row: Vec<(u16, [f32; 4])> = (0..input.below(4))
                    .map(|_| {
                        let joint = input.below(joints) as u16;
                        (joint, [0; 4].map(|_| input.number(Range::Moderate)))
                    })
                    .collect();
                weights.push(row);
            }
            baked.animation_space = Some(Arc::new(weights));
        }
        Method::MultiWeight => {
            let mut weights = MatrixWeights::default();
            for _ in 0..vertices {
                let row: Vec<(u16, [f32; 12])> = (0..input.below(4))
                    .map(|_| {
                        let joint = input.below(joints) as u16;
                        (joint, [0; 12].map(|_| input.number(Range::Moderate)))
                    })
                    .collect();
                weights.push(row);
            }
            baked.multi_weight = Some(Arc::new(weights));
        }
        Method::StretchTwist => {
            let influences = (0..rig.mesh().vertex_count()).map(|vertex| rig.weights().of(vertex));
            let influences: usize = influences.map(|influences| influences.len()).sum();
            let count = influences + usize::from(input.rarely(16));
            let along = (0..count).map(|_| input.number(Range::Moderate));
            baked.endpoint_weights = Some(along.collect());
        }
        Method::LinearDualBlend(_) => {
            let shares = (0..vertices).map(|_| input.number(Range::Moderate));
            baked.dual_shares = Some(shares.collect());
        }
        _ => {}
    }
    baked
}
