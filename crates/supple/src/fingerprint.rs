//! Fingerprints: hashes of the input of bakes, stored with them to detect stale data.
//!
//! Other tools renumber joints and vertices, rotate triangles, and merge or split vertices. Data in
//! vertex attributes stay valid then, so the fingerprint of centers of rotation must not depend on
//! any of that: a joint is identified by the positions that it holds and its weights there, a
//! vertex by its position and its joints, a triangle by its corners, and sums over all of them do
//! not depend on an order. A bake of direct delta mush stores rows of its own, which other tools do
//! not renumber, so its fingerprint includes the numbers of vertices and joints.
//!
//! The hash is the same on every machine and in every release, so it is implemented here (FNV-1a,
//! 64 bits), and numbers are hashed as little-endian bytes.

use crate::centers::CenterOptions;
use crate::mesh::Mesh;
use crate::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE, MushError, MushOptions};
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::smoothing::Steps;
use crate::surface::EdgeWeights;
use crate::weights::Weights;
use glam::Vec3;

/// To be raised if the same input gives other centers of rotation …
const CENTERS_EDITION: u64 = 1;

/// … or another bake of direct delta mush.
const MUSH_EDITION: u64 = 1;

impl CenterOptions {
    /// A hash of the input of centers of rotation: the surface, its weights and these options,
    /// independent of numbering and order.
    #[doc(hidden)] // for supple-io
    pub fn fingerprint(&self, rig: &Rig) -> u64 {
        let held = HeldSurface::new(rig.mesh(), rig.weights());
        let surface = held.hash(|_, hash| hash);
        let hash = Hash::new().number(CENTERS_EDITION);
        // Other tools may round options to f32.
        let options = [self.sigma, self.epsilon, self.accuracy].map(|option| option as f32);
        let hash = options.into_iter().fold(hash, Hash::float);
        hash.number(surface).mixed()
    }
}

impl MushOptions {
    /// A hash of the input of a bake: the surface and its painted attributes, the current weights
    /// of the character, these options, and the bones if they matter. `joint_number` returns the
    /// number by which the rows of a vertex name a joint.
    ///
    /// # Errors
    ///
    /// Fails if mesh and weights differ in their number of vertices.
    #[doc(hidden)] // for supple-io
    pub fn fingerprint(
        &self,
        mesh: &Mesh,
        skeleton: &Skeleton,
        weights: &Weights,
        joint_number: impl Fn(usize, usize) -> usize,
    ) -> Result<u64, MushError> {
        if weights.vertex_count() != mesh.vertex_count() {
            return Err(MushError::VertexCount {
                found: weights.vertex_count(),
                expected: mesh.vertex_count(),
            });
        }
        let held = HeldSurface::new(mesh, weights);
        let painted = [LAMBDA_SHARE, KAPPA_SHARE, ALPHA_SHARE].map(|name| mesh.painted(name));
        let surface = held.hash(|vertex, hash| {
            let hash = hash.number(vertex as u64);
            let joints = weights.of(vertex).map(|influence| influence.joint);
            let hash = joints.fold(hash, |hash, joint| {
                hash.number(joint_number(vertex, joint) as u64)
            });
            painted.iter().fold(hash, |hash, painted| {
                match painted.and_then(|painted| painted.get(vertex).copied().flatten()) {
                    Some(share) => hash.number(1).float(share),
                    None => hash.number(0),
                }
            })
        });
        let hash = self.hash(Hash::new().number(MUSH_EDITION)).number(surface);
        let held_joint = |joint: usize| held.joints.get(joint).copied().unwrap_or(0);
        let shares = self.alpha_by_joint().into_iter().map(|(joint, share)| {
            let hash = Hash::new().number(held_joint(joint)).float(share as f32);
            hash.mixed()
        });
        let hash = hash.number(shares.fold(0, u64::wrapping_add));
        if !self.radius_from_bones {
            return Ok(hash.mixed());
        }
        let bones = skeleton.bind_bones();
        let bones = bones
            .iter()
            .enumerate()
            .map(|(joint, bone)| (held_joint(joint), bone));
        let bones = bones.filter(|(held, _)| *held != 0).map(|(held, bone)| {
            let hash = Hash::new().number(held);
            hash.place(bone.head.as_vec3())
                .place(bone.tail.as_vec3())
                .mixed()
        });
        Ok(hash.number(bones.fold(0, u64::wrapping_add)).mixed())
    }

    /// Hashes all options except those of single joints.
    fn hash(&self, hash: Hash) -> Hash {
        let choices = [
            u64::from(self.iterations),
            u64::from(self.edge_weights == EdgeWeights::Cotangent),
            u64::from(self.steps == Steps::Explicit),
            u64::from(self.radius_from_bones),
            u64::from(self.rigid),
            self.max_influences.map_or(0, |most| most as u64),
        ];
        let hash = choices.into_iter().fold(hash, Hash::number);
        let numbers = [self.lambda, self.kappa, self.alpha, self.prune];
        numbers
            .map(|number| number as f32)
            .into_iter()
            .fold(hash, Hash::float)
    }
}

/// A surface with its weights.
struct HeldSurface<'a> {
    mesh: &'a Mesh,
    weights: &'a Weights,
    /// The number of triangles around each vertex.
    uses: Vec<u64>,
    joints: Vec<u64>,
}

impl<'a> HeldSurface<'a> {
    fn new(mesh: &'a Mesh, weights: &'a Weights) -> HeldSurface<'a> {
        let uses = corner_counts(mesh);
        HeldSurface {
            mesh,
            weights,
            joints: joint_hashes(mesh, weights, &uses),
            uses,
        }
    }

    /// The sum of hashes over triangles and unused vertices; `more` adds further data of a vertex.
    fn hash(&self, more: impl Fn(usize, Hash) -> Hash) -> u64 {
        let rows = self
            .mesh
            .positions()
            .iter()
            .take(self.weights.vertex_count());
        let vertices: Vec<u64> = rows
            .enumerate()
            .map(|(vertex, &place)| {
                let influences = self.weights.of(vertex).map(|influence| {
                    let joint = Hash::new().number(self.joints[influence.joint]);
                    joint.float(influence.weight).mixed()
                });
                let influences = influences.fold(0, u64::wrapping_add);
                more(vertex, Hash::new().place(place).number(influences)).mixed()
            })
            .collect();
        let hash_of = |corner: u32| vertices.get(corner as usize).copied().unwrap_or(0);
        let triangles = self.mesh.triangles().iter().map(|corners| {
            let mut corners = corners.map(hash_of);
            corners.sort_unstable();
            let hash = corners.into_iter().fold(Hash::new(), Hash::number);
            hash.mixed()
        });
        let loose = vertices
            .iter()
            .zip(&self.uses)
            .filter(|(_, uses)| **uses == 0);
        let surface = triangles.chain(loose.map(|(vertex, _)| *vertex));
        surface.fold(0, u64::wrapping_add)
    }
}

/// The number of triangles around each vertex.
fn corner_counts(mesh: &Mesh) -> Vec<u64> {
    let mut counts = vec![0; mesh.vertex_count()];
    for &corner in mesh.triangles().as_flattened() {
        counts[corner as usize] += 1;
    }
    counts
}

/// The hash of each joint's weights. A vertex is counted once per triangle corner, so that
/// splitting and merging vertices has no effect.
fn joint_hashes(mesh: &Mesh, weights: &Weights, uses: &[u64]) -> Vec<u64> {
    let mut hashes = vec![0u64; weights.max_joint().map_or(0, |joint| joint + 1)];
    let rows = mesh
        .positions()
        .iter()
        .zip(uses)
        .take(weights.vertex_count());
    for (vertex, (&place, &uses)) in rows.enumerate() {
        for influence in weights.of(vertex) {
            let held = Hash::new().place(place).float(influence.weight).mixed();
            let hash = &mut hashes[influence.joint];
            *hash = hash.wrapping_add(held.wrapping_mul(uses.max(1)));
        }
    }
    hashes
}

/// FNV-1a of 64 bits.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(self, bytes: &[u8]) -> Hash {
        Hash(bytes.iter().fold(self.0, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    fn number(self, number: u64) -> Hash {
        self.bytes(&number.to_le_bytes())
    }

    fn float(self, number: f32) -> Hash {
        self.bytes(&(number + 0.0).to_le_bytes()) // −0 + 0 is 0
    }

    fn place(self, place: Vec3) -> Hash {
        place.to_array().into_iter().fold(self, Hash::float)
    }

    /// Mixes all bits (the final steps of SplitMix64), so that sums of hashes are as good as
    /// hashes.
    fn mixed(self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Node;
    use crate::transform::{Local, Trs};
    use crate::weights::WeightsBuilder;
    use glam::DVec3;

    #[test]
    fn the_hash_is_the_published_one() {
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(Hash::new().bytes(text.as_bytes()).0, expected, "{text}");
        }
    }

    /// A surface by its corners: a position and the weights of three joints each.
    type Corner = (Vec3, [f32; 3]);

    const CORNERS: [Corner; 4] = [
        (Vec3::ZERO, [0.5, 0.5, 0.0]),
        (Vec3::X, [0.25, 0.5, 0.25]),
        (Vec3::Y, [0.0, 0.5, 0.5]),
        (Vec3::ONE, [1.0, 0.0, 0.0]),
    ];
    const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [1, 3, 2]];

    fn fingerprint(
        corners: &[Corner],
        triangles: &[[u32; 3]],
        numbering: [usize; 3],
        options: CenterOptions,
    ) -> u64 {
        let places = corners.iter().map(|corner| corner.0).collect();
        let mesh = Mesh::new(places, None, None, triangles.to_vec()).unwrap();
        let mut builder = WeightsBuilder::new(9).unwrap();
        for (_, row) in corners {
            builder.push(numbering.into_iter().zip(*row), 0).unwrap();
        }
        let node = Node {
            name: String::new(),
            parent: None,
            rest: Local::Trs(Trs::IDENTITY),
        };
        let skeleton = Skeleton::bound_at_rest(vec![node; 9], &Vec::from_iter(0..9)).unwrap();
        options.fingerprint(&Rig::new(mesh, skeleton, builder.finish().0).unwrap())
    }

    fn of(corners: &[Corner], triangles: &[[u32; 3]]) -> u64 {
        fingerprint(corners, triangles, [0, 1, 2], CenterOptions::PAPER)
    }

    #[test]
    fn it_is_the_same_for_the_same_surface_however_it_is_numbered() {
        let paper = CenterOptions::PAPER;
        let known = of(&CORNERS, &TRIANGLES);
        // Files store this number: it must not change by accident.
        assert_eq!(known, 0xd3b0_c29d_a269_2654);
        for numbering in [[2, 1, 0], [1, 0, 2], [8, 3, 5]] {
            let again = fingerprint(&CORNERS, &TRIANGLES, numbering, paper);
            assert_eq!(again, known, "{numbering:?}");
        }
        let [a, b, c, d] = CORNERS;
        let again = of(&[d, b, a, c], &[[3, 1, 0], [2, 1, 3]]);
        assert_eq!(again, known, "other orders");
        let again = of(&[a, b, c, b, d, c], &[[0, 1, 2], [3, 4, 5]]);
        assert_eq!(again, known, "split along a seam");
        let again = of(&[(-Vec3::ZERO, a.1), b, c, d], &TRIANGLES);
        assert_eq!(again, known, "negative zeros");
        let sigma = f64::from(paper.sigma as f32);
        let rounded = CenterOptions { sigma, ..paper };
        let again = fingerprint(&CORNERS, &TRIANGLES, [0, 1, 2], rounded);
        assert_eq!(again, known, "rounded options");
    }

    #[test]
    fn it_is_another_if_anything_changes() {
        let paper = CenterOptions::PAPER;
        let [a, b, c, d] = CORNERS;
        let far = Vec3::new(1.0 + f32::EPSILON, 1.0, 1.0);
        let mut found = vec![
            of(&CORNERS, &TRIANGLES),
            of(&[a, b, c, (far, d.1)], &TRIANGLES),
            of(&[a, b, c, (d.0, [0.0, 1.0, 0.0])], &TRIANGLES),
            of(&[(a.0, c.1), b, (c.0, a.1), d], &TRIANGLES),
            of(&[a, b, c, d, d], &TRIANGLES),
            of(&CORNERS, &[[0, 1, 3], [1, 3, 2]]),
            of(&CORNERS, &TRIANGLES[..1]),
        ];
        for options in [
            CenterOptions {
                sigma: 0.2,
                ..paper
            },
            CenterOptions {
                epsilon: 0.2,
                ..paper
            },
            CenterOptions {
                accuracy: 1e-4,
                ..paper
            },
        ] {
            found.push(fingerprint(&CORNERS, &TRIANGLES, [0, 1, 2], options));
        }
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count);
    }

    /// Joints in a row, a metre apart.
    fn skeleton() -> Skeleton {
        let node = |parent: Option<usize>| Node {
            name: String::new(),
            parent,
            rest: Local::Trs(Trs {
                translation: DVec3::Y,
                ..Trs::IDENTITY
            }),
        };
        let nodes = vec![node(None), node(Some(0)), node(Some(1))];
        Skeleton::bound_at_rest(nodes, &[0, 1, 2]).unwrap()
    }

    fn mush_fingerprint(
        corners: &[Corner],
        triangles: &[[u32; 3]],
        painted: Option<f32>,
        numbers: [usize; 3],
        options: &MushOptions,
    ) -> u64 {
        let places = corners.iter().map(|corner| corner.0).collect();
        let mut mesh = Mesh::new(places, None, None, triangles.to_vec()).unwrap();
        if let Some(share) = painted {
            let shares = vec![Some(share); corners.len()];
            mesh = mesh.with_painted(KAPPA_SHARE, shares).unwrap();
        }
        let mut builder = WeightsBuilder::new(3).unwrap();
        for (_, row) in corners {
            builder.push(row.iter().copied().enumerate(), 0).unwrap();
        }
        let weights = builder.finish().0;
        let fingerprint =
            options.fingerprint(&mesh, &skeleton(), &weights, |_, joint| numbers[joint]);
        fingerprint.unwrap()
    }

    #[test]
    fn that_of_a_bake_knows_the_order_of_its_rows() {
        // Independent of the defaults.
        let usual = MushOptions {
            prune: 1e-5,
            ..MushOptions::DEFAULT
        };
        let of = |corners: &[Corner], triangles: &[[u32; 3]], options: &MushOptions| {
            mush_fingerprint(corners, triangles, None, [0, 1, 2], options)
        };
        let known = of(&CORNERS, &TRIANGLES, &usual);
        // Files store this number: it must not change by accident.
        assert_eq!(known, 0x378e_d661_1126_c5bc);
        assert_eq!(of(&CORNERS, &[[2, 1, 3], [1, 2, 0]], &usual), known);
        let rounded = MushOptions {
            alpha: f64::from(0.8f32),
            ..usual.clone()
        };
        assert_eq!(of(&CORNERS, &TRIANGLES, &rounded), known);

        let [a, b, c, d] = CORNERS;
        let mut found = vec![
            known,
            of(&[d, b, a, c], &[[3, 1, 0], [2, 1, 3]], &usual),
            of(&[a, b, c, (d.0, [0.0, 1.0, 0.0])], &TRIANGLES, &usual),
            of(&CORNERS, &TRIANGLES[..1], &usual),
            mush_fingerprint(&CORNERS, &TRIANGLES, None, [0, 2, 1], &usual),
            mush_fingerprint(&CORNERS, &TRIANGLES, Some(0.5), [0, 1, 2], &usual),
            mush_fingerprint(&CORNERS, &TRIANGLES, Some(0.25), [0, 1, 2], &usual),
        ];
        let changes: [fn(&mut MushOptions); 11] = [
            |options| options.iterations = 21,
            |options| options.lambda = 2.0,
            |options| options.kappa = 2.0,
            |options| options.alpha = 0.5,
            |options| options.edge_weights = EdgeWeights::Cotangent,
            |options| options.steps = Steps::Explicit,
            |options| options.radius_from_bones = false,
            |options| options.rigid = true,
            |options| options.max_influences = Some(4),
            |options| options.prune = 1e-4,
            |options| options.alpha_at_joints = vec![(1, 0.5)],
        ];
        for change in changes {
            let mut options = usual.clone();
            change(&mut options);
            found.push(of(&CORNERS, &TRIANGLES, &options));
        }
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count);
    }
}
