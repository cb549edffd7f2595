//! The shape diameter function: the local thickness of a body.
//!
//! Shapira et al. 2008, "Consistent mesh partitioning and skeletonisation using the shape diameter
//! function", which `arap-point-handles.txt`, §3.3, builds on: rays into the body in a cone of 120°
//! about the inverse normal. Rays that meet a surface facing the same way as the one that they set
//! out from are dropped; of the others those count that are within one standard deviation of their
//! median, by the inverse of their angle to the normal. In this way a leg has the diameter of a leg
//! all along it, whatever bumps there are and however it is bent.

use super::facets::Facets;
use crate::bind::oriented_surface::OrientedSurface;
use crate::exec;
use crate::mesh::Mesh;
use glam::DVec3;
use std::collections::HashMap;
use std::f64::consts::PI;

/// The thickness of a body at every vertex and every triangle, in the model's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeDiameter {
    of_vertices: Vec<Option<f64>>,
    of_triangles: Vec<Option<f64>>,
}

impl ShapeDiameter {
    /// Measures a mesh. Winding, duplicate faces, seams and units do not matter. Where rays leave
    /// through openings, the diameter is filled in from the surroundings.
    pub fn of(mesh: &Mesh) -> ShapeDiameter {
        let shape = OrientedSurface::of(mesh);
        let facets = Facets::of(&shape);
        let diameters = filled(&facets, raw(&shape, &facets));
        ShapeDiameter::in_mesh(mesh, &shape, &facets, &diameters)
    }

    /// Converts the diameters of facets to triangles and vertices of the mesh.
    pub(super) fn in_mesh(
        mesh: &Mesh,
        shape: &OrientedSurface,
        facets: &Facets,
        diameters: &[Option<f64>],
    ) -> ShapeDiameter {
        let in_model = |diameter: f64| shape.length_from_unit(diameter);
        let of_triangles = facet_of_triangles(mesh, shape)
            .into_iter()
            .map(|facet| diameters[facet?].map(in_model))
            .collect();
        let known: Vec<f64> = diameters.iter().map(|d| d.unwrap_or(0.0)).collect();
        let of_points = facets.at_points(shape, &known);
        let of_vertices = (0..mesh.vertex_count())
            .map(|vertex| of_points[shape.weld().point_of(vertex)])
            .map(|diameter| (diameter > 0.0).then(|| in_model(diameter)))
            .collect();
        ShapeDiameter {
            of_vertices,
            of_triangles,
        }
    }

    /// The diameter at every vertex: the mean over its triangles, weighted by area. None on pieces
    /// without an inside, and at vertices without triangles.
    pub fn of_vertices(&self) -> &[Option<f64>] {
        &self.of_vertices
    }

    /// The diameter at every triangle. None on pieces without an inside, and for triangles without
    /// area.
    pub fn of_triangles(&self) -> &[Option<f64>] {
        &self.of_triangles
    }
}

/// The facet of every triangle of a mesh; duplicates share a facet, degenerate triangles have none.
pub(super) fn facet_of_triangles(mesh: &Mesh, shape: &OrientedSurface) -> Vec<Option<usize>> {
    let sorted = |mut corners: [u32; 3]| {
        corners.sort_unstable();
        corners
    };
    let facets = shape.triangles.iter().enumerate();
    let facet_of: HashMap<[u32; 3], usize> = facets
        .map(|(facet, corners)| (sorted(*corners), facet))
        .collect();
    let of_triangle = |corners: &[u32; 3]| {
        let welded = corners.map(|corner| shape.weld().point_of(corner as usize) as u32);
        facet_of.get(&sorted(welded)).copied()
    };
    mesh.triangles().iter().map(of_triangle).collect()
}

/// The number of rays per facet, as in the paper.
const RAYS: usize = 30;

/// Half the opening angle of the cone, as in the paper.
const HALF_OPENING: f64 = PI / 3.0;

/// The smallest number of rays that must meet the opposite side.
const LEAST_RAYS: usize = RAYS / 4;

/// The golden angle: rays in a sunflower pattern cover the cone evenly, without a preferred
/// direction around it.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// The diameter at every facet, in units of the shape; none if too few rays met the opposite side.
pub(super) fn raw(shape: &OrientedSurface, facets: &Facets) -> Vec<Option<f64>> {
    // Angle to the normal, and the direction with the inverse normal as Z.
    let pattern: Vec<(f64, DVec3)> = (0..RAYS)
        .map(|ray| {
            let angle = HALF_OPENING * ((ray as f64 + 0.5) / RAYS as f64).sqrt();
            let (y, x) = (ray as f64 * GOLDEN_ANGLE).sin_cos();
            let (aside, ahead) = angle.sin_cos();
            (angle, DVec3::new(aside * x, aside * y, ahead))
        })
        .collect();
    let chunks = exec::map_chunks(facets.len(), |chunk| {
        let mut lengths = Vec::with_capacity(RAYS);
        let mut of_facet = |facet: usize| {
            lengths.clear();
            cast(shape, facets, facet, &pattern, &mut lengths);
            robust_mean(&mut lengths)
        };
        chunk.map(&mut of_facet).collect::<Vec<_>>()
    });
    chunks.concat()
}

/// Casts the rays of a facet; collects their lengths and their weights.
fn cast(
    shape: &OrientedSurface,
    facets: &Facets,
    facet: usize,
    pattern: &[(f64, DVec3)],
    lengths: &mut Vec<(f64, f64)>,
) {
    let ahead = -facets.normals[facet];
    // Aligned to an edge of the facet, so that the pattern moves with the body.
    let mut corners = shape.triangles[facet];
    corners.sort_unstable();
    let [from, to] = [corners[0], corners[1]].map(|corner| shape.points[corner as usize]);
    let aside = (to - from).normalize_or_zero();
    let above = ahead.cross(aside);
    let start = facets.centers[facet].as_vec3();
    for (angle, direction) in pattern {
        let direction = aside * direction.x + above * direction.y + ahead * direction.z;
        let way_out = shape
            .tree
            .way_out(start, direction.as_vec3(), |other| other as usize != facet);
        let Some(way_out) = way_out else {
            continue;
        };
        if facets.normals[way_out.triangle as usize].dot(ahead) > 0.0 {
            lengths.push((f64::from(way_out.distance), 1.0 / angle));
        }
    }
}

/// The weighted mean of the lengths within one standard deviation of the median; none of too few.
fn robust_mean(lengths: &mut [(f64, f64)]) -> Option<f64> {
    if lengths.len() < LEAST_RAYS {
        return None;
    }
    lengths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = lengths.len() as f64;
    let middle = lengths.len() / 2;
    let median = match lengths.len() % 2 {
        0 => 0.5 * (lengths[middle - 1].0 + lengths[middle].0),
        _ => lengths[middle].0,
    };
    let mean = lengths.iter().map(|(length, _)| length).sum::<f64>() / count;
    let variance = lengths.iter().map(|(length, _)| (length - mean).powi(2));
    let deviation = (variance.sum::<f64>() / count).sqrt();
    let (mut sum, mut weights) = (0.0, 0.0);
    for &(length, weight) in lengths.iter() {
        // Rounding must not exclude equal lengths.
        if (length - median).abs() <= deviation * 1.000_001 {
            sum += length * weight;
            weights += weight;
        }
    }
    (weights > 0.0 && sum > 0.0).then(|| sum / weights)
}

/// Fills in missing diameters from neighbours, ring by ring. Pieces without any diameter stay
/// without.
pub(super) fn filled(facets: &Facets, mut diameters: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let has_known = |diameters: &[Option<f64>], facet: usize| {
        let mut around = facets.around(facet).iter();
        around.any(|&(other, _)| diameters[other as usize].is_some())
    };
    let mut next: Vec<usize> = (0..facets.len())
        .filter(|&facet| diameters[facet].is_none() && has_known(&diameters, facet))
        .collect();
    while !next.is_empty() {
        let ring: Vec<(usize, f64)> = next
            .iter()
            .map(|&facet| {
                let around = facets.around(facet).iter();
                let known = around.filter_map(|&(other, length)| {
                    diameters[other as usize].map(|diameter| (diameter * length, length))
                });
                let (sum, lengths) = known.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
                (facet, sum / lengths.max(f64::MIN_POSITIVE))
            })
            .collect();
        for &(facet, diameter) in &ring {
            diameters[facet] = Some(diameter);
        }
        next = ring
            .iter()
            .flat_map(|&(facet, _)| facets.around(facet))
            .map(|&(other, _)| other as usize)
            .filter(|&other| diameters[other].is_none())
            .collect();
        next.sort_unstable();
        next.dedup();
    }
    diameters
}

/// Logarithms of diameters that differ by about this much are the same thickness with noise: a
/// fifth.
const SAME_THICKNESS: f64 = 0.2;

/// Smooths logarithms of diameters over the surface and keeps steps, by weighting neighbours by
/// similarity (a bilateral filter). The number of rounds grows with the number of facets around a
/// limb.
pub(super) fn smoothed(facets: &Facets, mut logarithms: Vec<f64>) -> Vec<f64> {
    let rounds = (facets.len() / 1000).clamp(2, 40);
    for _ in 0..rounds {
        let smooth = |facet: usize| {
            let here = logarithms[facet];
            let (mut sum, mut weights) = (here * facets.areas[facet], facets.areas[facet]);
            for &(other, _) in facets.around(facet) {
                let other = other as usize;
                let apart = (logarithms[other] - here) / SAME_THICKNESS;
                let weight = facets.areas[other] * (-0.5 * apart * apart).exp();
                sum += logarithms[other] * weight;
                weights += weight;
            }
            if weights > 0.0 { sum / weights } else { here }
        };
        let chunks = exec::map_chunks(facets.len(), |chunk| chunk.map(smooth).collect::<Vec<_>>());
        logarithms = chunks.concat();
    }
    logarithms
}
