//! Large deformations of real bodies: the energy falls in every round, and what is held is where it
//! was put.

#![allow(clippy::unwrap_used)]

mod common;

use glam::{DAffine3, DMat3, DVec3, Vec3};
use serde_json::Value;
use std::path::Path;
use supple::arap::{Arap, ArapOptions, ArapState, HandleSmoothing};
use supple::transform::Affine;
use supple::weights::WeightsBuilder;
use supple::{Mesh, Palette};

/// Vertices and triangles of a Wavefront file whose faces are triangles.
fn read_obj(path: &Path) -> Mesh {
    let text = std::fs::read_to_string(path).unwrap();
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let kind = words.next();
        let words: Vec<&str> = words.collect();
        if kind == Some("v") {
            let numbers: Vec<f32> = words.iter().map(|word| word.parse().unwrap()).collect();
            positions.push(Vec3::from_slice(&numbers));
        } else if kind == Some("f") {
            let corner = |word: &&str| word.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
            let corners: Vec<u32> = words.iter().map(corner).collect();
            triangles.push(<[u32; 3]>::try_from(corners).unwrap());
        }
    }
    Mesh::new(positions, None, None, triangles).unwrap()
}

fn vertices(list: &Value) -> Vec<usize> {
    let numbers = list.as_array().unwrap().iter();
    numbers
        .map(|number| number.as_u64().unwrap() as usize)
        .collect()
}

/// A 3×4 matrix by rows.
fn matrix(rows: &Value) -> DAffine3 {
    let at = |row: usize, column: usize| rows[row][column].as_f64().unwrap();
    let column = |column: usize| DVec3::new(at(0, column), at(1, column), at(2, column));
    DAffine3 {
        matrix3: DMat3::from_cols(column(0), column(1), column(2)),
        translation: column(3),
    }
}

/// One end is held, another carried off; all between starts half-way, as far from rigid as it can
/// be.
fn check(mesh: &Mesh, case: &Value) {
    let (fixed, moved) = (vertices(&case["fixed"]), vertices(&case["moved"]));
    let carried = matrix(&case["moved_transform"]);
    let mut weights = WeightsBuilder::new(2).unwrap();
    for vertex in 0..mesh.vertex_count() {
        let row: &[(usize, f32)] = match (fixed.contains(&vertex), moved.contains(&vertex)) {
            (true, _) => &[(0, 1.0)],
            (_, true) => &[(1, 1.0)],
            _ => &[(0, 0.5), (1, 0.5)],
        };
        weights.push(row.iter().copied(), 0).unwrap();
    }
    let options = ArapOptions {
        iterations: 40,
        every_handle: false,
        smoothing: HandleSmoothing::None,
        ..ArapOptions::default()
    };
    let arap = Arap::of(mesh, &weights.finish().0, 2, &options).unwrap();
    assert_eq!(arap.report().held, [fixed.len(), moved.len()]);
    let palette = Palette {
        posed_from_bind: vec![Affine::IDENTITY, Affine::from(carried)],
    };
    let name = &case["name"];
    let energies = arap.energies(&palette, &mut ArapState::default()).unwrap();
    for pair in energies.windows(2) {
        assert!(pair[1] <= pair[0] * (1.0 + 1e-9), "{name}: {energies:?}");
    }
    let (first, last) = (energies[0], energies[options.iterations]);
    assert!(last < 0.5 * first, "{name}: {first} to {last}");
    let mut positions = vec![Vec3::ZERO; mesh.vertex_count()];
    arap.deform(&palette, &mut ArapState::default(), &mut positions)
        .unwrap();
    let close = 1e-6 * mesh.extent();
    for vertex in fixed {
        assert!(positions[vertex].distance(mesh.positions()[vertex]) <= close);
    }
    for vertex in moved {
        let to = carried.transform_point3(mesh.positions()[vertex].as_dvec3());
        assert!(positions[vertex].distance(to.as_vec3()) <= close);
    }
}

#[test]
fn the_energy_falls_however_far_a_part_is_bent_twisted_or_pulled() {
    let Some(folder) = common::shared("models/meshes") else {
        return;
    };
    for body in ["spot_triangulated", "cat-low-resolution"] {
        let mesh = read_obj(&folder.join(format!("{body}.obj")));
        let cases = std::fs::read_to_string(folder.join(format!("{body}_handles.json"))).unwrap();
        let cases: Value = serde_json::from_str(&cases).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 3);
        for case in cases {
            check(&mesh, case);
        }
    }
}
