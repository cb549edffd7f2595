//! Joint regions: where the skin of a joint and of the one above it blend into each other.

use crate::names::{cut, joint_title, joint_title_between, plain_title, uncapitalised};
use std::collections::BTreeMap;
use supple::{Asset, Weights};

/// A vertex belongs to a region from this blend on: 1 is half and half, 0 one joint alone.
const MEMBER: f64 = 0.15;

/// Regions smaller than this share of the surface are left out.
const SMALLEST: f64 = 2e-4;

/// More regions than this are not looked at.
const MOST_REGIONS: usize = 96;

/// The skin around a joint.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The joint that the region is called after.
    pub joint: usize,
    /// The joint that it is blended with, its parent as a rule.
    pub other: usize,
    /// For people.
    pub title: String,
    /// The joint alone, for people: what is bent or twisted.
    pub joint_title: String,
    /// What the file calls it.
    pub name: String,
    /// The vertices, and how much each is blended, from [`MEMBER`] to 1.
    pub vertices: Vec<(u32, f32)>,
    /// Triangles with at least one of these vertices.
    pub triangles: Vec<u32>,
    /// The share of the whole surface, counted by blend.
    pub share: f64,
    /// How far it reaches from its middle in the bind pose, on average.
    pub size: f64,
}

/// The area around every vertex of the bind surface.
pub(crate) fn vertex_areas(asset: &Asset) -> Vec<f64> {
    let mesh = asset.rig.mesh();
    let mut areas = vec![0.0; mesh.vertex_count()];
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|corner| mesh.positions()[corner as usize].as_dvec3());
        let third = (b - a).cross(c - a).length() / 6.0;
        for &corner in corners {
            areas[corner as usize] += third;
        }
    }
    areas
}

/// How much a pair of joints shares a vertex: 1 if half and half.
fn blend(weights: &Weights, vertex: usize, (joint, other): (usize, usize)) -> f64 {
    let weight_of = |wanted: usize| {
        let found = weights
            .of(vertex)
            .find(|influence| influence.joint == wanted);
        found.map_or(0.0, |influence| f64::from(influence.weight))
    };
    4.0 * weight_of(joint) * weight_of(other)
}

/// The regions of a rig, the largest first.
pub(crate) fn find(asset: &Asset, areas: &[f64]) -> Vec<Region> {
    let (weights, skeleton) = (asset.rig.weights(), asset.rig.skeleton());
    let is_related =
        |(joint, other): (usize, usize)| skeleton.joints()[joint].parent == Some(other);
    // How much skin each pair of joints shares. Joints are numbered parents first.
    let mut shared: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (vertex, area) in areas.iter().enumerate() {
        let influences: Vec<_> = weights.of(vertex).collect();
        for (index, a) in influences.iter().enumerate() {
            for b in &influences[..index] {
                let pair = (a.joint.max(b.joint), a.joint.min(b.joint));
                let product = 4.0 * f64::from(a.weight) * f64::from(b.weight);
                *shared.entry(pair).or_default() += area * product;
            }
        }
    }
    let whole: f64 = areas.iter().sum();
    let mass = |related: bool| -> f64 {
        let pairs = shared
            .iter()
            .filter(|(pair, _)| is_related(**pair) == related);
        pairs.map(|(_, mass)| mass).sum()
    };
    // A cloth on unconnected joints has no parents to speak of; a body shares a little with
    // everything.
    let only_related = mass(true) >= mass(false);
    let mut pairs: Vec<((usize, usize), f64)> = shared
        .into_iter()
        .filter(|(pair, mass)| (!only_related || is_related(*pair)) && *mass > SMALLEST * whole)
        .collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    pairs.truncate(MOST_REGIONS);

    let mut members: Vec<Vec<(u32, f32)>> = vec![Vec::new(); pairs.len()];
    let index_of: BTreeMap<(usize, usize), usize> = pairs
        .iter()
        .enumerate()
        .map(|(index, (pair, _))| (*pair, index))
        .collect();
    for vertex in 0..areas.len() {
        let influences: Vec<usize> = weights
            .of(vertex)
            .map(|influence| influence.joint)
            .collect();
        for (index, &a) in influences.iter().enumerate() {
            for &b in &influences[..index] {
                let pair = (a.max(b), a.min(b));
                let Some(&region) = index_of.get(&pair) else {
                    continue;
                };
                let blend = blend(weights, vertex, pair);
                if blend >= MEMBER {
                    members[region].push((vertex as u32, blend as f32));
                }
            }
        }
    }
    let mut regions: Vec<Region> = Vec::new();
    let mut is_member = vec![false; areas.len()];
    for (((joint, other), mass), vertices) in pairs.into_iter().zip(members) {
        vertices
            .iter()
            .for_each(|&(vertex, _)| is_member[vertex as usize] = true);
        let triangles: Vec<u32> = asset
            .rig
            .mesh()
            .triangles()
            .iter()
            .enumerate()
            .filter(|(_, corners)| corners.iter().any(|&corner| is_member[corner as usize]))
            .map(|(index, _)| index as u32)
            .collect();
        vertices
            .iter()
            .for_each(|&(vertex, _)| is_member[vertex as usize] = false);
        if triangles.is_empty() {
            continue;
        }
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
        let (title, joint_title) = if is_related((joint, other)) {
            (title, format!("the {own_title}"))
        } else {
            let other = joint_title(skeleton.joint_name(other), other);
            let between = format!("Between {} and {own_title}", uncapitalised(&other));
            (between, own_title)
        };
        let size = mean_reach(asset, &vertices);
        let share = mass / whole;
        regions.push(Region {
            joint,
            other,
            title,
            joint_title,
            name,
            vertices,
            triangles,
            share,
            size,
        });
    }
    tell_apart(&mut regions);
    for region in &mut regions {
        region.title = cut(&region.title);
        region.joint_title = cut(&region.joint_title);
    }
    regions
}

/// A region that has this share of another's skin is its neighbour.
const NEIGHBOUR: f64 = 0.2;

/// For every region the others that share much of its skin.
pub(crate) fn neighbours(regions: &[Region], vertex_count: usize) -> Vec<Vec<usize>> {
    let mut regions_of: Vec<Vec<usize>> = vec![Vec::new(); vertex_count];
    for (index, region) in regions.iter().enumerate() {
        for &(vertex, _) in &region.vertices {
            regions_of[vertex as usize].push(index);
        }
    }
    let neighbours_of = |(index, region): (usize, &Region)| {
        let mut shared = vec![0usize; regions.len()];
        for &(vertex, _) in &region.vertices {
            regions_of[vertex as usize]
                .iter()
                .for_each(|&other| shared[other] += 1);
        }
        let least = (NEIGHBOUR * region.vertices.len() as f64).max(1.0);
        let near = |&other: &usize| other != index && shared[other] as f64 >= least;
        (0..regions.len()).filter(near).collect()
    };
    regions.iter().enumerate().map(neighbours_of).collect()
}

/// The mean distance of vertices from their middle.
fn mean_reach(asset: &Asset, vertices: &[(u32, f32)]) -> f64 {
    let position =
        |&(vertex, _): &(u32, f32)| asset.rig.mesh().positions()[vertex as usize].as_dvec3();
    let count = vertices.len().max(1) as f64;
    let middle = vertices.iter().map(position).sum::<glam::DVec3>() / count;
    let reach = vertices
        .iter()
        .map(|vertex| position(vertex).distance(middle))
        .sum::<f64>()
        / count;
    reach.max(1e-9)
}

/// Two regions of the same title are called what the file calls them.
fn tell_apart(regions: &mut [Region]) {
    for rename in [plain_title, |name: &str, index| {
        format!("{} ({name})", joint_title(name, index))
    }] {
        let titles: Vec<String> = regions.iter().map(|region| region.title.clone()).collect();
        for region in regions.iter_mut() {
            let alike = titles.iter().filter(|title| **title == region.title);
            if alike.count() > 1 && !region.name.is_empty() {
                region.title = rename(&region.name, region.joint);
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
        let regions = find(&bar, &vertex_areas(&bar));
        assert_eq!(regions.len(), 1);
        assert_eq!((regions[0].joint, regions[0].other), (1, 0));
        for &(vertex, _) in &regions[0].vertices {
            assert!(bar.rig.mesh().positions()[vertex as usize].x.abs() < 0.16);
        }
    }

    #[test]
    fn the_figure_has_elbows_and_knees() {
        let figure = build(Character::Figure, 3000).unwrap();
        let regions = find(&figure, &vertex_areas(&figure));
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
        assert!(!find(&cloth, &vertex_areas(&cloth)).is_empty());
    }
}
