//! The target over skinning methods.

use crate::input::{Input, Range};
use crate::rigs;
use glam::{Vec3, Vec4};
use std::sync::Arc;
use supple::arap::{ArapOptions, HandleSmoothing};
use supple::centers::CenterOptions;
use supple::deform::{
    AnimationSpaceWeights, Antipodality, BakedData, CentersOfRotation, DeltaMush,
    DirectDeltaMush, DualQuaternion, InstructionSet, LocalFrames, MatrixWeights,
    MushVariant,
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

fn method(input: &mut Input) -> Method {
    let method = input.pick(Method::ALL);
    match method {
        Method::DualQuaternion(_) if input.flag() => Method::DualQuaternion(DualQuaternion {
            antipodality: Antipodality::PerJoint,
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
        _ => {}
    }
    baked
}
