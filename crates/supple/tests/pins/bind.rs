//! Weights from every binder.

use crate::subject::{Subject, rows};
use supple::bind::{BindGroup, BindMethod, BoundedBiharmonicOptions, GeodesicOptions, bind_groups};
use supple_pins::{Numbers, Pins};

/// Fewer than usual, which takes less time.
const VOXELS: Option<usize> = Some(2_000);

pub fn pin(pins: &mut Pins, subject: &Subject) {
    let (mesh, skeleton) = (subject.rig().mesh(), subject.skeleton());
    let whole = [BindGroup::whole(mesh, skeleton)];
    for method in BindMethod::all() {
        let method = match method {
            BindMethod::Geodesic(options) => BindMethod::Geodesic(GeodesicOptions {
                voxels: VOXELS,
                ..options
            }),
            BindMethod::BoundedBiharmonic(options) => {
                BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
                    voxels: VOXELS,
                    ..options
                })
            }
            other => other,
        };
        let bound = bind_groups(mesh, skeleton, &whole, &method, &|_| {}).unwrap();
        let name = format!("bind/{}", method.name());
        pins.pin(subject.name(&name), &rows(&bound.weights));
        let report = subject.name(format!("{name}/report"));
        pins.pin(report, &Numbers(&bound.report));
    }
}
