//! The target over what judges rigs and poses.

use crate::input::{Input, Range};
use crate::rigs;
use supple::centers::{CenterOptions, LiveCenters, exact};
use supple::findings::Findings;
use supple::metrics::{Gauge, ReferenceErrors, RmsDistance, TimeSmoothness};
use supple::normals::NormalFit;
use supple::point_handles::ShapeDiameter;
use supple::quality::WeightQuality;
use supple::symmetry::Symmetry;

/// Everything that measures something, over a rig and a posed surface.
pub fn measures(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(rig) = rigs::rig(&mut input, range) else {
        return;
    };
    let mesh = rig.mesh();
    match input.below(6) {
        0 => {
            Findings::of(&rig, &[]);
            WeightQuality::of(&rig);
        }
        1 => {
            Symmetry::of(mesh, rig.skeleton());
            let normal = input.wide_vector(range);
            Symmetry::along(mesh, rig.skeleton(), normal);
            rig.skeleton().bind_bones();
            rig.skeleton().singular_binds();
        }
        2 => {
            ShapeDiameter::of(mesh);
            NormalFit::of(mesh);
        }
        3 => {
            let options = CenterOptions {
                epsilon: 0.5,
                ..CenterOptions::PAPER
            };
            let _ = exact(mesh, rig.weights(), &options);
            let Ok(mut live) = LiveCenters::new(mesh, rig.weights(), &options) else {
                return;
            };
            let joints = rig.skeleton().joints().len();
            let weights = rigs::weights(&mut input, mesh.vertex_count(), joints);
            if let Some(weights) = weights {
                let changed: Vec<usize> = (0..mesh.vertex_count()).collect();
                let _ = live.update(&weights, &changed);
                let finite = |center: &glam::Vec3| center.is_finite();
                let mut centers = live.centers().points().iter().flatten();
                assert!(range == Range::Extreme || centers.all(finite));
            }
        }
        _ => {
            let gauge = Gauge::new(&rig);
            let palette = rigs::palette(&mut input, rig.skeleton(), range);
            let mut frames = TimeSmoothness::new();
            let mut distance = RmsDistance::new();
            let mut errors = ReferenceErrors::new(&rig);
            for _ in 0..3 {
                let positions: Vec<glam::Vec3> = (mesh.positions().iter())
                    .map(|&place| place + input.vector(range))
                    .collect();
                gauge.measure(&positions, mesh.normals(), &palette);
                gauge.vertex_stretch(&positions);
                gauge.vertex_distortion(&positions);
                gauge.rigid_energy(&positions);
                gauge.radii(&positions, &palette);
                frames.add(&positions);
                distance.add(mesh.positions(), &positions);
                gauge.volume(&positions);
                let near = errors.add(mesh.positions(), &positions);
                let near = near.expect("the vertices of the rig");
                assert!(near.surface_distance.largest <= near.vertex_distance.largest);
            }
            frames.rms_acceleration(1.0 / 30.0);
            frames.worst_pop();
            distance.value();
            errors.summary();
        }
    }
}
