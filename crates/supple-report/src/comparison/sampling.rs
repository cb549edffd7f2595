//! Playing clips by all methods.

use super::Comparison;
use super::measures::{FrameMeasures, SlowMeasures};
use super::samples::{Farthest, SLOW_EVERY, STILL, Samples, telling};
use glam::Vec3;
use supple::metrics::{JointMotion, RmsDistance, TimeSmoothness};
use supple::{Clip, Palette, Pose, exec};

/// Frames farther apart than this, in seconds, may miss a motion. Key times are then sampled too:
/// at most so many are considered, and those chosen differ by this much, in radians, from all
/// others.
const SPARSE: f64 = 0.25;
const MOST_KEYS: usize = 1000;
const NEW_POSE: f64 = 0.15;

/// Frames per second in which pops are counted.
const POPS_PER_SECOND: f64 = 30.0;

/// The distances between methods in one frame.
struct FrameSpread {
    spread: Vec<f64>,
    apart: f64,
    farthest: Farthest,
}

/// The median of some points, axis by axis: outliers do not move it.
pub(crate) fn middle(points: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    let mut values: Vec<f32> = Vec::with_capacity(16);
    let mut result = Vec3::ZERO;
    for axis in 0..3 {
        values.clear();
        values.extend(points.clone().map(|point| point[axis]));
        values.sort_unstable_by(f32::total_cmp);
        let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
        let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
        result[axis] = 0.5 * (at(low) + at(high));
    }
    result
}

impl Comparison<'_> {
    /// The times at which a clip is sampled, in seconds from its first key, and the spacing of the
    /// even ones among them: where these are far apart, keys with poses unlike all others are
    /// added.
    fn times(&self, clip: &Clip, frames: usize) -> (Vec<f64>, f64) {
        let (start, length) = (clip.start(), (clip.duration() - clip.start()).max(0.0));
        // A pose that lasts no time is the same in every frame.
        let last = if length > 0.0 { frames.max(2) - 1 } else { 1 };
        let spacing = length / last as f64;
        let mut times: Vec<f64> = (0..=last).map(|frame| spacing * frame as f64).collect();
        if spacing <= SPARSE {
            return (times, spacing);
        }
        let curves = clip.tracks.iter().map(|track| &track.curve);
        let mut keys: Vec<f64> = curves
            .flat_map(|curve| curve.times())
            .map(|&time| f64::from(time) - start)
            .filter(|time| (0.0..=length).contains(time))
            .collect();
        keys.sort_by(f64::total_cmp);
        keys.dedup();
        let every = keys.len().div_ceil(MOST_KEYS).max(1);
        let amounts = |&time: &f64| -> Vec<f64> {
            let motions = self.motions(&self.asset.palette_at(clip, start + time));
            let kinds = motions
                .iter()
                .flat_map(|motion| [motion.bend, motion.twist, motion.shift]);
            kinds.collect()
        };
        let unlike = |a: &[f64], b: &[f64]| {
            let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        let known: Vec<Vec<f64>> = times.iter().map(amounts).collect();
        // Every key, what happens at it, and how unlike it is to all that is looked at.
        let mut keys: Vec<(f64, Vec<f64>, f64)> = keys
            .into_iter()
            .step_by(every)
            .map(|time| {
                let own = amounts(&time);
                let nearest = known.iter().map(|known| unlike(known, &own));
                let nearest = nearest.fold(f64::INFINITY, f64::min);
                (time, own, nearest)
            })
            .collect();
        for _ in 0..frames.div_ceil(2) {
            let newest = keys.iter().max_by(|a, b| a.2.total_cmp(&b.2));
            let Some((time, own, _)) = newest.filter(|key| key.2 > NEW_POSE).cloned() else {
                break;
            };
            times.push(time);
            for key in &mut keys {
                key.2 = key.2.min(unlike(&key.1, &own));
            }
        }
        times.sort_by(f64::total_cmp);
        (times, spacing)
    }

    /// The number of frames in which some of the blended skin pops, for every method; `None` if
    /// it fails in every pose. Of a clip of more than `frames`, those around a moment are searched.
    pub fn pops(&self, clip: &Clip, around: f64, frames: usize) -> Vec<Option<usize>> {
        let (start, length) = (clip.start(), (clip.duration() - clip.start()).max(0.0));
        let all = (length * POPS_PER_SECOND) as usize + 1;
        let count = all.min(frames);
        let first = ((around * POPS_PER_SECOND) as usize).saturating_sub(count / 2);
        let first = first.min(all - count);
        exec::map(self.method_count(), |method| {
            let mut pops = None;
            let mut smoothness = TimeSmoothness::new();
            for frame in first..first + count {
                let pose = self
                    .asset
                    .pose_at(clip, start + frame as f64 / POPS_PER_SECOND);
                let points = self.pose_in_turn(method, frame - first, &pose, |player| {
                    let point = |&vertex: &u32| player.positions()[vertex as usize];
                    let blended = &self.compared[..self.blended];
                    blended.iter().map(point).collect::<Vec<Vec3>>()
                });
                match points {
                    Ok(points) => {
                        smoothness.add(&points);
                        pops.get_or_insert(0);
                    }
                    // What comes after a pose that cannot be done is a new beginning.
                    Err(_) => {
                        let before = std::mem::take(&mut smoothness);
                        pops = pops.map(|pops| pops + before.popping_frames());
                    }
                }
            }
            pops.map(|pops| pops + smoothness.popping_frames())
        })
    }

    /// Plays a clip and measures it. A brief look skips slow measures: it only ranks clips.
    pub fn sample(&self, clip: &Clip, frames: usize, brief: bool) -> Samples {
        let start = clip.start();
        let (times, spacing) = self.times(clip, frames);
        let poses: Vec<Pose> = times
            .iter()
            .map(|time| self.asset.pose_at(clip, start + time))
            .collect();
        let palettes: Vec<Palette> = times
            .iter()
            .map(|time| self.asset.palette_at(clip, start + time))
            .collect();

        type Frame = Result<(FrameMeasures, Option<SlowMeasures>, Vec<Vec3>), String>;
        let by_method: Vec<Vec<Frame>> = exec::map(self.method_count(), |method| {
            let frame = |(index, pose): (usize, &Pose)| {
                self.pose_in_turn(method, index, pose, |player| {
                    let palette = self.unscaled_palette(&palettes[index]);
                    let positions = self.unscaled(player.positions());
                    let slowly = index % SLOW_EVERY == 0 && !brief;
                    (
                        self.frame_measures(&positions, &palette, brief),
                        slowly.then(|| {
                            self.slow_measures(
                                &positions,
                                &self.unmirrored(player.normals()),
                                &palette,
                            )
                        }),
                        self.compared
                            .iter()
                            .map(|&vertex| positions[vertex as usize])
                            .collect(),
                    )
                })
            };
            poses.iter().enumerate().map(frame).collect()
        });
        let compared: Vec<FrameSpread> = (0..times.len())
            .map(|frame| {
                let points = by_method
                    .iter()
                    .filter_map(|frames| frames[frame].as_ref().ok());
                self.compare(
                    &points
                        .map(|(_, _, points)| points.as_slice())
                        .collect::<Vec<_>>(),
                )
            })
            .collect();
        let slow = by_method.iter().map(|frames| {
            let every = frames.iter().step_by(SLOW_EVERY);
            every
                .map(|frame| frame.as_ref().ok().and_then(|frame| frame.1))
                .collect()
        });
        let points = |method: &Vec<Frame>| -> Vec<Option<Vec<Vec3>>> {
            let frames = method.iter();
            frames
                .map(|frame| frame.as_ref().ok().map(|frame| frame.2.clone()))
                .collect()
        };
        let linear = self.linear.map(|linear| points(&by_method[linear]));
        let from_linear = by_method
            .iter()
            .map(|method| self.distance(&points(method), linear.as_deref()?));
        let motions: Vec<Vec<JointMotion>> = palettes
            .iter()
            .map(|palette| self.motions(palette))
            .collect();
        Samples {
            spacing,
            from_linear: from_linear.collect(),
            slow: slow.collect(),
            activity: motions
                .iter()
                .map(|motions| self.activity(motions))
                .collect(),
            motions,
            frames: by_method
                .into_iter()
                .map(|frames| {
                    frames
                        .into_iter()
                        .map(|frame| frame.map(|frame| frame.0))
                        .collect()
                })
                .collect(),
            times,
            apart: compared.iter().map(|compared| compared.apart).collect(),
            farthest: compared.iter().map(|compared| compared.farthest).collect(),
            spread: compared
                .into_iter()
                .map(|compared| compared.spread)
                .collect(),
        }
    }

    /// The distance of a method from linear blending over all frames that both can do.
    fn distance(&self, frames: &[Option<Vec<Vec3>>], linear: &[Option<Vec<Vec3>>]) -> Option<f64> {
        let mut distance = RmsDistance::new();
        let mut compared = false;
        for (own, linear) in frames.iter().zip(linear) {
            if let (Some(own), Some(linear)) = (own, linear) {
                distance.add(&own[..self.blended], &linear[..self.blended]);
                compared = true;
            }
        }
        compared.then(|| distance.value() * self.scale / self.extent())
    }

    /// The distances between methods around every joint and anywhere, as shares of the size.
    fn compare(&self, methods: &[&[Vec3]]) -> FrameSpread {
        // From where most methods are: how far most of the others are, and the farthest.
        let distances: Vec<[f64; 2]> = (0..self.compared.len())
            .map(|place| {
                let middle = middle(methods.iter().map(|points| points[place]));
                let distances = || {
                    let points = methods.iter().map(|points| points[place]);
                    points.map(|point| f64::from(point.distance(middle)))
                };
                [telling(distances()), distances().fold(0.0, f64::max)]
            })
            .collect();
        let region = |which: usize| {
            let regions = self.regions.iter().zip(&self.compared_in_region);
            let distances = &distances;
            regions.map(move |(region, places)| {
                let squares = places
                    .iter()
                    .map(|&place| distances[place as usize][which].powi(2));
                (squares.sum::<f64>() / places.len().max(1) as f64).sqrt() / region.skin.size
            })
        };
        let anywhere = |which: usize| {
            let most = distances
                .iter()
                .map(|distances| distances[which])
                .fold(0.0, f64::max);
            most * self.scale / self.extent()
        };
        FrameSpread {
            spread: region(0).collect(),
            apart: anywhere(0),
            farthest: Farthest {
                of_body: anywhere(1),
                of_region: region(1).fold(0.0, f64::max),
            },
        }
    }

    fn motions(&self, palette: &Palette) -> Vec<JointMotion> {
        let palette = self.unscaled_palette(palette);
        let regions = self.regions.iter();
        regions
            .map(|region| self.gauge.motion(&region.skin, &palette))
            .collect()
    }

    /// The share of the motion in each region that is its own joint's.
    fn activity(&self, motions: &[JointMotion]) -> Vec<f64> {
        let own = |(motion, neighbours): (&JointMotion, &Vec<usize>)| {
            let strongest = neighbours
                .iter()
                .map(|&other| motions[other].amount())
                .fold(0.0, f64::max);
            let amount = motion.amount();
            if amount < STILL {
                return 0.0;
            }
            (2.0 * amount / strongest.max(amount)).min(1.0).powi(2)
        };
        motions.iter().zip(&self.neighbours).map(own).collect()
    }
}
