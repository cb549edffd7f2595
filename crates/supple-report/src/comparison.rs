//! One character played by every method at once, and measured.

use crate::choose::Candidate;
use crate::measures::{FrameMeasures, RegionMeasures, SlowMeasures};
use crate::methods::Entry;
use crate::regions::{self, Region};
use crate::thickness::{TORN, Thickness};
use glam::{DQuat, DVec3, Vec3};
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use supple::deform::{Normals, Workspace};
use supple::metrics::{Gauge, JointRadius, RmsDistance, TimeSmoothness};
use supple::polar::Polar;
use supple::skeleton::BindBone;
use supple::{Affine, Asset, Clip, Method, Output, Palette, Player, Pose, Skin, exec};

/// Methods are compared at this many vertices: enough to find where they differ.
const COMPARED_VERTICES: usize = 4000;

/// A rest pose with less than this share of the bind pose's volume is none.
const COLLAPSED: f64 = 0.05;

/// Frames farther apart than this in seconds may miss something, so that key times are looked at,
/// too: so many of them at most, while they differ by this much, in radians, from those that are
/// looked at already.
const SPARSE: f64 = 0.25;
const MOST_KEYS: usize = 1000;
const NEW_POSE: f64 = 0.15;

/// How often per second a clip is played to look for pops.
pub(crate) const POPS_PER_SECOND: f64 = 30.0;

/// A twist, bend or shift below this is none, in radians or radii.
const STILL: f64 = 0.02;

/// A joint is judged while it does most of what happens around it, and turns by this much in
/// radians.
const OWN_DOING: f64 = 0.5;
const TURNS: f64 = 0.17;

/// A player, or why there is none.
type Playing<'a> = Result<Player<'a>, String>;

/// Everything that stays the same from frame to frame.
pub(crate) struct Comparison<'a> {
    pub asset: &'a Asset,
    players: Vec<Mutex<Playing<'a>>>,
    /// Which of the methods is linear blending, if any.
    linear: Option<usize>,
    pub gauge: Gauge,
    pub regions: Vec<Region>,
    triangle_areas: Vec<f64>,
    bones: Vec<BindBone>,
    /// Lengths in the rest pose over lengths in the bind pose: files may bind in other units than
    /// they show.
    pub scale: f64,
    /// The same as a factor back to the bind pose, negative where the rest pose mirrors, so that
    /// inside stays inside.
    bind_from_rest: f32,
    /// The volume in the file's rest pose over that in the bind pose.
    rest_volume: f64,
    /// For every region those that share much of its skin.
    neighbours: Vec<Vec<usize>>,
    /// Vertices at which methods are compared, so many that are blended first, and for every
    /// region the places of its own among them.
    compared: Vec<u32>,
    blended: usize,
    compared_in_region: Vec<Vec<u32>>,
}

/// What a joint does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Motion {
    pub bend: f64,
    pub twist: f64,
    pub shift: f64,
    /// The axis of the bend in the world.
    pub bend_axis: DVec3,
    /// The direction of the bone in the world.
    pub bone: DVec3,
}

/// A clip seen through all methods.
pub(crate) struct Samples {
    /// Seconds from the clip's first key.
    pub times: Vec<f64>,
    /// Seconds between the evenly spaced ones among them.
    pub spacing: f64,
    /// By method, then by frame; an error where the method cannot do the pose.
    pub frames: Vec<Vec<Result<FrameMeasures, String>>>,
    /// By method, then one for every [`DETAIL_EVERY`]th frame.
    pub details: Vec<Vec<Option<SlowMeasures>>>,
    /// By frame, then by region: how far apart the methods are, as a share of the region's size.
    pub spread: Vec<Vec<f64>>,
    /// By frame: the largest distance between methods, as a share of the character's size.
    pub apart: Vec<f64>,
    /// By frame: how far any method is from the others.
    pub farthest: Vec<Farthest>,
    /// By frame, then by region.
    pub motions: Vec<Vec<Motion>>,
    /// By frame, then by region: from 0, carried along by a neighbour that moves much more, to 1,
    /// the joint itself moves.
    pub activity: Vec<Vec<f64>>,
    /// By method: root mean square of the distance from linear blending, as a share of the size;
    /// none where that is not compared.
    pub from_linear: Vec<Option<f64>>,
}

/// How far the method that is farthest from the others is from them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Farthest {
    /// Anywhere, as a share of the character's size.
    pub of_body: f64,
    /// Around a joint, as a share of the region's size.
    pub of_region: f64,
}

/// The largest value; of four or more the second largest, so that one method that fails does not
/// hide what the others do.
pub(crate) fn telling(values: impl Iterator<Item = f64>) -> f64 {
    let (mut first, mut second, mut count) = (0.0, 0.0, 0);
    for value in values {
        if value > first {
            (first, second) = (value, first);
        } else if value > second {
            second = value;
        }
        count += 1;
    }
    if count >= 4 { second } else { first }
}

/// The median of some points, axis by axis: where most methods are, wherever one that fails may be.
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

/// Methods against each other in one frame.
struct Compared {
    spread: Vec<f64>,
    apart: f64,
    farthest: Farthest,
}

/// Of so many frames one is measured in detail.
const DETAIL_EVERY: usize = 4;

impl<'a> Comparison<'a> {
    pub fn new(asset: &'a Asset, entries: &[Entry]) -> Comparison<'a> {
        let players = exec::map(entries.len(), |index| {
            Mutex::new(play(asset, &entries[index].method))
        });
        let vertex_areas = regions::vertex_areas(asset);
        let regions = regions::find(asset, &vertex_areas);
        let mesh = asset.rig.mesh();
        let corner = |&corner: &u32| mesh.positions()[corner as usize].as_dvec3();
        let triangle_areas = mesh.triangles().iter().map(|[a, b, c]| {
            let (a, b, c) = (corner(a), corner(b), corner(c));
            0.5 * (b - a).cross(c - a).length()
        });
        let rest_scale = rest_scale(asset);
        let weights = asset.rig.weights();
        let (blended, others): (Vec<u32>, Vec<u32>) = (0..mesh.vertex_count() as u32)
            .partition(|&vertex| weights.of(vertex as usize).len() > 1);
        let some = |vertices: Vec<u32>, most: usize| {
            let step = vertices.len().div_ceil(most).max(1);
            vertices.into_iter().step_by(step)
        };
        let mut compared: Vec<u32> = some(blended, COMPARED_VERTICES).collect();
        let blended = compared.len();
        compared.extend(some(others, COMPARED_VERTICES / 4));
        let compared_in_region = regions.iter().map(|region| {
            let member = |vertex: u32| {
                region
                    .vertices
                    .binary_search_by_key(&vertex, |v| v.0)
                    .is_ok()
            };
            let places = compared
                .iter()
                .enumerate()
                .filter(|(_, vertex)| member(**vertex));
            places.map(|(place, _)| place as u32).collect()
        });
        let mut comparison = Comparison {
            asset,
            players,
            linear: entries
                .iter()
                .position(|entry| entry.method == Method::Linear),
            gauge: Gauge::new(&asset.rig),
            triangle_areas: triangle_areas.collect(),
            bones: asset.rig.skeleton().bind_bones(),
            scale: rest_scale.abs(),
            bind_from_rest: (1.0 / rest_scale) as f32,
            compared_in_region: compared_in_region.collect(),
            compared,
            blended,
            neighbours: regions::neighbours(&regions, mesh.vertex_count()),
            rest_volume: 1.0,
            regions,
        };
        let rest = asset.rest_pose();
        let volume = |method| {
            let change = |player: &Player<'_>| {
                comparison
                    .gauge
                    .volume_change(&comparison.unscaled(player.positions()))
            };
            comparison.pose(method, &rest, change).ok().flatten()
        };
        let mut methods = comparison
            .linear
            .into_iter()
            .chain(0..comparison.method_count());
        let at_rest = methods.find_map(volume).map(|change| 1.0 + change);
        // A rest pose that has all but collapsed is nothing to compare with.
        comparison.rest_volume = at_rest.filter(|&volume| volume > COLLAPSED).unwrap_or(1.0);
        comparison
    }

    /// Runs something on the player of a method.
    pub fn with_player<T>(&self, method: usize, run: impl FnOnce(&mut Playing<'a>) -> T) -> T {
        let mut player = self.players[method]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        run(&mut player)
    }

    /// Poses a method by itself, whatever was posed before, or says why that cannot be.
    ///
    /// # Errors
    ///
    /// If the method cannot do the pose.
    pub fn pose<T>(
        &self,
        method: usize,
        pose: &Pose,
        then: impl FnOnce(&Player<'a>) -> T,
    ) -> Result<T, String> {
        self.pose_in_turn(method, 0, pose, then)
    }

    /// Poses a method in a frame of a series, which follows the one before; the first follows none.
    fn pose_in_turn<T>(
        &self,
        method: usize,
        frame: usize,
        pose: &Pose,
        then: impl FnOnce(&Player<'a>) -> T,
    ) -> Result<T, String> {
        self.with_player(method, |player| {
            let player = player.as_mut().map_err(|reason| reason.clone())?;
            if frame == 0 {
                player.start_afresh();
            }
            try_pose(player, pose)?;
            if player.first_not_finite().is_some() {
                return Err("the pose carries the skin to where no number reaches".to_owned());
            }
            Ok(then(player))
        })
    }

    pub fn method_count(&self) -> usize {
        self.players.len()
    }

    /// The size of the character in the world.
    pub fn extent(&self) -> f64 {
        let bounds = self.asset.rig.mesh().bounds();
        bounds
            .map_or(1.0, |bounds| f64::from(bounds.extent()))
            .max(1e-12)
            * self.scale
    }

    /// Positions as if shown in the units of the bind pose.
    fn unscaled(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let factor = self.bind_from_rest;
        positions
            .iter()
            .map(|&position| position * factor)
            .collect()
    }

    fn unmirrored(&self, normals: &[Vec3]) -> Vec<Vec3> {
        let side = self.bind_from_rest.signum();
        normals.iter().map(|&normal| normal * side).collect()
    }

    fn unscaled_palette(&self, palette: &Palette) -> Palette {
        let factor = self.bind_from_rest;
        let unscaled = |affine: &Affine| Affine {
            rows: affine.rows.map(|row| row * factor),
        };
        Palette {
            posed_from_bind: palette.posed_from_bind.iter().map(unscaled).collect(),
        }
    }

    /// How often the area around each vertex has doubled, for colours.
    pub fn vertex_stretch(&self, player: &Player<'_>) -> Vec<f32> {
        self.gauge
            .vertex_stretch(&self.unscaled(player.positions()))
    }

    /// When to look at a clip: in evenly spaced frames, its end among them, and where these are far
    /// apart also at keys whose poses are unlike all others. Gives the seconds from the clip's
    /// first key, and how far apart the even ones are.
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

    /// In how many frames of each method some of the blended skin jumps, out of line with how it
    /// moves before and after. None where the method can do no pose. A clip of more than
    /// `frames` is looked at around a moment.
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

    /// Plays a clip. A brief look finds what is worth showing, not what it measures.
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
                    let detailed = index % DETAIL_EVERY == 0 && !brief;
                    (
                        self.numbers(&positions, &palette, brief),
                        detailed.then(|| {
                            self.detail(&positions, &self.unmirrored(player.normals()), &palette)
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
        let compared: Vec<Compared> = (0..times.len())
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
        let details = by_method.iter().map(|frames| {
            let every = frames.iter().step_by(DETAIL_EVERY);
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
        let motions: Vec<Vec<Motion>> = palettes
            .iter()
            .map(|palette| self.motions(palette))
            .collect();
        Samples {
            spacing,
            from_linear: from_linear.collect(),
            details: details.collect(),
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

    /// How far a method is from linear blending over all frames that both can do.
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

    fn numbers(&self, positions: &[Vec3], palette: &Palette, brief: bool) -> FrameMeasures {
        let stretch = self.gauge.stretch(positions);
        // The root mean square over the two directions: skin that grows by a tenth both ways has
        // changed by a tenth.
        let distortion: Vec<f64> = stretch
            .iter()
            .map(|stretch| stretch.distortion() * FRAC_1_SQRT_2)
            .collect();
        let radii = match brief {
            true => Vec::new(),
            false => self.gauge.radii(positions, palette),
        };
        let skeleton = self.asset.rig.skeleton();
        let region = |region: &Region| {
            let (mut sum, mut area) = (0.0, 0.0);
            for &triangle in &region.triangles {
                let own = self.triangle_areas[triangle as usize];
                sum += own * distortion[triangle as usize];
                area += own;
            }
            let radius = radii.binary_search_by_key(&region.joint, |radius| radius.joint);
            let parent = skeleton.joints()[region.joint].parent;
            RegionMeasures {
                distortion: if area > 0.0 { sum / area } else { 0.0 },
                thickness: radius
                    .ok()
                    .filter(|_| parent == Some(region.other))
                    .map(|index| thickness(&radii[index])),
            }
        };
        let regions = self.regions.iter().map(region).collect();
        let (mut sum, mut area) = (0.0, 0.0);
        let (mut largest, mut least) = (Histogram::default(), Histogram::default());
        let triangles = stretch.iter().zip(&distortion).zip(&self.triangle_areas);
        for ((stretch, distortion), &own) in triangles {
            sum += own * distortion;
            area += own;
            largest.add(stretch.largest, own);
            least.add(stretch.least, own);
        }
        FrameMeasures {
            volume_change: match brief {
                true => None,
                false => self
                    .gauge
                    .volume_change(positions)
                    .map(|change| (1.0 + change) / self.rest_volume - 1.0),
            },
            stretched: largest.below(0.99) - 1.0,
            compressed: 1.0 - least.below(0.01),
            distortion: if area > 0.0 { sum / area } else { 0.0 },
            regions,
        }
    }

    fn detail(&self, positions: &[Vec3], normals: &[Vec3], palette: &Palette) -> SlowMeasures {
        SlowMeasures {
            area_change: self.gauge.area_change(positions),
            edge_change: self.gauge.edges(positions).rms,
            rigid_energy: self.gauge.rigid_energy(positions),
            normal_degrees: self
                .gauge
                .normal_error(positions, normals, palette)
                .mean_degrees,
        }
    }

    /// How far methods are from each other around every joint, and anywhere, both in shares.
    fn compare(&self, methods: &[&[Vec3]]) -> Compared {
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
                (squares.sum::<f64>() / places.len().max(1) as f64).sqrt() / region.size
            })
        };
        let anywhere = |which: usize| {
            let most = distances
                .iter()
                .map(|distances| distances[which])
                .fold(0.0, f64::max);
            most * self.scale / self.extent()
        };
        Compared {
            spread: region(0).collect(),
            apart: anywhere(0),
            farthest: Farthest {
                of_body: anywhere(1),
                of_region: region(1).fold(0.0, f64::max),
            },
        }
    }

    fn motions(&self, palette: &Palette) -> Vec<Motion> {
        self.regions
            .iter()
            .map(|region| self.motion(region, palette))
            .collect()
    }

    /// How much of what happens in each region is its own joint's doing.
    fn activity(&self, motions: &[Motion]) -> Vec<f64> {
        let own = |(motion, neighbours): (&Motion, &Vec<usize>)| {
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

    /// The motion of a region's joint against the joint that it is blended with.
    fn motion(&self, region: &Region, palette: &Palette) -> Motion {
        let (own, other) = (
            palette.posed_from_bind[region.joint],
            palette.posed_from_bind[region.other],
        );
        let (turn_own, turn_other) = (rotation(&own), rotation(&other));
        let between = turn_other.inverse() * turn_own;
        let axis = self.bones[region.joint].axis().unwrap_or(DVec3::Y);
        let vector = DVec3::new(between.x, between.y, between.z);
        let along = vector.dot(axis);
        let across = vector - axis * along;
        let head = self.bones[region.joint].head.as_vec3();
        let shift = own
            .transform_point(head)
            .distance(other.transform_point(head));
        Motion {
            bend: 2.0 * across.length().atan2(between.w.hypot(along)),
            twist: 2.0 * along.abs().atan2(between.w.abs()),
            shift: f64::from(shift) / (region.size * self.scale),
            bend_axis: turn_other * across.normalize_or_zero(),
            bone: turn_own * axis,
        }
    }

    /// How long a method takes per vertex, positions and normals, in nanoseconds: the fastest of
    /// some runs.
    pub fn cost(&self, entry: &Entry, pose: &Pose) -> Option<f64> {
        let rig = &self.asset.rig;
        let count = rig.mesh().vertex_count();
        let mut positions = vec![Vec3::ZERO; count];
        let mut normals = vec![Vec3::ZERO; count];
        let palette = rig.skeleton().palette(pose).ok()?;
        let skin = Skin::bake(rig, &entry.method, Normals::Transported).ok()?;
        let mut workspace = Workspace::default();
        let mut fastest = f64::INFINITY;
        let started = Instant::now();
        for run in 0..200 {
            let before = Instant::now();
            let output = Output {
                positions: &mut positions,
                normals: Some(&mut normals),
                tangents: None,
            };
            skin.deform(&palette, &mut workspace, output).ok()?;
            fastest = fastest.min(before.elapsed().as_secs_f64());
            if run >= 3 && started.elapsed().as_millis() > 40 {
                break;
            }
        }
        Some(fastest * 1e9 / count.max(1) as f64)
    }
}

impl Motion {
    /// All that the joint does, in radians; a shift by a radius counts as one.
    pub fn amount(&self) -> f64 {
        self.bend + self.twist + self.shift
    }
}

impl Samples {
    fn known(&self, frame: usize) -> impl Iterator<Item = &FrameMeasures> {
        let frames = self.frames.iter();
        frames.filter_map(move |frames| frames[frame].as_ref().ok())
    }

    /// Whether what happens around a joint is its own doing.
    pub fn moves_itself(&self, frame: usize, region: usize) -> bool {
        self.activity[frame][region] >= OWN_DOING && self.motions[frame][region].amount() > TURNS
    }

    /// How far the thickness of a region is from rest with the worst method, and a little for what
    /// the others do; none where nothing can be measured. Torn skin is all the same.
    pub fn thickness_error(&self, frame: usize, region: usize) -> Option<f64> {
        let errors: Vec<f64> = self
            .known(frame)
            .filter_map(|numbers| numbers.regions[region].thickness)
            .map(|thickness| thickness.error().min(TORN))
            .collect();
        let worst = errors.iter().copied().reduce(f64::max)?;
        Some(worst + 1e-3 * errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// How much lengths in a region change with the worst method.
    pub fn distortion(&self, frame: usize, region: usize) -> f64 {
        telling(
            self.known(frame)
                .map(|numbers| numbers.regions[region].distortion),
        )
    }

    /// How much is wrong around a region in a frame: methods far apart, or skin out of shape beyond
    /// what all methods have in common.
    pub fn severity(&self, frame: usize, region: usize) -> f64 {
        let common = match self.frames.len() {
            1 => 0.0,
            _ => self
                .known(frame)
                .map(|numbers| numbers.regions[region].distortion)
                .fold(f64::INFINITY, f64::min),
        };
        let distortion = (self.distortion(frame, region) - common).max(0.0);
        let wrong = 3.0 * self.spread[frame][region] + 0.4 * distortion;
        wrong * self.activity[frame][region]
    }

    /// The same by how much of the body it is: a large region counts for more, but hands are not
    /// forgotten over hips.
    pub fn importance(&self, frame: usize, index: usize, region: &Region) -> f64 {
        self.severity(frame, index) * region.share.powf(0.25)
    }

    /// What each frame has to tell.
    pub fn candidates(&self, regions: &[Region]) -> Vec<Candidate> {
        let frame = |frame: usize| {
            let mut signature = Vec::with_capacity(regions.len() * 3);
            let mut score: f64 = 0.0;
            for (index, region) in regions.iter().enumerate() {
                let severity = self.importance(frame, index, region);
                let motion = &self.motions[frame][index];
                let kinds = [motion.bend, motion.twist, motion.shift];
                let sum: f64 = kinds.iter().sum::<f64>().max(STILL);
                signature.extend(kinds.iter().map(|kind| severity * kind / sum));
                score = severity.max(score);
            }
            let score = score + self.apart[frame];
            if regions.is_empty() {
                signature.push(score);
            }
            Candidate { score, signature }
        };
        (0..self.times.len()).map(frame).collect()
    }
}

/// How much area is stretched by how much, in narrow classes: percentiles without sorting.
struct Histogram {
    areas: Vec<f64>,
}

/// Classes per doubling, and doublings to either side of no change.
const CLASSES: f64 = 256.0;
const DOUBLINGS: f64 = 6.0;

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            areas: vec![0.0; (2.0 * DOUBLINGS * CLASSES) as usize + 1],
        }
    }
}

impl Histogram {
    fn add(&mut self, stretch: f64, area: f64) {
        let doublings = stretch.max(0.0).log2().clamp(-DOUBLINGS, DOUBLINGS);
        // No change is the middle of a class.
        self.areas[((doublings + DOUBLINGS) * CLASSES).round() as usize] += area;
    }

    /// The stretch below which this share of the area lies; 1 without any area.
    fn below(&self, share: f64) -> f64 {
        let wanted = share * self.areas.iter().sum::<f64>();
        let mut sum = 0.0;
        let found = self.areas.iter().position(|area| {
            sum += area;
            *area > 0.0 && sum >= wanted
        });
        found.map_or(1.0, |class| (class as f64 / CLASSES - DOUBLINGS).exp2())
    }
}

/// Least and largest thickness near the joint, as means over cuts, so that single points do not
/// decide.
fn thickness(radius: &JointRadius) -> Thickness {
    let near = |reach: f64| {
        let stations = radius.stations.iter();
        stations.filter(move |station| station.along.abs() <= reach * radius.rest_radius)
    };
    let largest: Vec<f64> = near(1.5).map(|station| station.largest).collect();
    let bulge = largest.iter().sum::<f64>() / largest.len().max(1) as f64;
    Thickness {
        thinnest: radius.collapse,
        thickest: if largest.is_empty() { 1.0 } else { bulge },
    }
}

fn play<'a>(asset: &'a Asset, method: &Method) -> Playing<'a> {
    Player::new(asset, method, Normals::Transported).map_err(|error| error.to_string())
}

fn try_pose(player: &mut Player<'_>, pose: &Pose) -> Result<(), String> {
    player.pose(pose).map_err(|error| error.to_string())
}

/// How much larger the rest pose shows the surface than the bind pose, negative where it mirrors
/// it: the median over joints.
fn rest_scale(asset: &Asset) -> f64 {
    let palette = asset.rig.skeleton().rest_palette();
    let mut scales: Vec<f64> = palette
        .posed_from_bind
        .iter()
        .map(Affine::scale_factor)
        .filter(|scale| scale.is_finite() && scale.abs() > 1e-9)
        .collect();
    scales.sort_by(f64::total_cmp);
    let scale = scales.get(scales.len() / 2).copied().unwrap_or(1.0);
    // Rounding is no change of units.
    if (scale.abs() - 1.0).abs() < 1e-3 {
        scale.signum()
    } else {
        scale
    }
}

/// The rotation nearest to a map's linear part; of a mirror, to its opposite, so that joints of a
/// mirrored world can be compared.
fn rotation(affine: &Affine) -> DQuat {
    let linear = affine.to_f64().matrix3;
    Polar::of(if affine.mirrors() { -linear } else { linear }).rotation
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::characters::{self, Character};

    /// Played in any order, by one player: stills do not follow what was shown before, and a clip
    /// is the same each time.
    #[test]
    fn what_is_shown_does_not_hang_on_what_was_shown_before() {
        let asset = characters::build(Character::Bar, 2000).unwrap();
        let method: Method = "arap:1:follow".parse().unwrap();
        let comparison = Comparison::new(&asset, &[Entry::of(&method)]);
        let clip = &asset.clips[0];
        let [one, other] = [0.5, 0.9].map(|share| asset.pose_at(clip, share * clip.duration()));
        let shown = |pose: &Pose| comparison.pose(0, pose, |player| player.positions().to_vec());
        let alone = shown(&one).unwrap();
        shown(&other).unwrap();
        assert_eq!(shown(&one).unwrap(), alone);
        let played = || comparison.sample(clip, 8, true).frames;
        let distortions = || -> Vec<f64> {
            let frames = played().into_iter().flatten();
            frames.map(|frame| frame.unwrap().distortion).collect()
        };
        let once = distortions();
        shown(&other).unwrap();
        assert_eq!(distortions(), once);
    }
}
