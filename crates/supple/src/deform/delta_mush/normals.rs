//! Normals of a smoothed surface.

use super::SmoothSurface;
use crate::exec;
use crate::mesh::Mesh;
use crate::surface::{Rows, Weld, double_area_normal};
use glam::DVec3;

/// The triangles around each point.
#[derive(Debug)]
pub(super) struct PointNormals {
    triangles: Vec<[u32; 3]>,
    /// By rising index; a triangle with a corner twice is there twice.
    around: Rows<u32>,
}

impl PointNormals {
    pub(super) fn of(mesh: &Mesh, weld: &Weld) -> PointNormals {
        let triangles = mesh.triangles().iter();
        let triangles: Vec<[u32; 3]> = triangles
            .map(|corners| corners.map(|corner| weld.point_of(corner as usize) as u32))
            .collect();
        PointNormals {
            around: Rows::of_triangles(weld.point_count(), triangles.iter().copied()),
            triangles,
        }
    }

    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Computes the normals of a surface whose positions have changed.
    pub(super) fn update(&self, surface: &mut SmoothSurface) {
        let SmoothSurface {
            places,
            normals,
            areas,
        } = surface;
        areas.resize(self.triangles.len(), DVec3::ZERO);
        exec::for_each_chunk_mut(areas, |first, areas| {
            for (area, corners) in areas.iter_mut().zip(&self.triangles[first..]) {
                *area = double_area_normal(corners.map(|corner| {
                    let [x, y, z, _] = places[corner as usize];
                    DVec3::new(x, y, z)
                }));
            }
        });
        normals.resize(places.len(), DVec3::ZERO);
        exec::for_each_chunk_mut(normals, |first, normals| {
            for (point, normal) in (first..).zip(normals) {
                let around = self.around.row(point).iter();
                *normal = around.map(|&triangle| areas[triangle as usize]).sum();
            }
        });
    }

    /// The bytes that a frame reads.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.triangles[..]) + size_of_val(self.around.values())
    }
}
