//! The target over point handles.

use crate::input::{Input, Range};
use crate::methods::check_row;
use crate::rigs;
use glam::DVec3;
use supple::arap::{RotationMean, handle_palette, turns};
use supple::point_handles::{HandleOptions, place_handles};
use supple::bind::BindMethod;

/// Handles placed in any surface, bound, and moved.
pub fn handles(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(mesh) = rigs::mesh(&mut input, range) else {
        return;
    };
    let given = match input.flag() {
        true => (0..input.below(4))
            .map(|_| input.wide_vector(range))
            .collect(),
        false => Vec::new(),
    };
    let options = HandleOptions {
        automatic: !input.rarely(4),
        given,
        clusters: input.rarely(4).then(|| input.below(6)),
        count: input.rarely(4).then(|| input.below(8)),
        ends: input.flag(),
        edges: input.rarely(8).then(|| {
            let edges = (0..input.below(4)).map(|_| [0; 2].map(|_| input.below(5)));
            edges.collect()
        }),
    };
    let Ok(handles) = place_handles(&mesh, &options) else {
        return;
    };
    let count = handles.places.len();
    assert_eq!(handles.kinds.len(), count);
    assert!(handles.edges.iter().flatten().all(|&end| end < count));
    assert_eq!(handles.places[..options.given.len()], options.given);
    assert!(handles.places.iter().all(|place| place.is_finite()));
    let method = match input.flag() {
        true => BindMethod::Rigid,
        false => BindMethod::Heat(Default::default()),
    };
    if let Ok(bound) = handles.bind(&mesh, &method, &|_| {}) {
        for vertex in 0..mesh.vertex_count() {
            check_row(&bound.weights, vertex);
        }
    }
    let moved: Vec<DVec3> = (handles.places.iter())
        .map(|&place| place + input.wide_vector(range))
        .collect();
    let mean = *input.pick(&[RotationMean::Recursion, RotationMean::Eigenvector]);
    if let Ok(turns) = turns(&handles.places, &moved, &handles.edges, mean) {
        assert!(turns.iter().all(|turn| turn.is_finite()) || range == Range::Extreme);
        let palette = handle_palette(&handles.places, &moved, &turns);
        palette.expect("as many of each");
    }
}
