//! A built-in character, dressed up with all that outputs depend on, and poses to put it in.

use glam::{DVec3, Vec3};
use supple::characters::{self, Character};
use supple::clip::{Channel, Curve, Interpolation, Track};
use supple::deform::DUAL_SHARE;
use supple::mesh::{Morph, MorphTarget};
use supple::{Asset, Clip, Local, Mesh, Palette, Pose, Prop, Rig, Skeleton, Trs, Weights};

pub struct Subject {
    pub character: Character,
    /// With tangents, a painted share of dual quaternions, a morph and a prop.
    pub asset: Asset,
    /// Two moments of clips, one with a joint stretched, one in a mirrored world.
    pub poses: Vec<Pose>,
}

impl Subject {
    pub fn new(character: Character) -> Subject {
        let mut asset = characters::build(character, characters::MIN_VERTICES).unwrap();
        asset.rig = dressed(&asset.rig);
        asset.morphs = vec![bulge(asset.rig.mesh())];
        asset.rest_morph_weights = vec![0.25];
        asset.clips.push(swelling());
        asset.props = vec![prop(asset.rig.mesh())];
        let moment = |clip: &Clip, share: f64| {
            let time = clip.start() + share * (clip.duration() - clip.start());
            asset.pose_at(clip, time)
        };
        let [first, last] = [&asset.clips[0], &asset.clips[asset.clips.len() - 2]];
        let moments = [moment(first, 0.37), moment(last, 0.71)];
        let stretched = scaled(&moments[0], 1, DVec3::new(1.3, 0.8, 1.1));
        let mirrored = scaled(&moments[1], 0, DVec3::new(-1.0, 1.0, 1.0));
        let poses = moments.into_iter().chain([stretched, mirrored]).collect();
        Subject {
            character,
            asset,
            poses,
        }
    }

    pub fn rig(&self) -> &Rig {
        &self.asset.rig
    }

    pub fn skeleton(&self) -> &Skeleton {
        self.rig().skeleton()
    }

    pub fn name(&self, what: impl std::fmt::Display) -> String {
        format!("{}/{what}", self.character.name())
    }

    pub fn palettes(&self) -> Vec<Palette> {
        let poses = self.poses.iter();
        poses.map(|pose| palette(self.skeleton(), pose)).collect()
    }
}

/// The transforms of all joints in a pose.
pub fn palette(skeleton: &Skeleton, pose: &Pose) -> Palette {
    skeleton.palette(pose).unwrap()
}

/// The matrices of a palette.
pub fn maps(palette: &Palette) -> Vec<[f32; 12]> {
    let maps = palette.posed_from_bind.iter();
    maps.map(|map| map.to_array()).collect()
}

/// The influences of every vertex.
pub fn rows(weights: &Weights) -> Vec<Vec<(usize, f32)>> {
    let row = |vertex: usize| {
        let influences = weights.of(vertex);
        influences.map(|influence| (influence.joint, influence.weight))
    };
    (0..weights.vertex_count())
        .map(|vertex| row(vertex).collect())
        .collect()
}

/// A number from 0 to 1 for every vertex, without any pattern.
pub fn noise(vertex: usize) -> f32 {
    let mixed = (vertex as u32 + 1).wrapping_mul(0x9e37_79b9);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    (mixed >> 8) as f32 / (1 << 24) as f32
}

fn dressed(rig: &Rig) -> Rig {
    let mesh = rig.mesh();
    let tangents = mesh.normals().iter().enumerate().map(|(vertex, normal)| {
        let across = normal.normalize_or(Vec3::Y).any_orthonormal_vector();
        across.extend(if vertex % 3 == 0 { -1.0 } else { 1.0 })
    });
    let shares = (0..mesh.vertex_count()).map(|vertex| (vertex % 5 != 0).then(|| noise(vertex)));
    let mesh = Mesh::new(
        mesh.positions().to_vec(),
        Some(mesh.normals().to_vec()),
        Some(tangents.collect()),
        mesh.triangles().to_vec(),
    );
    let mesh = mesh.unwrap().with_painted(DUAL_SHARE, shares.collect());
    Rig::new(mesh.unwrap(), rig.skeleton().clone(), rig.weights().clone()).unwrap()
}

/// A morph that swells every other vertex.
fn bulge(mesh: &Mesh) -> Morph {
    let normals = mesh.normals().iter().enumerate();
    let swollen = |(vertex, normal): (usize, &Vec3)| *normal * (0.01 * (vertex % 2) as f32);
    let target = MorphTarget {
        positions: normals.map(swollen).collect(),
        normals: vec![Vec3::new(0.0, 0.125, 0.0); mesh.vertex_count()],
        tangents: vec![Vec3::new(0.125, 0.0, 0.0); mesh.vertex_count()],
    };
    Morph {
        first_vertex: 0,
        first_weight: 0,
        targets: vec![target],
    }
}

fn swelling() -> Clip {
    let curve = Curve::new(vec![0.0, 1.0], vec![0.0, 1.0], 1, Interpolation::Linear);
    let channel = Channel::MorphWeights { first: 0, count: 1 };
    Clip {
        name: "swelling".to_owned(),
        tracks: vec![Track {
            channel,
            curve: curve.unwrap(),
        }],
    }
}

/// A triangle that the last joint carries.
fn prop(mesh: &Mesh) -> Prop {
    let corners = mesh.positions()[..3].to_vec();
    Prop {
        name: "prop".to_owned(),
        node: 1,
        mesh: Mesh::new(corners, None, None, vec![[0, 1, 2]]).unwrap(),
        morphs: Vec::new(),
        color: None,
    }
}

fn scaled(pose: &Pose, node: usize, scale: DVec3) -> Pose {
    let mut pose = pose.clone();
    pose.locals[node] = Local::Trs(Trs {
        scale,
        ..pose.locals[node].to_trs()
    });
    pose
}
