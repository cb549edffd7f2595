//! Targets over writers: what is written holds what was given, to the bit.

use crate::input::{Input, Range};
use crate::plain::{self, WrittenSurface};
use crate::rigs;
use glam::Vec3;
use supple_io::gltf::{self, Document};

/// Surfaces as OBJ, PLY and NPY, and characters as glTF.
pub fn writers(data: &[u8]) {
    let mut input = Input::new(data);
    if input.flag() {
        let count = input.below(12);
        let positions: Vec<Vec3> = (0..count).map(|_| input.vector(Range::Extreme)).collect();
        let normals: Vec<Vec3> = match input.flag() {
            true => (0..count).map(|_| input.vector(Range::Extreme)).collect(),
            false => Vec::new(),
        };
        let triangles = match count {
            0 => 0,
            _ => input.below(12),
        };
        let triangles: Vec<[u32; 3]> = (0..triangles)
            .map(|_| [0; 3].map(|_| input.below(count) as u32))
            .collect();
        return check(&positions, &normals, &triangles);
    }
    let range = input.range();
    let Some(asset) = rigs::asset(&mut input, range) else {
        return;
    };
    let Ok(document) = Document::from_asset(&asset) else {
        return;
    };
    let twice = rigs::binds_a_node_twice(asset.rig.skeleton());
    for written in [document.to_glb().expect("a small file"), document.to_gltf()] {
        let again = gltf::from_slice(&written, &asset.name).expect("what was written");
        let (rig, found) = (&asset.rig, &again.asset.rig);
        assert_eq!(found.mesh().positions(), rig.mesh().positions());
        assert_eq!(found.mesh().normals(), rig.mesh().normals());
        assert_eq!(found.mesh().triangles(), rig.mesh().triangles());
        if twice {
            continue;
        }
        assert_eq!(found.weights(), rig.weights());
        assert_eq!(
            found.skeleton().joints().len(),
            rig.skeleton().joints().len()
        );
        let same_parents = (found
            .skeleton()
            .joints()
            .iter()
            .zip(rig.skeleton().joints()))
        .all(|(found, joint)| found.parent == joint.parent);
        assert!(same_parents);
    }
}

/// Writes a surface in every format and reads it again.
pub fn check(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]]) {
    let bits = |vectors: &[Vec3]| -> Vec<[u32; 3]> {
        let bits = vectors.iter().map(|v| v.to_array().map(f32::to_bits));
        bits.collect()
    };
    let expected = WrittenSurface {
        positions: bits(positions),
        normals: bits(normals),
        triangles: triangles.to_vec(),
    };
    let mut out = Vec::new();
    if supple_io::obj::write(&mut out, positions, normals, triangles).is_ok() {
        let text = std::str::from_utf8(&out).expect("text");
        assert_eq!(plain::obj(text), expected);
    }
    let mut out = Vec::new();
    if supple_io::ply::write(&mut out, positions, normals, triangles).is_ok() {
        assert_eq!(plain::ply(&out), expected);
    }
    let mut out = Vec::new();
    if supple_io::npy::write_positions(&mut out, positions).is_ok() {
        assert_eq!(plain::npy(&out), expected.positions);
    }
}
