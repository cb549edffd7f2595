//! Surfaces to smooth: random ones with everything that files have, and a few that are known well.

use crate::common::{
    Bake, LEAST_WEIGHT, Prepared, bake, deform_skin, palette, rotation, skeleton, vector,
};
use crate::plain::{Posed, common_scale};
use crate::random;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::f64::consts::TAU;
use std::sync::Arc;
use supple::deform::{BakedData, DirectDeltaMush, MushVariant};
use supple::mush::EdgeWeights;
use supple::mush::Steps;
use supple::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE, Mush, MushOptions};
use supple::skeleton::Node;
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Method, Palette, Rig, Skeleton};

/// A triangulated surface, and what was painted on it: shares of λ, κ and α.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    pub places: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Sheet {
    /// Another one beside it.
    pub fn beside(mut self, other: Sheet, shift: DVec3) -> Sheet {
        let first = self.places.len() as u32;
        self.places
            .extend(other.places.iter().map(|place| *place + shift));
        let triangles = other.triangles.iter();
        self.triangles
            .extend(triangles.map(|corners| corners.map(|corner| corner + first)));
        self
    }

    /// A grid of `u` by `v` quads, closed around in `v` if wanted.
    pub fn grid([u, v]: [usize; 2], closed: bool, place: impl Fn(f64, f64) -> DVec3) -> Sheet {
        let columns = if closed { v } else { v + 1 };
        let at = |index: usize| {
            let (row, column) = (index / columns, index % columns);
            place(row as f64 / u as f64, column as f64 / v as f64)
        };
        let index = |row: usize, column: usize| (row * columns + column % columns) as u32;
        let quad = |quad: usize| {
            let (row, column) = (quad / v, quad % v);
            let [a, b] = [index(row, column), index(row, column + 1)];
            let [c, d] = [index(row + 1, column), index(row + 1, column + 1)];
            [[a, c, b], [b, c, d]]
        };
        Sheet {
            places: (0..(u + 1) * columns).map(at).collect(),
            triangles: (0..u * v).flat_map(quad).collect(),
        }
    }

    /// A tube along Y from −1 to 1.
    pub fn tube(along: usize, around: usize, radius: f64) -> Sheet {
        Sheet::grid([along, around], true, |t, turn| {
            let angle = TAU * turn;
            DVec3::new(radius * angle.cos(), 2.0 * t - 1.0, radius * angle.sin())
        })
    }

    pub fn mesh(&self) -> Mesh {
        let places = self.places.iter().map(|place| place.as_vec3()).collect();
        Mesh::new(places, None, None, self.triangles.clone()).unwrap()
    }

    /// Bound to a skeleton, each place by what `row` says.
    pub fn bound(&self, skeleton: Skeleton, row: impl Fn(DVec3) -> Vec<(usize, f64)>) -> Rig {
        let mut weights = WeightsBuilder::new(skeleton.joints().len()).unwrap();
        for place in &self.places {
            let row = row(*place).into_iter();
            weights
                .push(row.map(|(joint, weight)| (joint, weight as f32)), 0)
                .unwrap();
        }
        Rig::new(self.mesh(), skeleton, weights.finish().0).unwrap()
    }
}

/// Joints in a row along Y, a unit apart, from −1 on.
pub fn row_of_joints(count: usize) -> Skeleton {
    let node = |joint: usize| Node {
        name: String::new(),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(if joint > 0 {
            DVec3::Y
        } else {
            -DVec3::Y
        })),
    };
    let all: Vec<usize> = (0..count).collect();
    Skeleton::bound_at_rest((0..count).map(node).collect(), &all).unwrap()
}

/// A tube on two joints, the lower half held by the first and the upper half by the second alone.
pub fn rigid_tube(along: usize, around: usize, radius: f64) -> Rig {
    let tube = Sheet::tube(along, around, radius);
    tube.bound(row_of_joints(2), |place| {
        vec![(usize::from(place.y > 1e-9), 1.0)]
    })
}

/// The joint at the origin moved, the lower one still.
pub fn upper(motion: DAffine3) -> Palette {
    palette(&[DAffine3::IDENTITY, motion])
}

/// Two triangles with a common edge, as random as can be.
pub fn hinge() -> impl Strategy<Value = Sheet> {
    prop::array::uniform4(vector(1.0)).prop_map(|places| Sheet {
        places: places.to_vec(),
        triangles: vec![[0, 1, 2], [1, 0, 3]],
    })
}

/// A crumpled grid with open borders, in which some vertices were pulled next to the edge between
/// others.
fn crumpled() -> impl Strategy<Value = Sheet> {
    let jitter = prop::collection::vec(vector(0.12), 30);
    let slivers = prop::collection::vec((any::<Index>(), 1e-7..1e-2f64), 0..3);
    (1..5usize, 1..5usize, any::<bool>(), jitter, slivers).prop_map(
        |(u, v, closed, jitter, slivers)| {
            let closed = closed && v > 2;
            let mut sheet = Sheet::grid([u, v], closed, |s, t| {
                let angle = TAU * t;
                match closed {
                    true => DVec3::new(0.3 * angle.cos(), s, 0.3 * angle.sin()),
                    false => DVec3::new(t, s, 0.3 * (3.0 * s + t).sin()),
                }
            });
            for (place, jitter) in sheet.places.iter_mut().zip(jitter) {
                *place += jitter;
            }
            for (triangle, off) in slivers {
                let [a, b, c] = sheet.triangles[triangle.index(sheet.triangles.len())];
                let [a, b, c] = [a, b, c].map(|corner| corner as usize);
                let between = sheet.places[a].lerp(sheet.places[b], 0.4);
                sheet.places[c] = between + (sheet.places[c] - between) * off;
            }
            sheet
        },
    )
}

/// Triangles between any points: edges of three triangles and more, corners used twice, points used
/// by none.
fn soup() -> impl Strategy<Value = Sheet> {
    let triangle = prop::array::uniform3(0..12u32);
    let parts = (
        prop::collection::vec(vector(1.0), 12),
        prop::collection::vec(triangle, 1..10),
    );
    parts.prop_map(|(places, triangles)| Sheet { places, triangles })
}

/// One to three pieces, near each other or apart, with loose points and seams.
pub fn any_sheet() -> impl Strategy<Value = Sheet> {
    let piece = || prop_oneof![1 => hinge(), 3 => crumpled(), 1 => soup()].boxed();
    let pieces = prop::collection::vec((piece(), vector(1.5)), 1..4);
    let loose = prop::collection::vec(vector(1.0), 0..3);
    let seams = prop::collection::vec(any::<Index>(), 0..4);
    (pieces, loose, seams).prop_map(|(pieces, loose, seams)| {
        let mut sheet = Sheet::default();
        for (piece, shift) in pieces {
            sheet = sheet.beside(piece, shift);
        }
        sheet.places.extend(loose);
        for seam in seams {
            // One corner of one triangle gets a vertex of its own.
            let triangle = seam.index(sheet.triangles.len());
            let corner = sheet.triangles[triangle][0];
            sheet.triangles[triangle][0] = sheet.places.len() as u32;
            sheet.places.push(sheet.places[corner as usize]);
        }
        sheet
    })
}

/// Weights for up to sixty vertices: each held by one joint, or by up to four.
fn rows() -> impl Strategy<Value = Vec<Vec<(Index, f32)>>> {
    let smooth = prop::collection::vec((any::<Index>(), LEAST_WEIGHT..1.0), 1..5);
    let rigid = prop::collection::vec((any::<Index>(), Just(1.0f32)), 1..2);
    let rows = |row: BoxedStrategy<Vec<(Index, f32)>>| prop::collection::vec(row, 60);
    prop_oneof![rows(smooth.boxed()), rows(rigid.boxed())]
}

/// The values of an attribute: nothing, zeros, numbers.
fn paint(most: f32) -> impl Strategy<Value = Option<Vec<Option<f32>>>> {
    let value = prop_oneof![
        2 => Just(None),
        1 => Just(Some(0.0)),
        3 => (0.0..=most).prop_map(Some),
    ];
    prop::option::of(prop::collection::vec(value, 60))
}

/// Random surfaces on random skeletons, painted or not. Vertices at one place have the same
/// weights, as a seam has.
pub fn any_rig() -> impl Strategy<Value = Rig> {
    let paints = (paint(2.0), paint(2.0), paint(1.0));
    (skeleton(), any_sheet(), rows(), paints).prop_map(|(skeleton, sheet, rows, paints)| {
        let joints = skeleton.joints().len();
        let mut weights = WeightsBuilder::new(joints).unwrap();
        for place in &sheet.places {
            let first = sheet
                .places
                .iter()
                .position(|other| other == place)
                .unwrap();
            let row = rows[first % 60].iter();
            let row = row.map(|(joint, weight)| (joint.index(joints), *weight));
            weights.push(row, 0).unwrap();
        }
        let mut mesh = sheet.mesh();
        for (name, paint) in [
            (LAMBDA_SHARE, paints.0),
            (KAPPA_SHARE, paints.1),
            (ALPHA_SHARE, paints.2),
        ] {
            if let Some(values) = paint {
                let values = values.iter().cycle().take(sheet.places.len());
                mesh = mesh.with_painted(name, values.copied().collect()).unwrap();
            }
        }
        Rig::new(mesh, skeleton, weights.finish().0).unwrap()
    })
}

/// Random cases. A failing case is not shrunk for long: each step uses dense matrices again.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        max_shrink_iters: 20,
        ..random::config(cases)
    }
}

/// Runs a test on random cases, and counts what was compared.
pub fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value, &Tally) -> Result<(), TestCaseError>,
) -> Tally {
    let tally = Tally::default();
    if let Err(error) = TestRunner::new(config(cases)).run(strategy, |case| test(case, &tally)) {
        panic!("{error}");
    }
    tally
}

/// The numbers of vertices that a test compared and met: a formula does not determine every
/// rotation, and a test that skips most vertices checks nothing.
#[derive(Debug, Default)]
pub struct Tally {
    met: Cell<usize>,
    compared: Cell<usize>,
}

impl Tally {
    pub fn count(&self, compared: bool) {
        self.met.set(self.met.get() + 1);
        self.compared
            .set(self.compared.get() + usize::from(compared));
    }

    /// Fails if less than this share was compared.
    pub fn assert_at_least(&self, share: f64) {
        let compared = self.compared.get() as f64 / self.met.get() as f64;
        assert!(
            compared >= share,
            "only {compared} of all vertices were compared"
        );
    }
}

/// Options over their whole ranges, nothing pruned, nothing automatic.
pub fn any_options() -> impl Strategy<Value = MushOptions> {
    let alpha = prop_oneof![Just(0.0), 0.0..0.95f64];
    let joints = prop::collection::vec((0..1usize, 0.0..=1.0f64), 0..2);
    let kinds = (any::<bool>(), any::<bool>(), any::<bool>());
    (0..25u32, 0.02..4.0f64, 0.0..1.0f64, alpha, joints, kinds).prop_map(
        |(iterations, lambda, kappa, alpha, alpha_at_joints, (cotangent, explicit, rigid))| {
            // Explicit steps are stable up to one, of shares up to two.
            let lambda = if explicit { lambda / 8.0 } else { lambda };
            MushOptions {
                iterations,
                lambda,
                kappa: kappa * lambda,
                alpha,
                edge_weights: if cotangent {
                    EdgeWeights::Cotangent
                } else {
                    EdgeWeights::Uniform
                },
                steps: if explicit {
                    Steps::Explicit
                } else {
                    Steps::Implicit
                },
                radius_from_bones: false,
                rigid,
                max_influences: None,
                prune: 0.0,
                alpha_at_joints,
            }
        },
    )
}

/// A pose for up to a dozen joints: each goes where it likes, stretched by up to a factor.
pub fn any_pose(largest_angle: f64, most_stretch: f64) -> impl Strategy<Value = Vec<DAffine3>> {
    let factor = move || (-1.0..=1.0f64).prop_map(move |power| most_stretch.powf(power));
    let stretch = (rotation(3.0), factor(), factor(), factor()).prop_map(|(axes, x, y, z)| {
        let axes = DMat3::from_quat(axes);
        axes * DMat3::from_diagonal(DVec3::new(x, y, z)) * axes.transpose()
    });
    let joint = (rotation(largest_angle), vector(1.0), stretch);
    let joint = joint.prop_map(|(turn, translation, stretch)| DAffine3 {
        matrix3: DMat3::from_quat(turn) * stretch,
        translation,
    });
    prop::collection::vec(joint, 12)
}

/// The first of some motions as a palette.
pub fn palette_of(rig: &Rig, motions: &[DAffine3]) -> Palette {
    palette(&motions[..rig.skeleton().joints().len()])
}

/// A rig in a pose for the formulas, and the scale that all joints share.
pub fn posed(rig: &Rig, palette: &Palette) -> (Posed, f64) {
    let in_use = |joint: usize| {
        let mut rows = (0..rig.weights().vertex_count()).map(|vertex| rig.weights().row(vertex).0);
        rows.any(|joints| joints.contains(&(joint as u16)))
    };
    let world = common_scale(palette, in_use);
    (Posed::shrunk(rig, palette, world), world)
}

/// A variant of direct delta mush with stored patches.
pub fn variant(mush: &Arc<Mush>, variant: MushVariant) -> Prepared {
    Prepared {
        method: Method::DirectDeltaMush(DirectDeltaMush {
            variant,
            ..DirectDeltaMush::default()
        }),
        baked: BakedData {
            mush: Some(mush.clone()),
            ..BakedData::default()
        },
    }
}

pub fn baked(rig: &Rig, options: &MushOptions) -> Arc<Mush> {
    Arc::new(Mush::bake(rig, options).unwrap().mush)
}

pub fn extent(rig: &Rig) -> f64 {
    f64::from(rig.mesh().extent())
}

/// The largest distance between two surfaces.
pub fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    let distances = a
        .iter()
        .zip(b)
        .map(|(a, b)| a.as_dvec3().distance(b.as_dvec3()));
    distances.fold(0.0, |largest, distance| {
        if distance > largest || distance.is_nan() {
            distance
        } else {
            largest
        }
    })
}

pub fn posed_by(rig: &Rig, method: &impl Bake, palette: &Palette) -> Vec<Vec3> {
    deform_skin(&bake(rig, method), palette).positions
}

/// The rotations of a method's frames: the images of three unit vectors at every vertex.
pub fn rotations(rig: &Rig, method: &impl Bake, palette: &Palette) -> Vec<DMat3> {
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| {
        let mesh = rig.mesh();
        let normals = vec![axis; mesh.vertex_count()];
        let mesh = Mesh::new(
            mesh.positions().to_vec(),
            Some(normals),
            None,
            mesh.triangles().to_vec(),
        );
        let rig = Rig::new(mesh.unwrap(), rig.skeleton().clone(), rig.weights().clone()).unwrap();
        deform_skin(&bake(&rig, method), palette).normals
    });
    let columns = x.iter().zip(&y).zip(&z);
    columns
        .map(|((x, y), z)| DMat3::from_cols(x.as_dvec3(), y.as_dvec3(), z.as_dvec3()))
        .collect()
}

pub fn norm(matrix: DMat3) -> f64 {
    let squares = matrix.to_cols_array().map(|entry| entry * entry);
    squares.into_iter().sum::<f64>().sqrt()
}
