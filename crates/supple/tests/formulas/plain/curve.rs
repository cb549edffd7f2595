//! Piecewise cubic Hermite curves through points, and rotation-minimising frames along them.

use super::algebra::shortest_arc;
use glam::{DMat3, DVec3};

/// Inner slopes are those of the parabola through three points, end slopes those of the end chords.
#[derive(Debug)]
pub struct Curve {
    pub knots: Vec<f64>,
    points: Vec<DVec3>,
    slopes: Vec<DVec3>,
    /// The transport from the start to each step: `STEPS` per span.
    transports: Vec<DMat3>,
}

const STEPS: usize = 400;

impl Curve {
    pub fn new(knots: &[f64], points: &[DVec3]) -> Curve {
        let spans: Vec<f64> = knots.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let chords: Vec<DVec3> = points
            .windows(2)
            .zip(&spans)
            .map(|(pair, span)| (pair[1] - pair[0]) / *span)
            .collect();
        let slope = |k: usize| {
            if k == 0 {
                return chords[0];
            }
            if k == chords.len() {
                return chords[k - 1];
            }
            (chords[k - 1] * spans[k] + chords[k] * spans[k - 1]) / (spans[k - 1] + spans[k])
        };
        let mut curve = Curve {
            knots: knots.to_vec(),
            points: points.to_vec(),
            slopes: (0..points.len()).map(slope).collect(),
            transports: vec![DMat3::IDENTITY],
        };
        for step in 1..=STEPS * spans.len() {
            let tangents = [step - 1, step].map(|step| curve.slope_at(curve.parameter(step)));
            let before = curve.transports[step - 1];
            curve
                .transports
                .push(shortest_arc(tangents[0], tangents[1]) * before);
        }
        curve
    }

    fn parameter(&self, step: usize) -> f64 {
        let span = (step / STEPS).min(self.knots.len() - 2);
        let share = (step - span * STEPS) as f64 / STEPS as f64;
        self.knots[span] + share * (self.knots[span + 1] - self.knots[span])
    }

    fn span_of(&self, u: f64) -> (usize, f64, f64) {
        let last = self.knots.len() - 2;
        let span = (0..last).find(|&k| u < self.knots[k + 1]).unwrap_or(last);
        let length = self.knots[span + 1] - self.knots[span];
        (span, length, (u - self.knots[span]) / length)
    }

    pub fn at(&self, u: f64) -> DVec3 {
        let (k, h, t) = self.span_of(u);
        let (t2, t3) = (t * t, t * t * t);
        self.points[k] * (2.0 * t3 - 3.0 * t2 + 1.0)
            + self.slopes[k] * (h * (t3 - 2.0 * t2 + t))
            + self.points[k + 1] * (3.0 * t2 - 2.0 * t3)
            + self.slopes[k + 1] * (h * (t3 - t2))
    }

    pub fn slope_at(&self, u: f64) -> DVec3 {
        let (k, h, t) = self.span_of(u);
        let t2 = t * t;
        (self.points[k + 1] - self.points[k]) * ((6.0 * t - 6.0 * t2) / h)
            + self.slopes[k] * (3.0 * t2 - 4.0 * t + 1.0)
            + self.slopes[k + 1] * (3.0 * t2 - 2.0 * t)
    }

    pub fn tangent_at(&self, u: f64) -> DVec3 {
        self.slope_at(u).normalize()
    }

    /// The limit of shortest arcs between tangents, from the start to `u`.
    pub fn transport(&self, u: f64) -> DMat3 {
        let (span, _, share) = self.span_of(u);
        let step = span * STEPS + (share * STEPS as f64).floor().clamp(0.0, STEPS as f64) as usize;
        let from = self.slope_at(self.parameter(step));
        shortest_arc(from, self.slope_at(u)) * self.transports[step]
    }

    /// The shortest slope against the mean one, along the whole curve: small where it nearly stops,
    /// and tangents jump.
    pub fn slowest(&self) -> f64 {
        let steps = STEPS * (self.knots.len() - 1);
        let speeds = (0..=steps).map(|step| self.slope_at(self.parameter(step)).length());
        let least = speeds.fold(f64::INFINITY, f64::min);
        let lengths = self.points.windows(2).map(|pair| pair[0].distance(pair[1]));
        least * (self.knots[self.knots.len() - 1] - self.knots[0]) / lengths.sum::<f64>()
    }

    /// The parameter of the closest point to `position` within some spans; and how much nearer it
    /// is than the next best, and how sharply.
    pub fn closest(&self, position: DVec3, spans: &[usize]) -> (f64, f64) {
        const SAMPLES: usize = 400;
        let away = |u: f64| (self.at(u) - position).dot(self.slope_at(u));
        let mut candidates: Vec<f64> = Vec::new();
        for &span in spans {
            let (start, end) = (self.knots[span], self.knots[span + 1]);
            let sample = |i: usize| start + (end - start) * i as f64 / SAMPLES as f64;
            // The ends of what is searched, where the curve leads away from them.
            if away(start) >= 0.0 && !(span > 0 && spans.contains(&(span - 1))) {
                candidates.push(start);
            }
            if away(end) <= 0.0 && !spans.contains(&(span + 1)) {
                candidates.push(end);
            }
            for i in 0..SAMPLES {
                let (mut low, mut high) = (sample(i), sample(i + 1));
                if away(low) < 0.0 && away(high) >= 0.0 {
                    for _ in 0..60 {
                        let middle = 0.5 * (low + high);
                        if away(middle) < 0.0 {
                            low = middle;
                        } else {
                            high = middle;
                        }
                    }
                    candidates.push(high);
                }
            }
        }
        let distance = |u: f64| self.at(u).distance(position);
        candidates.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        let best = candidates[0];
        let length = self.knots[self.knots.len() - 1];
        // Another candidate nearly as close but elsewhere, or a distance that hardly changes along
        // the curve: the choice is open.
        let mut margin: f64 = 1.0;
        for &other in &candidates[1..] {
            if (other - best).abs() > 1e-3 * length {
                margin = margin.min((distance(other) - distance(best)) / (0.02 * length));
            }
        }
        let slope = self.slope_at(best).length();
        if away(best).abs() > 1e-6 * slope * length {
            return (best, margin); // The end of what is searched.
        }
        let step = 1e-5 * length;
        let curvature = (away(best + step) - away(best - step)) / (2.0 * step);
        let sharpness = curvature / (slope * slope);
        (best, margin.min(sharpness.max(0.0)))
    }
}
