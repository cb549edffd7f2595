//! Spline skinning (Forstmann and Ohya 2006; Forstmann et al. 2007): a vertex follows a point of a
//! curve through its chain of joints, in a frame that turns along the curve as little as it can,
//! plus the joints' twist.

use super::algebra::{shortest_arc, weighted_sum};
use super::curve::Curve;
use super::{Frame, Influences, Posed, swing_after_twist};
use glam::{DAffine3, DMat3, DVec3};
use std::f64::consts::TAU;

/// `v' = Σ_C W_C [ c'(u) + Q(u) (Σ w_j S_j) (v − c(u)) ]`.
pub fn spline(posed: &Posed, position: DVec3, influences: Influences<'_>) -> Frame {
    let stretch = influences
        .iter()
        .fold(DMat3::ZERO, |sum, &(joint, weight)| {
            sum + posed.stretches[joint] * weight
        });
    let mut margin: f64 = 1.0;
    let mut terms = Vec::new();
    for joints in chains(posed) {
        let held: Vec<(usize, f64)> = influences
            .iter()
            .filter_map(|&(joint, weight)| {
                let span = joints.iter().position(|&other| other == joint)?;
                Some((span, weight))
            })
            .collect();
        if held.is_empty() {
            continue;
        }
        let weight: f64 = held.iter().map(|(_, weight)| weight).sum();
        // From the first to the last bone that holds the vertex, those between included.
        let first = held.iter().map(|&(span, _)| span).min().unwrap();
        let last = held.iter().map(|&(span, _)| span).max().unwrap();
        let spans: Vec<usize> = (first..=last).collect();
        let Some(chain) = Chain::new(posed, &joints) else {
            let head = posed.heads[joints[0]];
            let motion = posed.motion(joints[0]);
            let linear = motion.matrix3 * stretch;
            let map = DAffine3 {
                matrix3: linear,
                translation: motion.transform_point3(head) - linear * head,
            };
            terms.push((weight, map));
            continue;
        };
        let (u, closest_margin) = chain.rest.closest(position, &spans);
        let linear = chain.rotation(u) * stretch;
        let map = DAffine3 {
            matrix3: linear,
            translation: chain.posed.at(u) - linear * chain.rest.at(u),
        };
        terms.push((weight, map));
        margin = margin.min(closest_margin).min(chain.margin);
    }
    Frame {
        map: weighted_sum(terms),
        margin,
    }
}

/// A joint continues its parent's chain if it is the only child, else it starts one.
pub fn chains(posed: &Posed) -> Vec<Vec<usize>> {
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for joint in 0..posed.parents.len() {
        let above = posed.parents[joint].filter(|&parent| posed.children(parent).len() == 1);
        let found = chains
            .iter_mut()
            .find(|chain| above.is_some() && chain.last().copied() == above);
        match found {
            Some(chain) => chain.push(joint),
            None => chains.push(vec![joint]),
        }
    }
    chains
}

#[derive(Debug)]
struct Chain {
    rest: Curve,
    posed: Curve,
    start: DMat3,
    middles: Vec<f64>,
    twists: Vec<f64>,
    margin: f64,
}

impl Chain {
    /// None if a bone has no length.
    fn new(posed: &Posed, joints: &[usize]) -> Option<Chain> {
        let last = *joints.last()?;
        let mut rest_points: Vec<DVec3> = joints.iter().map(|&joint| posed.heads[joint]).collect();
        rest_points.push(posed.tails[last]);
        let mut posed_points: Vec<DVec3> = joints
            .iter()
            .map(|&joint| posed.transforms[joint].transform_point3(posed.heads[joint]))
            .collect();
        posed_points.push(posed.transforms[last].transform_point3(posed.tails[last]));
        let mut knots = vec![0.0];
        for pair in rest_points.windows(2) {
            let length = pair[0].distance(pair[1]);
            if length == 0.0 {
                return None;
            }
            knots.push(knots[knots.len() - 1] + length);
        }
        let rest = Curve::new(&knots, &rest_points);
        let curve = Curve::new(&knots, &posed_points);
        let turned = posed.rotations[joints[0]] * rest.tangent_at(0.0);
        let start = shortest_arc(turned, curve.tangent_at(0.0)) * posed.rotations[joints[0]];
        let mut margin = (1.0 + turned.dot(curve.tangent_at(0.0)))
            .min(rest.slowest())
            .min(curve.slowest());
        let middles: Vec<f64> = knots.windows(2).map(|k| 0.5 * (k[0] + k[1])).collect();
        let mut chain = Chain {
            rest,
            posed: curve,
            start,
            middles,
            twists: Vec::new(),
            margin: 1.0,
        };
        for (index, &joint) in joints.iter().enumerate() {
            let u = chain.middles[index];
            let left = posed.rotations[joint] * chain.untwisted(u).transpose();
            let axis = chain.posed.tangent_at(u);
            let (mut twist, _, twist_margin) = swing_after_twist(left, axis);
            let mut jump = twist_margin;
            if let Some(&before) = chain.twists.last() {
                twist -= ((twist - before) / TAU).round() * TAU;
                // Where the way around is chosen, not where the angle's own range ends.
                let q = glam::DQuat::from_mat3(&left);
                jump = (std::f64::consts::PI - (twist - before).abs())
                    .min(q.w.hypot(q.xyz().dot(axis)));
            }
            margin = margin.min(jump);
            chain.twists.push(twist);
        }
        chain.margin = margin.clamp(0.0, 1.0);
        Some(chain)
    }

    /// `D(u)`: the first joint's rotation carried along both curves.
    fn untwisted(&self, u: f64) -> DMat3 {
        self.posed.transport(u) * self.start * self.rest.transport(u).transpose()
    }

    /// `Q(u)`: that, and the twist that the joints add, linear between the middles of bones.
    fn rotation(&self, u: f64) -> DMat3 {
        let last = self.middles.len() - 1;
        let twist = if u <= self.middles[0] {
            self.twists[0]
        } else if u >= self.middles[last] {
            self.twists[last]
        } else {
            let next = (1..last).find(|&k| u < self.middles[k]).unwrap_or(last);
            let (from, to) = (self.middles[next - 1], self.middles[next]);
            let share = (u - from) / (to - from);
            self.twists[next - 1] + share * (self.twists[next] - self.twists[next - 1])
        };
        DMat3::from_axis_angle(self.posed.tangent_at(u), twist) * self.untwisted(u)
    }
}
