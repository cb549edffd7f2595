//! Subjects and options that contradict themselves: a page without what cannot be shown, or an
//! error, never a panic.

#![allow(clippy::unwrap_used)]

use supple::characters::{self, Character};
use supple::deform::BakedData;
use supple::mesh::Part;
use supple::weights::WeightsReport;
use supple::{Asset, Method};
use supple_report::{ReportError, ReportOptions, Subject, report};

fn options() -> ReportOptions {
    ReportOptions {
        methods: vec![Method::Linear, Method::LogMatrix],
        picture_size: (12, 12),
        ..ReportOptions::default()
    }
}

fn page(asset: &Asset, clips: &[usize], options: &ReportOptions) -> Result<String, ReportError> {
    let subject = Subject {
        title: "A bar".to_owned(),
        file: "bar.glb".to_owned(),
        asset,
        baked: BakedData {
            endpoint_weights: Some([0.5; 3].into()),
            dual_shares: Some([0.5; 3].into()),
            ..BakedData::default()
        },
        weights_report: WeightsReport::default(),
        clips: clips.to_vec(),
    };
    report(&[subject], options, |_| ())
}

#[test]
fn clips_and_parts_that_do_not_exist_are_skipped() {
    let mut asset = characters::build(Character::Bar, 2_000).unwrap();
    asset.clips.truncate(1);
    let vertices = asset.rig.mesh().vertex_count();
    asset.parts = vec![Part {
        vertices: vertices..usize::MAX,
        triangles: usize::MAX..usize::MAX,
        ..asset.parts[0].clone()
    }];
    page(&asset, &[usize::MAX], &options()).unwrap();
    let many = ReportOptions {
        most_clips: usize::MAX,
        // Whose baked data do not fit.
        methods: vec![Method::Linear, Method::StretchTwist],
        ..options()
    };
    page(&asset, &[], &many).unwrap();
    asset.clips.clear();
    let none = ReportOptions {
        most_clips: 0,
        ..options()
    };
    page(&asset, &[], &none).unwrap();
}

#[test]
fn pages_without_methods_surfaces_or_pixels_are_refused() {
    let mut asset = characters::build(Character::Bar, 2_000).unwrap();
    asset.clips.truncate(1);
    let without = ReportOptions {
        methods: Vec::new(),
        ..options()
    };
    let found = page(&asset, &[], &without).unwrap_err();
    assert!(matches!(found, ReportError::NoMethods), "{found}");
    assert!(report(&[], &options(), |_| ()).is_err());
    for picture_size in [(0, 0), (70_000, 1)] {
        let sized = ReportOptions {
            picture_size,
            ..options()
        };
        assert!(page(&asset, &[], &sized).is_err());
    }
}
