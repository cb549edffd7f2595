//! Spline skinning: vertices follow smooth curves through chains of joints.
//!
//! `skinning-course-direct-methods.txt`, §5, Fig. 8. A chain is a sequence of joints without
//! branches; its curve is smooth through the joints and up to the end of the last bone. At rest
//! each vertex is bound to the nearest point of the curve; posed, it follows that point and the
//! frame there:
//!
//! `v' = Σ_C W_C [ c'(u) + Q(u) · S · (v − c(u)) ]`, with `W_C` the vertex's weights on the chain
//! and `S` its blended stretch (two phases, about the curve).
//!
//! The papers use Frenet frames, which flip where a curve straightens. Here frames are transported
//! along the curve with minimal rotation, and the twist of the joints is added: `Q(u) =
//! Rot(tangent, τ(u)) · P'(u) D P(u)⁻¹`, with `P` and `P'` the transport along the rest and the
//! posed curve, `D` the rotation at the start of the chain, and `τ` the remaining twist of each
//! bone, reached at its middle and linear in between. `τ` is tracked from bone to bone, so that a
//! chain can wind around any number of times.

use super::common_scale::RestScale;
use super::direct::{Direct, FieldKey, Fields, OneByOne, OutsideValue};
use super::error::DeformError;
use super::rigid_motion::{RigidMotions, joint_heads};
use crate::exec;
use crate::rig::Rig;
use crate::rotation::swing_and_twist;
use crate::skeleton::{BindBone, same_place};
use crate::surface::Rows;
use crate::transform::Affine;
use crate::weights::Weights;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

/// The chains, and the bindings of each vertex to them.
#[derive(Clone, Debug)]
pub(super) struct SplineSkin {
    weights: Weights,
    heads: Vec<DVec3>,
    rest_scale: RestScale,
    chains: Vec<Chain>,
    chain_of_joint: Vec<u32>,
    /// The index of each joint in its chain.
    place_in_chain: Vec<u32>,
    /// The chains that each vertex is bound to.
    bound_to: Rows<u32>,
    /// The parameters on these chains.
    places: Vec<f32>,
}

/// A sequence of joints and the curve through them.
#[derive(Clone, Debug)]
struct Chain {
    /// The joint that moves the chain if its curve has no length.
    last: usize,
    /// Each control point: its joint and its rest position.
    controls: Vec<(usize, DVec3)>,
    bones: Vec<Bone>,
    /// The knots: lengths along the rest polygon, relative to its whole length.
    knots: Vec<f64>,
    rest: Curve,
}

/// The part of a curve that belongs to a joint.
#[derive(Clone, Debug)]
struct Bone {
    joint: usize,
    from: f64,
    to: f64,
}

impl Bone {
    fn middle(&self) -> f64 {
        0.5 * (self.from + self.to)
    }
}

/// A smooth curve: a cubic between neighbouring control points, and transported frames.
#[derive(Clone, Debug, Default)]
struct Curve {
    points: Vec<DVec3>,
    /// Derivatives at the points.
    slopes: Vec<DVec3>,
    /// At [`STEPS`] evenly spaced parameters of every span: the unit tangent, and the transport
    /// from the start.
    samples: Vec<(DVec3, DQuat)>,
}

/// The number of steps per span in which frames are transported.
const STEPS: usize = 16;

/// The number of bisections in the search for the nearest point: beyond the precision of `f32`.
const HALVINGS: usize = 28;

/// A rotation this close to the identity is the identity: what remains of transporting a frame back
/// and forth.
const NO_TURN: f64 = 1e-12;

/// A chain in a pose.
#[derive(Clone, Debug, Default)]
struct ChainPose {
    curve: Curve,
    /// The rotation at the start.
    start: DQuat,
    /// The twist in the middle of each bone.
    twists: Vec<f64>,
}

/// The data shared by all vertices in a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct SplinePose {
    motions: RigidMotions,
    chains: Vec<ChainPose>,
}

/// The kind of curve parameters among the fields of a vertex.
const PLACE: u16 = 1;

impl SplineSkin {
    pub(super) fn bake(rig: &Rig) -> SplineSkin {
        let bones = rig.skeleton().bind_bones();
        let mut child_counts = vec![0; bones.len()];
        for parent in rig
            .skeleton()
            .joints()
            .iter()
            .filter_map(|joint| joint.parent)
        {
            child_counts[parent] += 1;
        }
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let mut chain_of_joint: Vec<u32> = Vec::with_capacity(bones.len());
        let mut place_in_chain: Vec<u32> = Vec::with_capacity(bones.len());
        for (index, joint) in rig.skeleton().joints().iter().enumerate() {
            let chain = match joint.parent.filter(|&parent| child_counts[parent] == 1) {
                Some(parent) => chain_of_joint[parent],
                None => {
                    runs.push(Vec::new());
                    runs.len() as u32 - 1
                }
            };
            place_in_chain.push(runs[chain as usize].len() as u32);
            runs[chain as usize].push(index);
            chain_of_joint.push(chain);
        }
        let heads = joint_heads(rig);
        let same_place = same_place(&heads);
        let chains: Vec<Chain> = runs
            .iter()
            .map(|run| Chain::through(run, &bones, same_place))
            .collect();
        let mut skin = SplineSkin {
            weights: rig.weights().clone(),
            heads,
            rest_scale: RestScale::of(rig),
            chains,
            chain_of_joint,
            place_in_chain,
            bound_to: Rows::default(),
            places: Vec::new(),
        };
        let positions = rig.mesh().positions();
        let bindings = exec::map_chunks(positions.len(), |vertices| {
            let bind = |vertex: usize| skin.bind(vertex, positions[vertex].as_dvec3());
            vertices.map(bind).collect::<Vec<_>>()
        });
        for binding in bindings.into_iter().flatten() {
            skin.places
                .extend(binding.iter().map(|&(_, place)| place as f32));
            skin.bound_to
                .push_row(binding.into_iter().map(|(chain, _)| chain));
        }
        skin
    }

    /// Binds a vertex to the curves of all its chains, each within the bones that influence it.
    fn bind(&self, vertex: usize, position: DVec3) -> Vec<(u32, f64)> {
        let joints = self.weights.row(vertex).0;
        let mut chains: Vec<u32> = Vec::new();
        for &joint in joints {
            let chain = self.chain_of_joint[usize::from(joint)];
            if !chains.contains(&chain) {
                chains.push(chain);
            }
        }
        let place_on = |index: u32| {
            let chain = &self.chains[index as usize];
            let own = joints.iter().map(|&joint| usize::from(joint));
            let own = own.filter(|&joint| self.chain_of_joint[joint] == index);
            let range = own.fold(None, |range: Option<(f64, f64)>, joint| {
                let bone = &chain.bones[self.place_in_chain[joint] as usize];
                let (from, to) = range.unwrap_or((bone.from, bone.to));
                Some((from.min(bone.from), to.max(bone.to)))
            });
            let place = range.map_or(0.0, |range| chain.nearest(position, range));
            (index, place)
        };
        chains.into_iter().map(place_on).collect()
    }
}

impl Chain {
    fn through(run: &[usize], bones: &[BindBone], same_place: f64) -> Chain {
        let last = run[run.len() - 1];
        let heads = run.iter().map(|&joint| (joint, bones[joint].head));
        let mut controls: Vec<(usize, DVec3)> = Vec::with_capacity(run.len() + 1);
        let mut knots: Vec<f64> = Vec::with_capacity(run.len() + 1);
        let mut places = Vec::with_capacity(run.len() + 1);
        for (joint, point) in heads.chain([(last, bones[last].tail)]) {
            match controls.last() {
                Some(&(_, before)) if before.distance(point) <= same_place => {}
                Some(&(_, before)) => {
                    knots.push(knots[knots.len() - 1] + before.distance(point));
                    controls.push((joint, point));
                }
                None => {
                    knots.push(0.0);
                    controls.push((joint, point));
                }
            }
            places.push(knots[knots.len() - 1]);
        }
        // Relative to the whole length, so that parameters have no unit.
        let length = knots[knots.len() - 1];
        if length > 0.0 {
            for place in knots.iter_mut().chain(&mut places) {
                *place /= length;
            }
        }
        let spans = places.windows(2).zip(run);
        let bones = spans.map(|(span, &joint)| Bone {
            joint,
            from: span[0],
            to: span[1],
        });
        let mut rest = Curve::default();
        rest.refill(controls.iter().map(|(_, point)| *point), &knots);
        Chain {
            last,
            bones: bones.collect(),
            controls,
            knots,
            rest,
        }
    }

    fn has_length(&self) -> bool {
        self.knots.len() > 1
    }

    /// The parameter within a range whose point of the rest curve is nearest, found by sampling and
    /// bisection.
    fn nearest(&self, position: DVec3, (from, to): (f64, f64)) -> f64 {
        if !self.has_length() {
            return 0.0;
        }
        let away = |place: f64| {
            self.rest
                .at(&self.knots, place)
                .0
                .distance_squared(position)
        };
        let steps = STEPS * self.bones.len().min(64);
        let step = (to - from) / steps as f64;
        let places = (0..=steps).map(|index| from + step * index as f64);
        let best = places.fold((from, f64::INFINITY), |best, place| {
            let distance = away(place);
            if distance < best.1 {
                (place, distance)
            } else {
                best
            }
        });
        let (mut low, mut high) = ((best.0 - step).max(from), (best.0 + step).min(to));
        // There the distance falls, then rises.
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let (point, slope) = self.rest.at(&self.knots, middle);
            if (point - position).dot(slope) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        0.5 * (low + high)
    }

    fn pose(&self, motions: &RigidMotions, posed: &mut ChainPose) {
        let points = self
            .controls
            .iter()
            .map(|&(joint, point)| motions.carry(joint, point));
        posed.curve.refill(points, &self.knots);
        posed.twists.clear();
        let Some(first) = self.bones.first().filter(|_| self.has_length()) else {
            return;
        };
        let turned = motions.motions[first.joint].rotation;
        let (rest, now) = (self.rest.samples[0].0, posed.curve.samples[0].0);
        posed.start = shortest_turn(turned * rest, now) * turned;
        let mut before = 0.0;
        for bone in &self.bones {
            let (_, tangent, carried) = self.carried(posed, bone.middle());
            let beyond = motions.motions[bone.joint].rotation * carried.conjugate();
            let twist = swing_and_twist(beyond, Some(tangent)).1;
            // Of all angles modulo full turns, the nearest to that of the bone before.
            let twist = twist - TAU * ((twist - before) / TAU).round();
            posed.twists.push(twist);
            before = twist;
        }
    }

    /// The posed point, its tangent, and the rotation from the rest frame to the transported one.
    fn carried(&self, posed: &ChainPose, place: f64) -> (DVec3, DVec3, DQuat) {
        let (_, rest_tangent, sample) = self.rest.tangent_at(&self.knots, place);
        let (point, tangent, _) = posed.curve.tangent_at(&self.knots, place);
        let rest = self.rest.transport(sample, rest_tangent);
        let now = posed.curve.transport(sample, tangent);
        (point, tangent, now * posed.start * rest.conjugate())
    }

    /// The twist at a parameter: linear between the middles of bones.
    fn twist_at(&self, twists: &[f64], place: f64) -> f64 {
        let after = self.bones.partition_point(|bone| bone.middle() < place);
        let Some(before) = after.checked_sub(1) else {
            return twists.first().copied().unwrap_or(0.0);
        };
        let Some(&end) = twists.get(after) else {
            return twists[before];
        };
        let (from, to) = (self.bones[before].middle(), self.bones[after].middle());
        twists[before] + (end - twists[before]) * (place - from) / (to - from)
    }

    /// The frame of a vertex bound at a parameter, after its stretch.
    fn frame(
        &self,
        motions: &RigidMotions,
        posed: &ChainPose,
        place: f64,
        stretch: DMat3,
    ) -> DAffine3 {
        if !self.has_length() {
            let motion = &motions.motions[self.last];
            let pivot = self.controls[0].1;
            let linear = DMat3::from_quat(motion.rotation) * stretch;
            return DAffine3 {
                matrix3: linear,
                translation: motion.transform_point(pivot) - linear * pivot,
            };
        }
        let rest_point = self.rest.at(&self.knots, place).0;
        let (point, tangent, carried) = self.carried(posed, place);
        let twist = self.twist_at(&posed.twists, place);
        let rotation = DQuat::from_axis_angle(tangent, twist) * carried;
        let rotation = if rotation.xyz().length() < NO_TURN {
            DQuat::IDENTITY
        } else {
            rotation
        };
        let linear = DMat3::from_quat(rotation) * stretch;
        DAffine3 {
            matrix3: linear,
            translation: point - linear * rest_point,
        }
    }
}

/// The shortest rotation between unit vectors; bitwise the identity for equal vectors.
fn shortest_turn(from: DVec3, to: DVec3) -> DQuat {
    if from == to {
        return DQuat::IDENTITY;
    }
    DQuat::from_rotation_arc(from, to)
}

impl Curve {
    /// Moves the curve to other control points, in place.
    fn refill(&mut self, points: impl Iterator<Item = DVec3>, knots: &[f64]) {
        self.points.clear();
        self.points.extend(points);
        self.slopes.clear();
        self.samples.clear();
        let spans = knots.len().saturating_sub(1);
        if spans == 0 {
            return;
        }
        let chord = |span: usize| {
            let length = knots[span + 1] - knots[span];
            ((self.points[span + 1] - self.points[span]) / length, length)
        };
        for point in 0..=spans {
            // The slope of the parabola through three neighbours; at the ends the chord itself,
            // which has the direction of the bone there.
            self.slopes.push(match point {
                0 => chord(0).0,
                _ if point == spans => chord(spans - 1).0,
                _ => {
                    let ((before, near), (after, far)) = (chord(point - 1), chord(point));
                    (before * far + after * near) / (near + far)
                }
            });
        }
        let mut tangent = self.slopes[0].try_normalize().unwrap_or(DVec3::X);
        let mut transport = DQuat::IDENTITY;
        for sample in 0..=spans * STEPS {
            let (span, step) = match sample / STEPS {
                span if span == spans => (span - 1, STEPS),
                span => (span, sample % STEPS),
            };
            let (_, slope) = self.in_span(knots, span, step as f64 / STEPS as f64);
            let next = slope.try_normalize().unwrap_or(tangent);
            transport = (shortest_turn(tangent, next) * transport).normalize();
            tangent = next;
            self.samples.push((tangent, transport));
        }
    }

    /// The point and the derivative at a share of a span.
    fn in_span(&self, knots: &[f64], span: usize, share: f64) -> (DVec3, DVec3) {
        let length = knots[span + 1] - knots[span];
        let (start, end) = (self.points[span], self.points[span + 1]);
        let (leaves, arrives) = (self.slopes[span] * length, self.slopes[span + 1] * length);
        // start + share·(…): exact for every term at rest on a straight chain.
        let gap = end - start;
        let (bend, turn) = (
            gap * 3.0 - leaves * 2.0 - arrives,
            leaves + arrives - gap * 2.0,
        );
        let point = start + (leaves + (bend + turn * share) * share) * share;
        let slope = leaves + (bend * 2.0 + turn * (3.0 * share)) * share;
        (point, slope / length)
    }

    /// The span of a parameter, and the share of the span before it. Parameters beyond the ends are
    /// clamped.
    fn locate(knots: &[f64], place: f64) -> (usize, f64) {
        let spans = knots.len() - 1;
        let span = knots.partition_point(|&knot| knot <= place).clamp(1, spans) - 1;
        let share = (place - knots[span]) / (knots[span + 1] - knots[span]);
        (span, share.clamp(0.0, 1.0))
    }

    /// The point and the derivative at a parameter.
    fn at(&self, knots: &[f64], place: f64) -> (DVec3, DVec3) {
        let (span, share) = Curve::locate(knots, place);
        self.in_span(knots, span, share)
    }

    /// The point, the unit tangent, and the last sample before a parameter.
    fn tangent_at(&self, knots: &[f64], place: f64) -> (DVec3, DVec3, usize) {
        let (span, share) = Curve::locate(knots, place);
        let (point, slope) = self.in_span(knots, span, share);
        let step = ((share * STEPS as f64) as usize).min(STEPS - 1);
        let sample = span * STEPS + step;
        let tangent = slope.try_normalize().unwrap_or(self.samples[sample].0);
        (point, tangent, sample)
    }

    /// The transport from the start to a tangent just after a sample.
    fn transport(&self, sample: usize, tangent: DVec3) -> DQuat {
        let (before, transport) = self.samples[sample];
        shortest_turn(before, tangent) * transport
    }
}

impl Direct for SplineSkin {
    type Posed = SplinePose;
    type Lanes = OneByOne;

    fn pose(&self, palette: &[Affine], posed: &mut SplinePose) -> Result<(), DeformError> {
        posed.motions.split(palette, &self.heads, &self.rest_scale);
        posed.chains.resize(self.chains.len(), ChainPose::default());
        for (chain, posed_chain) in self.chains.iter().zip(&mut posed.chains) {
            chain.pose(&posed.motions, posed_chain);
        }
        Ok(())
    }

    fn fields(&self, vertex: usize) -> Fields<'_> {
        Fields {
            weights: self.weights.row(vertex).1,
            extras: &self.places[self.bound_to.range(vertex)],
        }
    }

    fn keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        FieldKey::of_weights(&self.weights, vertex, keys);
        keys.extend(self.bound_to.row(vertex).iter().map(|&chain| FieldKey {
            kind: PLACE,
            owner: chain,
            outside: OutsideValue::Unknown,
        }));
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn frame(&self, vertex: usize, fields: Fields<'_>, posed: &SplinePose) -> Affine {
        let joints = self.weights.row(vertex).0;
        let influences = || joints.iter().zip(fields.weights);
        let stretch = match posed.motions.stretches.is_empty() {
            true => DMat3::IDENTITY,
            false => influences().fold(DMat3::ZERO, |sum, (&joint, &weight)| {
                sum + posed.motions.stretch(usize::from(joint)) * f64::from(weight)
            }),
        };
        let mut blend = Affine::ZERO;
        for (&chain, &place) in self.bound_to.row(vertex).iter().zip(fields.extras) {
            let on_chain = |joint: &u16| self.chain_of_joint[usize::from(*joint)] == chain;
            let weight: f32 = influences()
                .filter(|(joint, _)| on_chain(joint))
                .map(|(_, weight)| weight)
                .sum();
            let (own, posed_chain) = (&self.chains[chain as usize], &posed.chains[chain as usize]);
            let frame = own.frame(&posed.motions, posed_chain, f64::from(place), stretch);
            blend = blend.add_scaled(&Affine::from_f64(&frame), weight);
        }
        posed.motions.with_common_scale(blend)
    }
}
