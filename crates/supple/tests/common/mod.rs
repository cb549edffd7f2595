//! Random rigs and poses, and what every test over methods does with them.

#![allow(dead_code, reason = "no test uses all of it")]

use glam::{DAffine3, DQuat, DVec3, Vec3};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::{self, Debug};
use std::sync::LazyLock;
use supple::centers::CenterOptions;
use supple::deform::{
    Antipodality, BakedData, CentersOfRotation, DeformError, DualQuaternion, InstructionSet,
};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Affine, Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Normals, Output, Palette, Rig, Skin, Workspace};

pub fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
}

pub fn rotation(largest_angle: f64) -> impl Strategy<Value = DQuat> {
    (vector(1.0), -largest_angle..largest_angle).prop_map(|(axis, angle)| {
        let axis = axis.try_normalize().unwrap_or(DVec3::Z);
        DQuat::from_axis_angle(axis, angle)
    })
}

pub fn rigid(largest_angle: f64) -> impl Strategy<Value = DAffine3> {
    let parts = (rotation(largest_angle), vector(2.0));
    parts.prop_map(|(rotation, translation)| {
        DAffine3::from_rotation_translation(rotation, translation)
    })
}

/// A forest of 1 to 12 joints, each turned, moved and scaled against its parent.
pub fn skeleton() -> impl Strategy<Value = Skeleton> {
    let scale = prop::array::uniform3(0.5..2.0).prop_map(DVec3::from_array);
    let joint = (any::<Index>(), 0..4, vector(1.0), rotation(3.0), scale);
    prop::collection::vec(joint, 1..12).prop_map(|joints| {
        let node = |(index, (parent, root, translation, rotation, scale)): (
            usize,
            (Index, i32, _, _, _),
        )| Node {
            name: String::new(),
            parent: (index > 0 && root > 0).then(|| parent.index(index)),
            rest: Local::Trs(Trs {
                translation,
                rotation,
                scale,
            }),
        };
        let nodes: Vec<Node> = joints.into_iter().enumerate().map(node).collect();
        let all: Vec<usize> = (0..nodes.len()).collect();
        Skeleton::bound_at_rest(nodes, &all).unwrap()
    })
}

/// The smallest random weight. Like the lower bound of every `f32` range in these tests, it is a
/// multiple of the spacing of floats below the upper bound: proptest's sampler panics now and then
/// when it isn't.
pub const LEAST_WEIGHT: f32 = 1.0 / 64.0;

/// A vertex: position, normal, and 1 to 10 influences.
pub type Vertex = (DVec3, DVec3, Vec<(Index, f32)>);

pub fn vertices(influences: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vertex>> {
    let normal = vector(1.0).prop_map(|normal| normal.try_normalize().unwrap_or(DVec3::X));
    let influences = prop::collection::vec((any::<Index>(), LEAST_WEIGHT..1.0), influences);
    prop::collection::vec((vector(3.0), normal, influences), 8..50)
}

/// A random surface on a skeleton. Triangles join neighbours in the list.
pub fn bind(skeleton: Skeleton, vertices: &[Vertex], copies: usize) -> Rig {
    let joints = skeleton.joints().len();
    let mut builder = WeightsBuilder::new(joints).unwrap();
    let all = || std::iter::repeat_n(vertices, copies).flatten();
    for (_, _, influences) in all() {
        let influences = influences
            .iter()
            .map(|(joint, weight)| (joint.index(joints), *weight));
        builder.push(influences, 0).unwrap();
    }
    let positions = all().map(|(position, ..)| position.as_vec3()).collect();
    let normals = all().map(|(_, normal, _)| normal.as_vec3()).collect();
    let triangles = (2..vertices.len() as u32)
        .map(|last| [last - 2, last - 1, last])
        .collect();
    let mesh = Mesh::new(positions, Some(normals), None, triangles).unwrap();
    Rig::new(mesh, skeleton, builder.finish().0).unwrap()
}

pub fn rig() -> impl Strategy<Value = Rig> {
    (skeleton(), vertices(1..11)).prop_map(|(skeleton, vertices)| bind(skeleton, &vertices, 1))
}

/// A rig and something for each of its joints.
pub fn posed_joints<T: std::fmt::Debug, S: Strategy<Value = T>>(
    rig: impl Strategy<Value = Rig>,
    joint: impl Fn() -> S,
) -> impl Strategy<Value = (Rig, Vec<T>)> {
    rig.prop_flat_map(move |rig| {
        let joints = rig.skeleton().joints().len();
        (Just(rig), prop::collection::vec(joint(), joints))
    })
}

/// A rig and a rigid motion for each of its joints.
pub fn posed_rig(largest_angle: f64) -> impl Strategy<Value = (Rig, Vec<DAffine3>)> {
    posed_joints(rig(), move || rigid(largest_angle))
}

/// Joints that stay near their sockets: each is turned against its parent, about itself, and
/// shifted as a motion of its own says.
pub fn in_sockets(rig: &Rig, own: &[DAffine3]) -> Vec<DAffine3> {
    let bones = rig.skeleton().bind_bones();
    let mut motions: Vec<DAffine3> = Vec::with_capacity(own.len());
    for ((joint, bone), own) in rig.skeleton().joints().iter().zip(bones).zip(own) {
        let head = DAffine3::from_translation(bone.head);
        let local = head * *own * head.inverse();
        motions.push(match joint.parent {
            Some(parent) => motions[parent] * local,
            None => local,
        });
    }
    motions
}

pub fn palette<'a>(posed_from_bind: impl IntoIterator<Item = &'a DAffine3>) -> Palette {
    Palette {
        posed_from_bind: posed_from_bind
            .into_iter()
            .map(|&map| Affine::from(map))
            .collect(),
    }
}

pub fn rest_palette(rig: &Rig) -> Palette {
    rig.skeleton().palette(&rig.skeleton().rest_pose()).unwrap()
}

/// Every method, with centers of rotation that are quick to have. What must hold, holds for any
/// centers; and over surfaces as small as these a grid in the space of weights would be nearly all
/// of the work.
pub static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    let quick = |method: &Method| match method {
        Method::CentersOfRotation(_) => Method::CentersOfRotation(CentersOfRotation {
            antipodality: Antipodality::PerVertex,
            centers: QUICK,
        }),
        Method::CorProcrustes(_) => Method::CorProcrustes(QUICK),
        other => other.clone(),
    };
    Method::ALL.iter().map(quick).collect()
});

/// So accurate that centers are summed directly.
pub const SUMMED_DIRECTLY: CenterOptions = CenterOptions {
    accuracy: 1e-9,
    ..CenterOptions::PAPER
};

/// The same over few, coarse pieces.
const QUICK: CenterOptions = CenterOptions {
    epsilon: 0.5,
    ..SUMMED_DIRECTLY
};

/// The methods whose blend does not depend on where the character stands. Log-matrix skinning takes
/// its logarithms at the identity, so it changes as the character turns: the flaw that the course
/// describes.
pub fn methods_that_follow() -> impl Iterator<Item = &'static Method> {
    let defaults = METHODS.iter();
    let defaults = defaults.filter(|method| **method != Method::LogMatrix);
    defaults.chain(SIGNS_PER_JOINT)
}

/// A method, or a method with baked data, by which a skin can be baked.
pub trait Bake: Debug + fmt::Display {
    fn bake(&self, rig: &Rig, normals: Normals) -> Result<Skin, DeformError>;
}

impl Bake for Method {
    fn bake(&self, rig: &Rig, normals: Normals) -> Result<Skin, DeformError> {
        Skin::bake(rig, self, normals)
    }
}

/// A method with data that it need not compute.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub method: Method,
    pub baked: BakedData,
}

impl Bake for Prepared {
    fn bake(&self, rig: &Rig, normals: Normals) -> Result<Skin, DeformError> {
        Skin::bake_with(rig, &self.method, normals, &self.baked)
    }
}

impl From<Method> for Prepared {
    fn from(method: Method) -> Prepared {
        Prepared {
            method,
            baked: BakedData::default(),
        }
    }
}

impl fmt::Display for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.method, formatter)
    }
}

/// The one option that decides something for all joints together.
pub const SIGNS_PER_JOINT: &[Method] = &[
    Method::DualQuaternion(DualQuaternion {
        antipodality: Antipodality::PerJoint,
    }),
    Method::CentersOfRotation(CentersOfRotation {
        antipodality: Antipodality::PerJoint,
        centers: QUICK,
    }),
];

/// The methods by which a vertex with one influence moves with that joint alone.
pub fn methods_that_look_at_one_joint() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|method| looks_at_one_joint(method))
}

pub fn looks_at_one_joint(method: &Method) -> bool {
    !looks_at_joints_around(method) && !looks_at_surface_around(method)
}

/// Bones that stretch and twist, and curves: following the joints around is their purpose.
pub fn looks_at_joints_around(method: &Method) -> bool {
    matches!(method, Method::StretchTwist | Method::Spline)
}

/// Delta mush and what is baked from it, where a vertex follows all that smoothing gathers around
/// it; and surfaces that are kept rigid.
pub fn looks_at_surface_around(method: &Method) -> bool {
    match method {
        Method::DeltaMush(_) | Method::DirectDeltaMush(_) => true,
        #[cfg(feature = "arap")]
        Method::Arap(_) => true,
        _ => false,
    }
}

#[derive(Debug, PartialEq)]
pub struct Surface {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

pub fn deform(rig: &Rig, method: &impl Bake, palette: &Palette) -> Surface {
    deform_skin(&bake(rig, method), palette)
}

pub fn bake(rig: &Rig, method: &impl Bake) -> Skin {
    bake_with(rig, method, Normals::Transported)
}

/// Bakes a skin for the instruction set that `SUPPLE_INSTRUCTIONS` names (as it prints: `plain`,
/// `AVX2`, …), or for the best one: `.ci/soak` tries them all.
pub fn bake_with(rig: &Rig, method: &impl Bake, normals: Normals) -> Skin {
    let skin = method.bake(rig, normals).unwrap();
    let Ok(name) = std::env::var("SUPPLE_INSTRUCTIONS") else {
        return skin;
    };
    let mut sets = InstructionSet::available();
    let set = sets.find(|set| set.to_string() == name);
    let problem = "the machine has the named instruction set";
    skin.on(set.ok_or(problem).unwrap())
}

pub fn deform_skin(skin: &Skin, palette: &Palette) -> Surface {
    let mut surface = Surface {
        positions: vec![Vec3::NAN; skin.vertex_count()],
        normals: vec![Vec3::NAN; skin.vertex_count()],
    };
    let output = Output {
        positions: &mut surface.positions,
        normals: Some(&mut surface.normals),
        tangents: None,
    };
    skin.deform(palette, &mut Workspace::default(), output)
        .unwrap();
    surface
}

/// The largest coordinate of some points: what roundings are relative to.
pub fn size<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> f64 {
    let largest = points.into_iter().map(|point| point.abs().max_element());
    f64::from(largest.fold(1.0, f32::max))
}

pub fn assert_close(
    method: &Method,
    found: &[Vec3],
    expected: impl Iterator<Item = DVec3>,
    tolerance: f64,
) -> Result<(), TestCaseError> {
    assert_each_close(method, found, expected, |_| tolerance)
}

/// With a tolerance for every vertex.
pub fn assert_each_close(
    method: &Method,
    found: &[Vec3],
    expected: impl Iterator<Item = DVec3>,
    tolerance: impl Fn(usize) -> f64,
) -> Result<(), TestCaseError> {
    for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = found.as_dvec3().distance(expected);
        prop_assert!(
            error <= tolerance(vertex),
            "{}, vertex {}: {} for {}, off by {:e}",
            method,
            vertex,
            found,
            expected,
            error
        );
    }
    Ok(())
}
