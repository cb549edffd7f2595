//! The titles of joint regions.

use crate::names::{cut, joint_title, joint_title_between, plain_title, uncapitalised};
use supple::metrics::{self, Gauge};
use supple::{Asset, Skeleton};

/// The skin around a joint with its title.
#[derive(Clone, Debug)]
pub(crate) struct TitledRegion {
    pub skin: metrics::JointRegion,
    /// For people.
    pub title: String,
    /// The joint alone, for people: what is bent or twisted.
    pub joint_title: String,
    /// The name of the joint in the file.
    pub name: String,
}

/// The main regions of a rig, the largest first.
pub(crate) fn find(asset: &Asset, gauge: &Gauge) -> Vec<TitledRegion> {
    let skeleton = asset.rig.skeleton();
    let skins = gauge.main_regions().iter().cloned();
    let mut regions: Vec<TitledRegion> = skins.map(|skin| titled(skeleton, skin)).collect();
    make_titles_unique(&mut regions);
    for region in &mut regions {
        region.title = cut(&region.title);
        region.joint_title = cut(&region.joint_title);
    }
    regions
}

fn titled(skeleton: &Skeleton, skin: metrics::JointRegion) -> TitledRegion {
    let (joint, other) = (skin.joint, skin.other);
    let name = skeleton.joint_name(joint).to_owned();
    let below = skeleton.joints().iter().enumerate();
    let below = below.filter(|(_, other)| other.parent == Some(joint));
    let above = skeleton.joints()[joint].parent;
    let title = joint_title_between(
        &name,
        joint,
        above.map(|above| skeleton.joint_name(above)),
        below.map(|(below, _)| skeleton.joint_name(below)),
    );
    let own_title = uncapitalised(&title);
    let (title, joint_title) = if above == Some(other) {
        (title, format!("the {own_title}"))
    } else {
        let other = joint_title(skeleton.joint_name(other), other);
        let between = format!("Between {} and {own_title}", uncapitalised(&other));
        (between, own_title)
    };
    TitledRegion {
        skin,
        title,
        joint_title,
        name,
    }
}

/// A region that has this share of another's skin is its neighbour.
const NEIGHBOUR: f64 = 0.2;

/// For every region the others that share much of its skin.
pub(crate) fn neighbours(regions: &[TitledRegion], vertex_count: usize) -> Vec<Vec<usize>> {
    let mut regions_of: Vec<Vec<usize>> = vec![Vec::new(); vertex_count];
    for (index, region) in regions.iter().enumerate() {
        for &vertex in &region.skin.vertices {
            regions_of[vertex].push(index);
        }
    }
    let neighbours_of = |(index, region): (usize, &TitledRegion)| {
        let mut shared = vec![0usize; regions.len()];
        for &vertex in &region.skin.vertices {
            regions_of[vertex]
                .iter()
                .for_each(|&other| shared[other] += 1);
        }
        let least = (NEIGHBOUR * region.skin.vertices.len() as f64).max(1.0);
        let near = |&other: &usize| other != index && shared[other] as f64 >= least;
        (0..regions.len()).filter(near).collect()
    };
    regions.iter().enumerate().map(neighbours_of).collect()
}

/// Renames regions of the same title after the file's names.
fn make_titles_unique(regions: &mut [TitledRegion]) {
    for rename in [plain_title, |name: &str, index| {
        format!("{} ({name})", joint_title(name, index))
    }] {
        let titles: Vec<String> = regions.iter().map(|region| region.title.clone()).collect();
        for region in regions.iter_mut() {
            let alike = titles.iter().filter(|title| **title == region.title);
            if alike.count() > 1 && !region.name.is_empty() {
                region.title = rename(&region.name, region.skin.joint);
                region.joint_title = format!("the {}", uncapitalised(&region.title));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::characters::{Character, build};

    #[test]
    fn the_bar_has_one_region_in_its_middle() {
        let bar = build(Character::Bar, 2000).unwrap();
        let regions = find(&bar, &Gauge::new(&bar.rig));
        assert_eq!(regions.len(), 1);
        assert_eq!((regions[0].skin.joint, regions[0].skin.other), (1, 0));
        assert_eq!(regions[0].title, "Second joint");
    }

    #[test]
    fn the_figure_has_elbows_and_knees() {
        let figure = build(Character::Figure, 3000).unwrap();
        let regions = find(&figure, &Gauge::new(&figure.rig));
        for title in ["Left elbow", "Right knee", "Left shoulder"] {
            assert!(
                regions.iter().any(|region| region.title == title),
                "{title}"
            );
        }
    }

    #[test]
    fn a_cloth_on_loose_joints_has_regions_too() {
        let cloth = build(Character::Cloth, 2000).unwrap();
        let regions = find(&cloth, &Gauge::new(&cloth.rig));
        assert!(
            regions
                .iter()
                .any(|region| region.title.starts_with("Between "))
        );
    }
}
