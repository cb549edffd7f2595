//! Small random characters: surfaces that no modeller would make, on skeletons that no rigger
//! would.

use crate::input::{Input, Range};
use glam::{DAffine3, DVec3, Vec3};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple::mesh::Part;
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Affine, Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Asset, Mesh, Palette, Pose, Rig, Weights};

/// At most so many of each, so that an input takes a fraction of a millisecond.
const VERTICES: usize = 16;
const TRIANGLES: usize = 24;
const NODES: usize = 6;

/// A surface: a soup of triangles, or a closed or open tube that may be dented.
pub fn mesh(input: &mut Input, range: Range) -> Option<Mesh> {
    let (mut positions, mut triangles) = match input.below(3) {
        0 => (Vec::new(), Vec::new()),
        1 => tube(3, 3, true),
        _ => tube(4, 2, input.flag()),
    };
    let added = match positions.is_empty() {
        true => 1 + input.below(VERTICES),
        false => input.below(4),
    };
    for _ in 0..added {
        let place = match (positions.len(), input.below(4)) {
            (count @ 1.., 0) => positions[input.below(count)],
            _ => input.vector(range),
        };
        positions.push(place);
    }
    for _ in 0..input.below(4) {
        let dented = input.below(positions.len());
        positions[dented] = input.vector(range);
    }
    let added = match triangles.is_empty() {
        true => input.below(TRIANGLES + 1),
        false => input.below(4),
    };
    for _ in 0..added {
        triangles.push([0; 3].map(|_| input.below(positions.len()) as u32));
    }
    if input.rarely(8) {
        let scale = input.number(range);
        positions.iter_mut().for_each(|place| *place *= scale);
    }
    let normals = input.flag().then(|| {
        let normals = positions.iter().map(|_| input.vector(range));
        normals.collect()
    });
    let tangents = input.rarely(4).then(|| {
        let side = |flag| if flag { 1.0 } else { -1.0 };
        let tangents = positions.iter();
        let tangents = tangents.map(|_| input.vector(range).extend(side(input.flag())));
        tangents.collect()
    });
    Mesh::new(positions, normals, tangents, triangles).ok()
}

/// A tube along y, from 0 to 2, with or without lids.
fn tube(sides: u32, rings: u32, closed: bool) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for ring in 0..rings {
        for side in 0..sides {
            let angle = std::f32::consts::TAU * side as f32 / sides as f32;
            let height = 2.0 * ring as f32 / (rings - 1) as f32;
            positions.push(Vec3::new(angle.cos() / 2.0, height, angle.sin() / 2.0));
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for side in 0..sides {
            let [a, b] = [side, (side + 1) % sides].map(|side| ring * sides + side);
            triangles.extend([[a, a + sides, b], [b, a + sides, b + sides]]);
        }
    }
    if closed {
        let top = (rings - 1) * sides;
        for side in 2..sides {
            triangles.push([0, side - 1, side]);
            triangles.push([top, top + side, top + side - 1]);
        }
    }
    (positions, triangles)
}

pub fn local(input: &mut Input, range: Range) -> Local {
    let translation = input.wide_vector(range);
    if input.rarely(4) {
        let matrix3 = input.linear(range);
        return Local::Matrix(DAffine3 {
            matrix3,
            translation,
        });
    }
    let scale = match input.below(6) {
        0..4 => DVec3::ONE,
        4 => DVec3::splat(f64::from(input.number(range))),
        _ => input.wide_vector(range),
    };
    Local::Trs(Trs {
        translation,
        rotation: input.rotation(),
        scale,
    })
}

/// A forest of nodes, most of them joints, bound at rest or anyhow.
pub fn skeleton(input: &mut Input, range: Range) -> Option<Skeleton> {
    let names = ["", "arm.L", "arm.R", "spine", "arm_twist", "root"];
    let count = 1 + input.below(NODES);
    let mut nodes: Vec<Node> = Vec::with_capacity(count);
    for index in 0..count {
        // Below the node before or one above that, so that nodes are as a file has them: each with
        // all that is below it behind it.
        let mut parent = index.checked_sub(1);
        for _ in 0..*input.pick(&[0, 0, 0, 1, 1, 2, 9]) {
            parent = parent.and_then(|node| nodes[node].parent);
        }
        nodes.push(Node {
            name: (*input.pick(&names)).to_owned(),
            parent,
            rest: local(input, range),
        });
    }
    let mut joints: Vec<usize> = (0..count).filter(|_| !input.rarely(6)).collect();
    if joints.is_empty() {
        joints.push(0);
    }
    if input.below(3) > 0
        && let Ok(skeleton) = Skeleton::bound_at_rest(nodes.clone(), &joints)
    {
        return Some(skeleton);
    }
    if input.rarely(4) {
        // One node bound in two ways.
        joints.insert(0, joints[0]);
    }
    let joints = joints.into_iter().map(|node| (node, affine(input, range)));
    Skeleton::new(nodes, joints.collect()).ok()
}

/// True where two joints are on one node. If their matrices are equal as well, a file that is read
/// has one joint for both, and others are numbered differently.
pub fn binds_a_node_twice(skeleton: &Skeleton) -> bool {
    let joints = skeleton.joints().windows(2);
    joints.into_iter().any(|pair| pair[0].node == pair[1].node)
}

fn affine(input: &mut Input, range: Range) -> DAffine3 {
    DAffine3 {
        matrix3: input.linear(range),
        translation: input.wide_vector(range),
    }
}

pub fn weights(input: &mut Input, vertices: usize, joints: usize) -> Option<Weights> {
    let mut builder = WeightsBuilder::new(joints).ok()?;
    for _ in 0..vertices {
        let count = input.below(5);
        let row: Vec<(usize, f32)> = (0..count)
            .map(|_| {
                let weight = match input.below(4) {
                    0 => input.number(Range::Extreme),
                    _ => f32::from(input.byte()) / 255.0,
                };
                (input.below(joints), weight)
            })
            .collect();
        builder.push(row, input.below(joints)).ok()?;
    }
    Some(builder.finish().0)
}

pub fn rig(input: &mut Input, range: Range) -> Option<Rig> {
    let mesh = mesh(input, range)?;
    let skeleton = skeleton(input, range)?;
    let joints = skeleton.joints().len();
    let weights = weights(input, mesh.vertex_count(), joints)?;
    Rig::new(mesh, skeleton, weights).ok()
}

/// A pose: some nodes at rest, some moved.
pub fn pose(input: &mut Input, skeleton: &Skeleton, range: Range) -> Pose {
    let mut pose = skeleton.rest_pose();
    for place in &mut pose.locals {
        if input.flag() {
            *place = local(input, range);
        }
    }
    pose
}

/// A palette: that of a pose, or any matrices.
pub fn palette(input: &mut Input, skeleton: &Skeleton, range: Range) -> Palette {
    match input.below(4) {
        0 => Palette {
            posed_from_bind: (skeleton.joints().iter())
                .map(|_| Affine::from(affine(input, range)))
                .collect(),
        },
        _ => (skeleton.palette(&pose(input, skeleton, range))).expect("a pose of this skeleton"),
    }
}

pub fn curve(input: &mut Input, width: usize, range: Range) -> Option<Curve> {
    let keys = 1 + input.below(5);
    let mut times: Vec<f32> = (0..keys).map(|_| input.number(range)).collect();
    if !input.rarely(8) {
        times.sort_by(f32::total_cmp);
    }
    let kinds = [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicHermite,
        Interpolation::CatmullRom,
    ];
    let interpolation = *input.pick(&kinds);
    let numbers = match interpolation {
        Interpolation::CubicHermite => 3 * keys * width,
        _ => keys * width,
    };
    let values = (0..numbers).map(|_| input.number(range)).collect();
    Curve::new(times, values, width, interpolation).ok()
}

pub fn clip(input: &mut Input, nodes: usize, range: Range) -> Clip {
    let mut tracks = Vec::new();
    for _ in 0..input.below(5) {
        // Now and then a node that is not there.
        let node = input.below(nodes + 1);
        let channel = match input.below(4) {
            0 => Channel::Translation { node },
            1 => Channel::Scale { node },
            2 => Channel::MorphWeights {
                first: input.below(3),
                count: input.below(3),
            },
            _ => Channel::Rotation { node },
        };
        if let Some(curve) = curve(input, channel.width(), range) {
            tracks.push(Track { channel, curve });
        }
    }
    Clip {
        name: "clip".to_owned(),
        tracks,
    }
}

/// A character as the built-in ones are: one part, no morph targets, no props.
pub fn asset(input: &mut Input, range: Range) -> Option<Asset> {
    let rig = rig(input, range)?;
    let nodes = rig.skeleton().nodes().len();
    let clips = (0..input.below(3)).map(|_| clip(input, nodes, range));
    Some(Asset {
        name: "fuzz".to_owned(),
        parts: vec![Part {
            name: "fuzz".to_owned(),
            vertices: 0..rig.mesh().vertex_count(),
            triangles: 0..rig.mesh().triangles().len(),
            color: Some(Vec3::ONE),
        }],
        morphs: Vec::new(),
        rest_morph_weights: Vec::new(),
        clips: clips.collect(),
        props: Vec::new(),
        rig,
    })
}
