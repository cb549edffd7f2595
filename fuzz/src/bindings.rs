//! The target over binders: weights for any surface and any bones.

use crate::input::{Input, Range};
use crate::methods::check_row;
use crate::rigs;
use supple::bind::{
    BindGroup, BindMethod, Bone, BoundedBiharmonicOptions, EnvelopeOptions, GeodesicOptions,
    Handle, HeatOptions, bind, bind_groups,
};

/// One binder on one surface, by a skeleton or by handles of any kind.
pub fn binders(data: &[u8]) {
    let mut input = Input::new(data);
    let method = method(&mut input);
    let range = input.range();
    let Some(mesh) = rigs::mesh(&mut input, range) else {
        return;
    };
    let (bound, joints) = if input.flag() {
        let Some(skeleton) = rigs::skeleton(&mut input, range) else {
            return;
        };
        let joints = skeleton.joints().len();
        let mut groups = vec![BindGroup::whole(&mesh, &skeleton)];
        if input.rarely(4) {
            let cut = input.below(mesh.vertex_count() + 1);
            groups = [0..cut, cut..mesh.vertex_count()]
                .map(|vertices| BindGroup {
                    vertices: std::iter::once(vertices).collect(),
                    joints: (0..joints).filter(|_| input.flag()).collect(),
                })
                .to_vec();
        }
        (
            bind_groups(&mesh, &skeleton, &groups, &method, &|_| {}),
            joints,
        )
    } else {
        let joints = 1 + input.below(5);
        let handles: Vec<Handle> = (0..input.below(6))
            .map(|_| Handle {
                joint: input.below(joints),
                bones: (0..1 + input.below(2))
                    .map(|_| bone(&mut input, range))
                    .collect(),
                topmost: input.rarely(4),
            })
            .collect();
        (bind(&mesh, &handles, joints, &method, &|_| {}), joints)
    };
    let Ok(bound) = bound else {
        return;
    };
    assert_eq!(bound.weights.vertex_count(), mesh.vertex_count());
    assert!(bound.weights.max_joint().is_none_or(|joint| joint < joints));
    for vertex in 0..mesh.vertex_count() {
        check_row(&bound.weights, vertex);
    }
}

fn bone(input: &mut Input, range: Range) -> Bone {
    let head = input.wide_vector(range);
    Bone {
        head,
        tail: match input.below(3) {
            0 => head,
            _ => input.wide_vector(range),
        },
        open_ended: input.flag(),
        last_of_chain: input.flag(),
    }
}

/// Coarse voxels: the finer ones only take longer.
pub fn method(input: &mut Input) -> BindMethod {
    let voxels = Some(100 + input.below(256));
    let share = |input: &mut Input| match input.rarely(4) {
        true => f64::from(input.number(Range::Extreme)),
        false => 0.5,
    };
    match input.below(5) {
        0 => BindMethod::Rigid,
        1 => BindMethod::Envelope(EnvelopeOptions {
            falloff: share(input),
            radii: match input.rarely(4) {
                true => vec![(input.below(6), share(input))],
                false => Vec::new(),
            },
        }),
        2 => BindMethod::Heat(HeatOptions {
            strength: share(input),
        }),
        3 => BindMethod::Geodesic(GeodesicOptions {
            voxels,
            falloff: share(input),
        }),
        _ => BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
            voxels,
            tolerance: match input.rarely(8) {
                true => share(input),
                false => 1e-2,
            },
        }),
    }
}
