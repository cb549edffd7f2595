//! Centers of rotation that follow a paint brush, which the paper leaves open (§5).
//!
//! A change of weights at some vertices changes the triangles around them, and thus the pairs of
//! joints that held or hold those triangles. The old triangles are subtracted from these pairs and
//! the new ones added; the fields of the pairs are recomputed, and all vertices with these pairs
//! are updated.
//!
//! Subtraction leaves rounding errors in a sum. So a pair is recomputed once the area subtracted
//! from it reaches a million times its current area, which keeps the error below 1e-9 for any
//! number of strokes.

use super::fast::grid_for;
use super::fields::{self, JointFields, PairField};
use super::grid::WeightGrid;
use super::joint_support::CornerWeights;
use super::spread::{Change, PairSpread, Spreader, widen_sums};
use super::surface::{Repainted, WeightedSurface};
use super::{CenterError, CenterOptions, Centers, PLACES, check, exact, mean_of};
use crate::exec;
use crate::mesh::Mesh;
use crate::surface::Rows;
use crate::weights::Weights;
use std::borrow::Cow;

/// Centers of a surface whose weights are being painted.
///
/// Keeps a copy of the surface, and about 23 kB for every pair of joints that share triangles.
#[derive(Clone, Debug)]
pub struct LiveCenters {
    surface: WeightedSurface<'static>,
    /// None if direct summation is better than a grid; then every update is a full bake.
    gridded: Option<Gridded>,
    /// The triangles around each vertex.
    around: Rows<u32>,
    centers: Centers,
}

/// The grids of all pairs.
#[derive(Clone, Debug)]
struct Gridded {
    grid: WeightGrid,
    /// The pairs of each joint as the lower one.
    joints: Vec<JointPairs>,
}

#[derive(Clone, Debug, Default)]
struct JointPairs {
    spreads: Vec<PairSpread<PLACES>>,
    fields: JointFields<PLACES>,
}

impl LiveCenters {
    /// Bakes the centers and keeps the data for updates.
    ///
    /// # Errors
    ///
    /// Fails if mesh and weights differ in their number of vertices, or an option is out of range.
    pub fn new(
        mesh: &Mesh,
        weights: &Weights,
        options: &CenterOptions,
    ) -> Result<LiveCenters, CenterError> {
        check(mesh, weights, options)?;
        let surface = WeightedSurface::new(
            Cow::Owned(mesh.clone()),
            Cow::Owned(weights.clone()),
            options,
        );
        let gridded = grid_for(&surface).map(|grid| Gridded::new(&surface, grid));
        let sums = match &gridded {
            Some(gridded) => gridded.read(&surface, &surface.vertices()),
            None => exact::vertex_sums(&surface, &surface.vertices()),
        };
        Ok(LiveCenters {
            around: Rows::of_triangles(mesh.vertex_count(), mesh.triangles().iter().copied()),
            surface,
            gridded,
            centers: Centers::of_sums(&sums),
        })
    }

    /// The centers after the last update.
    pub fn centers(&self) -> &Centers {
        &self.centers
    }

    /// Updates the centers after a change of weights: reads the rows of the vertices in `changed`,
    /// and no others. Returns the vertices whose centers may have changed, in rising order.
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices, or a changed vertex does not exist.
    pub fn update(
        &mut self,
        weights: &Weights,
        changed: &[usize],
    ) -> Result<Vec<usize>, CenterError> {
        let vertices = self.surface.mesh.vertex_count();
        check(&self.surface.mesh, weights, &self.surface.options)?;
        if let Some(&vertex) = changed.iter().find(|&&vertex| vertex >= vertices) {
            return Err(CenterError::NoSuchVertex { vertex, vertices });
        }
        let mut changed: Vec<u32> = changed.iter().map(|&vertex| vertex as u32).collect();
        sort_out(&mut changed);
        let mut triangles = changed
            .iter()
            .flat_map(|&vertex| self.around.row(vertex as usize))
            .copied()
            .collect::<Vec<_>>();
        sort_out(&mut triangles);
        let repainted = self.surface.repaint(weights, &changed, triangles);
        let Some(gridded) = &mut self.gridded else {
            let all = self.surface.vertices();
            let sums = exact::vertex_sums::<PLACES>(&self.surface, &all);
            self.centers = Centers::of_sums(&sums);
            return Ok((0..vertices).collect());
        };
        let touched = TouchedPairs::of(&self.surface, &repainted, &changed);
        gridded.refresh(&self.surface, &repainted, &changed, &touched);
        let readers = touched.readers(&self.surface, &changed);
        let sums = gridded.read(&self.surface, &readers);
        for (&vertex, sum) in readers.iter().zip(&sums) {
            self.centers.points[vertex as usize] = mean_of(sum).map(|center| center.as_vec3());
        }
        Ok(readers.into_iter().map(|vertex| vertex as usize).collect())
    }
}

impl Gridded {
    fn new(surface: &WeightedSurface<'_>, grid: WeightGrid) -> Gridded {
        let joints = exec::map(surface.joint_count, |joint| JointPairs {
            spreads: surface.spreads(&grid, joint, |_| true),
            fields: JointFields::default(),
        });
        let mut gridded = Gridded { grid, joints };
        let all = gridded.joints.iter();
        let all = all.map(|pairs| pairs.spreads.iter().map(|pair| pair.partner).collect());
        gridded.refresh_fields(surface, &all.collect::<Vec<_>>());
        gridded
    }

    /// Moves triangles from their old pairs to their new ones, and recomputes the fields of these
    /// pairs.
    fn refresh(
        &mut self,
        surface: &WeightedSurface<'_>,
        repainted: &Repainted,
        changed: &[u32],
        touched: &TouchedPairs,
    ) {
        let Gridded { grid, joints } = self;
        joints.resize_with(surface.joint_count, JointPairs::default);
        exec::for_each_mut(joints, |joint, pairs| {
            if !touched.partners[joint].is_empty() {
                pairs.respread(surface, grid, joint, repainted);
                pairs.widen(surface, joint, changed);
            }
        });
        self.refresh_fields(surface, &touched.partners);
    }

    /// Recomputes the fields of some pairs; `partners` are those of each joint as the lower one.
    fn refresh_fields(&mut self, surface: &WeightedSurface<'_>, partners: &[Vec<u16>]) {
        // In parallel over pairs, since some joints have many.
        let joints = self.joints.iter().zip(partners).enumerate();
        let wanted = joints.flat_map(|(joint, (pairs, partners))| {
            let wanted = pairs.spreads.iter();
            let wanted = wanted.filter(|pair| partners.contains(&pair.partner));
            wanted.map(move |pair| (joint, pair))
        });
        let wanted: Vec<(usize, &PairSpread<PLACES>)> = wanted.collect();
        let fields = exec::map(wanted.len(), |index| {
            let (joint, pair) = wanted[index];
            let field = PairField::new(&self.grid, &surface.units, pair)?;
            Some((joint, (pair.partner, field)))
        });
        let mut fresh = vec![Vec::new(); self.joints.len()];
        for (joint, field) in fields.into_iter().flatten() {
            fresh[joint].push(field);
        }
        for ((joint, partners), fresh) in self.joints.iter_mut().zip(partners).zip(fresh) {
            if !partners.is_empty() {
                joint.fields.replace(partners, fresh);
            }
        }
    }

    /// The sums of some vertices.
    fn read(&self, surface: &WeightedSurface<'_>, vertices: &[u32]) -> Vec<[f64; PLACES]> {
        let joints = self.joints.iter();
        let fields: Vec<&JointFields<PLACES>> = joints.map(|pairs| &pairs.fields).collect();
        fields::vertex_sums(surface, &self.grid, &fields, vertices)
    }
}

impl JointPairs {
    /// Subtracts triangles from their old pairs and adds them to their new ones.
    fn respread(
        &mut self,
        surface: &WeightedSurface<'_>,
        grid: &WeightGrid,
        joint: usize,
        repainted: &Repainted,
    ) {
        let triangles = || repainted.triangles.iter().copied();
        let has_joint = |(_, row): &(u32, &[CornerWeights])| {
            row.iter().any(|held| usize::from(held.joint) == joint)
        };
        let before = repainted.before.iter().map(Vec::as_slice);
        let now = triangles().map(|triangle| surface.rows.of_triangle(triangle as usize));
        let spreads = std::mem::take(&mut self.spreads);
        let mut spreader = Spreader::new(surface, grid, joint, spreads, |_| true);
        spreader.spread(triangles().zip(before).filter(has_joint), Change::Removed);
        spreader.spread(triangles().zip(now).filter(has_joint), Change::Added);
        self.spreads = spreader.finish();
        self.spreads.retain(|pair| pair.triangles > 0);
        let worn = self.spreads.extract_if(.., |pair| pair.is_worn());
        let worn: Vec<u16> = worn.map(|pair| pair.partner).collect();
        if !worn.is_empty() {
            let anew = surface.spreads(grid, joint, |partner| worn.contains(&partner));
            self.spreads.extend(anew);
        }
    }

    /// Extends the known range of sums of weights to changed vertices; for a new pair, to all
    /// vertices.
    fn widen(&mut self, surface: &WeightedSurface<'_>, joint: usize, changed: &[u32]) {
        let known = |pair: &PairSpread<PLACES>| pair.sums.start <= pair.sums.end;
        self.spreads.sort_by_key(|pair| !known(pair));
        let first_new = self.spreads.partition_point(known);
        let (known, new) = self.spreads.split_at_mut(first_new);
        widen_sums(surface, joint, known, changed);
        if !new.is_empty() {
            widen_sums(surface, joint, new, &surface.support.vertices[joint]);
        }
    }
}

/// Pairs of joints, by the lower one.
struct TouchedPairs {
    partners: Vec<Vec<u16>>,
    /// The joints of the last row, since neighbours mostly have the same joints.
    last: Vec<u16>,
}

impl TouchedPairs {
    /// The pairs whose triangles changed, and the pairs of changed vertices.
    fn of(surface: &WeightedSurface<'_>, repainted: &Repainted, changed: &[u32]) -> TouchedPairs {
        let mut touched = TouchedPairs {
            partners: vec![Vec::new(); surface.joint_count],
            last: Vec::new(),
        };
        for row in &repainted.before {
            touched.add(row.iter().map(|held| held.joint));
        }
        for &triangle in &repainted.triangles {
            let row = surface.rows.of_triangle(triangle as usize);
            touched.add(row.iter().map(|held| held.joint));
        }
        let mut joints = Vec::new();
        for &vertex in changed {
            joints.clear();
            joints.extend(surface.weights.row(vertex as usize).0);
            joints.sort_unstable();
            touched.add(joints.iter().copied());
        }
        touched
    }

    /// Adds all pairs of some joints, which are in rising order.
    fn add(&mut self, joints: impl Iterator<Item = u16> + Clone) {
        if self.last.iter().copied().eq(joints.clone()) {
            return;
        }
        self.last.clear();
        self.last.extend(joints);
        for (index, &lower) in self.last.iter().enumerate() {
            let partners = &mut self.partners[usize::from(lower)];
            for higher in &self.last[index + 1..] {
                if !partners.contains(higher) {
                    partners.push(*higher);
                }
            }
        }
    }

    /// The vertices with both joints of some pair, and those in `more`, in rising order.
    fn readers(&self, surface: &WeightedSurface<'_>, more: &[u32]) -> Vec<u32> {
        let mut reads = vec![false; surface.mesh.vertex_count()];
        for &vertex in more {
            reads[vertex as usize] = true;
        }
        let mut is_partner = vec![false; surface.joint_count];
        for (partners, held) in self.partners.iter().zip(&surface.support.vertices) {
            if partners.is_empty() {
                continue;
            }
            is_partner.fill(false);
            for &partner in partners {
                is_partner[usize::from(partner)] = true;
            }
            for &vertex in held {
                let joints = surface.weights.row(vertex as usize).0;
                reads[vertex as usize] |=
                    joints.iter().any(|&joint| is_partner[usize::from(joint)]);
            }
        }
        let readers = reads.iter().enumerate().filter(|(_, reads)| **reads);
        readers.map(|(vertex, _)| vertex as u32).collect()
    }
}

fn sort_out(list: &mut Vec<u32>) {
    list.sort_unstable();
    list.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{Character, build};
    use crate::weights::WeightsBuilder;
    use glam::Vec3;

    /// Weights that can be painted on, row by row.
    struct Canvas {
        rows: Vec<Vec<(usize, f32)>>,
        joints: usize,
    }

    impl Canvas {
        fn of(weights: &Weights, joints: usize) -> Canvas {
            let row = |vertex| {
                let row = weights.of(vertex);
                row.map(|influence| (influence.joint, influence.weight))
                    .collect()
            };
            Canvas {
                rows: (0..weights.vertex_count()).map(row).collect(),
                joints,
            }
        }

        /// Adds or removes some weight of a joint around a vertex, and returns the changed
        /// vertices.
        fn stroke(
            &mut self,
            mesh: &Mesh,
            at: usize,
            radius: f32,
            joint: usize,
            by: f32,
        ) -> Vec<usize> {
            let middle = mesh.positions()[at];
            let near = |place: &Vec3| (1.0 - place.distance(middle) / radius).max(0.0);
            let mut changed = Vec::new();
            for (vertex, place) in mesh.positions().iter().enumerate() {
                let share = by * near(place);
                if share == 0.0 {
                    continue;
                }
                let row = &mut self.rows[vertex];
                match row.iter_mut().find(|(known, _)| *known == joint) {
                    Some((_, weight)) => *weight = (*weight + share).max(0.0),
                    None => row.push((joint, share.max(0.0))),
                }
                row.retain(|(_, weight)| *weight > 0.0);
                if row.is_empty() {
                    row.push((joint, 1.0));
                }
                changed.push(vertex);
            }
            changed
        }

        fn weights(&self) -> Weights {
            let mut builder = WeightsBuilder::new(self.joints).unwrap();
            for row in &self.rows {
                builder.push(row.iter().copied(), 0).unwrap();
            }
            builder.finish().0
        }
    }

    #[test]
    fn after_any_number_of_strokes_centers_are_those_of_a_bake() {
        let options = CenterOptions::default();
        for (character, size, strokes) in [(Character::Arm, 2000, 60), (Character::Bar, 2000, 2000)]
        {
            let asset = build(character, size).unwrap();
            let (mesh, joints) = (asset.rig.mesh(), asset.rig.skeleton().joints().len());
            let mut canvas = Canvas::of(asset.rig.weights(), joints);
            let mut live = LiveCenters::new(mesh, asset.rig.weights(), &options).unwrap();
            let mut seed = 7_usize;
            let mut random = |below: usize| {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (seed >> 33) % below
            };
            for stroke in 0..strokes {
                let at = random(mesh.vertex_count());
                let radius = mesh.extent() * 0.01 * (1 + random(8)) as f32;
                let by = [0.7, 0.2, -0.3, -2.0][random(4)];
                let changed = canvas.stroke(mesh, at, radius, random(joints), by);
                let weights = canvas.weights();
                let before = live.centers().clone();
                let reported = live.update(&weights, &changed).unwrap();
                for vertex in 0..mesh.vertex_count() {
                    let same = before.of(vertex) == live.centers().of(vertex);
                    assert!(same || reported.binary_search(&vertex).is_ok());
                }
                if stroke % (strokes / 20) == 0 || stroke + 1 == strokes {
                    let baked = Centers::bake(mesh, &weights, &options).unwrap();
                    let most = 1e-6 * mesh.extent();
                    for vertex in 0..mesh.vertex_count() {
                        match (live.centers().of(vertex), baked.of(vertex)) {
                            (Some(live), Some(baked)) => assert!(live.distance(baked) < most),
                            (live, baked) => assert_eq!(live, baked, "{character:?}, {stroke}"),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_too_fine_for_a_grid_is_followed_too() {
        let options = CenterOptions {
            sigma: 0.02,
            ..CenterOptions::default()
        };
        let asset = build(Character::Bar, 2000).unwrap();
        let mesh = asset.rig.mesh();
        let mut canvas = Canvas::of(asset.rig.weights(), 2);
        let mut live = LiveCenters::new(mesh, asset.rig.weights(), &options).unwrap();
        let changed = canvas.stroke(mesh, 5, mesh.extent() * 0.3, 1, 0.5);
        live.update(&canvas.weights(), &changed).unwrap();
        let baked = Centers::bake(mesh, &canvas.weights(), &options).unwrap();
        assert_eq!(*live.centers(), baked);
    }

    #[test]
    fn joints_that_never_moved_anything_can_be_painted() {
        let options = CenterOptions::default();
        let asset = build(Character::Bar, 2000).unwrap();
        let mesh = asset.rig.mesh();
        let mut canvas = Canvas::of(asset.rig.weights(), 9);
        let mut live = LiveCenters::new(mesh, asset.rig.weights(), &options).unwrap();
        let changed = canvas.stroke(mesh, 5, mesh.extent() * 0.3, 8, 0.5);
        live.update(&canvas.weights(), &changed).unwrap();
        let baked = Centers::bake(mesh, &canvas.weights(), &options).unwrap();
        assert_eq!(*live.centers(), baked);
    }

    #[test]
    fn rows_that_are_not_named_are_not_taken_over() {
        let options = CenterOptions::default();
        let asset = build(Character::Bar, 2000).unwrap();
        let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
        let mut canvas = Canvas::of(weights, 2);
        let mut live = LiveCenters::new(mesh, weights, &options).unwrap();
        let changed = canvas.stroke(mesh, 5, mesh.extent() * 0.3, 1, 0.5);
        live.update(&canvas.weights(), &[]).unwrap();
        assert_eq!(
            *live.centers(),
            Centers::bake(mesh, weights, &options).unwrap()
        );
        live.update(&canvas.weights(), &changed).unwrap();
        let baked = Centers::bake(mesh, &canvas.weights(), &options).unwrap();
        let far = |vertex: &usize| match (live.centers().of(*vertex), baked.of(*vertex)) {
            (Some(live), Some(baked)) => live.distance(baked) > 1e-6,
            (live, baked) => live != baked,
        };
        assert_eq!((0..mesh.vertex_count()).find(far), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let asset = build(Character::Bar, 2000).unwrap();
        let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
        let mut live = LiveCenters::new(mesh, weights, &CenterOptions::default()).unwrap();
        let vertices = mesh.vertex_count();
        assert_eq!(
            live.update(weights, &[vertices]),
            Err(CenterError::NoSuchVertex {
                vertex: vertices,
                vertices
            })
        );
        assert!(live.update(weights, &[]).unwrap().is_empty());
    }
}
