//! Angles between a method's normals and those of the deformed surface.

use super::surface::MeasuredSurface;
use super::vertex_areas;
use crate::normals::SmoothGroups;
use crate::pose::Palette;
use crate::rig::Rig;
use glam::Vec3;

/// The angle between given normals and those recomputed from the posed triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NormalError {
    /// Mean by rest area, in degrees.
    pub mean_degrees: f64,
    /// The largest, in degrees.
    pub largest_degrees: f64,
    /// The vertex with the largest angle; `None` if no vertex could be compared.
    pub worst_vertex: Option<usize>,
}

/// The normals of the posed surface, and the weight of each vertex.
#[derive(Clone, Debug)]
pub(super) struct TrueNormals {
    groups: SmoothGroups,
    /// The rest area around each vertex.
    areas: Vec<f64>,
}

impl TrueNormals {
    pub(super) fn new(rig: &Rig, surface: &MeasuredSurface) -> TrueNormals {
        TrueNormals {
            groups: SmoothGroups::of(rig),
            areas: vertex_areas(rig.mesh(), &surface.areas),
        }
    }

    pub(super) fn error(
        &self,
        positions: &[Vec3],
        normals: &[Vec3],
        palette: &Palette,
    ) -> NormalError {
        if positions.len() != self.areas.len() {
            return NormalError::default();
        }
        // Zero for vertices without area.
        let mut recomputed = vec![Vec3::ZERO; positions.len()];
        let maps = &palette.posed_from_bind;
        self.groups
            .recompute(positions, maps, &mut Vec::new(), &mut recomputed);
        let mut error = NormalError::default();
        let (mut weighted, mut total) = (0.0, 0.0);
        let vertices = recomputed.iter().zip(&self.areas).zip(normals);
        for (vertex, ((own, &area), given)) in vertices.enumerate() {
            let own = own.as_dvec3().try_normalize();
            let (Some(own), Some(given)) = (own, given.as_dvec3().try_normalize()) else {
                continue;
            };
            let degrees = own.angle_between(given).to_degrees();
            weighted += area * degrees;
            total += area;
            if error.worst_vertex.is_none() || degrees > error.largest_degrees {
                error.largest_degrees = degrees;
                error.worst_vertex = Some(vertex);
            }
        }
        if total > 0.0 {
            error.mean_degrees = weighted / total;
        }
        error
    }
}
