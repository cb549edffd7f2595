//! From channels per joint to rows per vertex: `Ω` (eq. 11), pruned, limited and rounded.

use super::channels::{self, Gathered, JointChannels, LocalNumbers};
use super::{Mush, MushError, MushOptions, MushSurface, PatchPart};
use crate::exec;
use crate::polar::{minors, outer, trace};
use crate::weights::WeightsBuilder;
use glam::{DMat3, DVec3, Vec3};

/// The part of a point's patch that a joint holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    joint: u16,
    /// `ψ`.
    rotation: f64,
    /// `w'`.
    skinning: f64,
    lever: DVec3,
    moments: DMat3,
}

/// The patch of a point: its middle, its joints.
#[derive(Clone, Debug)]
pub(super) struct Row {
    center: DVec3,
    held: Vec<Held>,
    /// `α·D_α`.
    alpha: f64,
}

/// The final row of a point.
#[derive(Clone, Debug, Default)]
pub(super) struct PointRow {
    center: Vec3,
    /// `ω` of each joint, in the order of joints.
    shares: Vec<(u16, f64)>,
    /// The other numbers of each joint.
    parts: Vec<PatchPart>,
}

/// The state of a point: first the data gathered by its joints, then its row.
#[derive(Clone, Debug, Default)]
struct Point {
    /// By rising joint.
    gathered: Vec<(u16, Gathered)>,
    shares: Vec<(u16, f32)>,
    row: PointRow,
}

/// The number of joints that are solved before their data are sorted by points: enough to keep all
/// threads busy with little duplicated memory.
const JOINTS_TOGETHER: usize = 1024;

/// The rows of all points.
pub(super) fn rows(surface: &MushSurface, options: &MushOptions) -> Vec<PointRow> {
    let support = surface.points_of_joints();
    let centers = surface.smoothed_places(options.smoothing());
    let mut points: Vec<Point> = vec![Point::default(); surface.point_count()];
    for (batch, support) in support.chunks(JOINTS_TOGETHER).enumerate() {
        let solved = exec::map_runs(support.len(), |joints| {
            let mut local = LocalNumbers::none_of(surface);
            let solve = |joint: usize| match support[joint].is_empty() {
                true => JointChannels::default(),
                false => channels::solve(surface, options, &centers, &support[joint], &mut local),
            };
            joints.map(solve).collect::<Vec<_>>()
        });
        let solved: Vec<JointChannels> = solved.into_iter().flatten().collect();
        sort_by_points(solved, batch * JOINTS_TOGETHER, &mut points);
    }
    let given = options.alpha_by_joint();
    let alpha_at = |joint: u16| given.get(&usize::from(joint)).copied().unwrap_or(1.0);
    let finish = |index: usize, point: &mut Point| {
        let place = surface.laplacian.points()[index];
        let mut row = Row {
            center: centers[index],
            held: point.held(),
            alpha: 0.0,
        };
        if row.held.iter().all(|held| held.rotation <= 0.0) {
            // With so many joints that each is negligible, the point keeps its own joints.
            row.center = place;
            row.held = own_joints(surface, index);
        }
        row.prune(options.prune, place, surface.extent);
        row.limit(options.max_influences);
        let shares = row
            .held
            .iter()
            .map(|held| held.rotation * alpha_at(held.joint));
        let share = surface.painted_alpha[index].unwrap_or_else(|| shares.sum());
        row.alpha = (options.alpha * share).clamp(0.0, MOST_ALPHA);
        row.thicken(surface.spread);
        *point = Point {
            row: row.shipped(),
            ..Point::default()
        };
    };
    exec::for_each_chunk_mut(&mut points, |first, points| {
        for (index, point) in (first..).zip(points) {
            finish(index, point);
        }
    });
    points.into_iter().map(|point| point.row).collect()
}

/// Adds the gathered data of some joints, the first of which has the index `first`, to the points.
fn sort_by_points(solved: Vec<JointChannels>, first: usize, points: &mut [Point]) {
    // Lists grow exactly, once per batch: they are most of the memory of a bake.
    let mut more = vec![(0, 0); points.len()];
    for channels in &solved {
        for entry in &channels.gathered {
            more[entry.point as usize].0 += 1;
        }
        for entry in &channels.shares {
            more[entry.point as usize].1 += 1;
        }
    }
    for (point, (gathered, shares)) in points.iter_mut().zip(more) {
        point.gathered.reserve_exact(gathered);
        point.shares.reserve_exact(shares);
    }
    for (joint, channels) in (first..).zip(solved) {
        let joint = joint as u16;
        for entry in channels.gathered {
            points[entry.point as usize].gathered.push((joint, entry));
        }
        for entry in channels.shares {
            let shares = &mut points[entry.point as usize].shares;
            shares.push((joint, entry.share));
        }
    }
}

impl Point {
    /// The parts of the point's joints, in the order of joints.
    fn held(&self) -> Vec<Held> {
        let mut held = Vec::with_capacity(self.gathered.len().max(self.shares.len()));
        let mut shares = self.shares.iter().peekable();
        for (joint, gathered) in &self.gathered {
            while let Some(&(other, share)) = shares.next_if(|(other, _)| other < joint) {
                held.push(Held::of_share(other, f64::from(share)));
            }
            let share = shares.next_if(|(other, _)| other == joint);
            held.push(Held {
                skinning: share.map_or(0.0, |&(_, share)| f64::from(share)),
                ..Held::of(*joint, gathered)
            });
        }
        held.extend(shares.map(|&(joint, share)| Held::of_share(joint, f64::from(share))));
        held
    }
}

/// The joints of a point without smoothing: its patch is the point itself.
fn own_joints(surface: &MushSurface, point: usize) -> Vec<Held> {
    let mut held: Vec<Held> = surface
        .influences(point)
        .map(|(joint, weight)| Held {
            rotation: weight,
            ..Held::of_share(joint as u16, weight)
        })
        .collect();
    held.sort_by_key(|held| held.joint);
    held
}

/// Beyond this, nothing would remain to determine the rotation.
const MOST_ALPHA: f64 = 1.0 - 1e-6;

impl Held {
    fn of(joint: u16, gathered: &Gathered) -> Held {
        let [xx, xy, xz, yy, yz, zz] = gathered.moments.map(f64::from);
        Held {
            joint,
            rotation: f64::from(gathered.share),
            skinning: 0.0,
            lever: Vec3::from_array(gathered.lever).as_dvec3(),
            moments: DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
        }
    }

    fn of_share(joint: u16, skinning: f64) -> Held {
        Held {
            joint,
            rotation: 0.0,
            skinning,
            lever: DVec3::ZERO,
            moments: DMat3::ZERO,
        }
    }

    fn scaled(&self, factor: f64) -> Held {
        Held {
            joint: self.joint,
            rotation: self.rotation * factor,
            skinning: self.skinning * factor,
            lever: self.lever * factor,
            moments: self.moments * factor,
        }
    }
}

impl Row {
    /// The covariance of the patch.
    fn covariance(&self) -> DMat3 {
        self.held
            .iter()
            .fold(DMat3::ZERO, |sum, held| sum + held.moments)
    }

    /// Drops joints with so little influence that all of them together cannot move the vertex by
    /// more than `error`, relative to the extent, as long as no joint carries it farther than one
    /// extent from where another does, and the patch roughly keeps its shape.
    ///
    /// Without joint `j` the error of the patch's middle is at most the joint's share times an
    /// extent. The error of the rotation is at most the missing part of `Σ M_j Ω_ij`, twice its
    /// moments for a rotation and its lever times an extent for a translation, divided by the sum
    /// of the two smaller variances of the patch; it moves the vertex by that times its distance
    /// from the middle. Skinning weights are judged separately, since they do not affect rotations
    /// (Appendix C).
    fn prune(&mut self, error: f64, place: DVec3, extent: f64) {
        let gap = lesser_spread(&self.covariance()).max(f64::MIN_POSITIVE);
        let arm = place.distance(self.center);
        let allowed = 0.5 * error * extent;
        let cheap = self.cheapest(allowed, |held| {
            let missing = 2.0 * trace(&held.moments) + held.lever.length() * extent;
            // The error of a rotation is at most half a turn; and rounding may give a patch of a
            // single point negative moments.
            held.rotation * extent + arm * (missing / gap).clamp(0.0, 2.0)
        });
        let unused = self.cheapest(allowed, |held| held.skinning * extent);
        for ((held, cheap), unused) in self.held.iter_mut().zip(cheap).zip(unused) {
            if cheap {
                *held = Held::of_share(held.joint, held.skinning);
            }
            if unused {
                held.skinning = 0.0;
            }
        }
        self.held
            .retain(|held| held.rotation > 0.0 || held.skinning > 0.0);
        self.settle();
    }

    /// The joints whose total cost is below `allowed`; never all of them.
    fn cheapest(&self, allowed: f64, cost: impl Fn(&Held) -> f64) -> Vec<bool> {
        let mut order: Vec<(f64, usize)> = self.held.iter().map(cost).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        order.pop();
        let mut cheap = vec![false; self.held.len()];
        let mut sum = 0.0;
        for (cost, at) in order {
            sum += cost;
            if sum >= allowed {
                break;
            }
            cheap[at] = true;
        }
        cheap
    }

    /// Keeps at most `most` joints, continuously: the shares of the heaviest dropped joint are
    /// subtracted from all, so that a joint fades to zero before it is dropped.
    fn limit(&mut self, most: Option<usize>) {
        let Some(most) = most.filter(|&most| most < self.held.len()) else {
            return;
        };
        let mut shares: Vec<f64> = self.held.iter().map(|held| held.rotation).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let next = shares[most];
        let heaviest = shares[0];
        if heaviest > next {
            let kept = self.held.iter().filter(|held| held.rotation > next);
            self.held = kept
                .map(|held| held.scaled((held.rotation - next) / held.rotation))
                .collect();
        } else {
            // If the heaviest joints are in a tie, keeps the first.
            self.held.retain(|held| held.rotation == heaviest);
            self.held.truncate(most);
        }
        self.settle();
    }

    /// Normalises shares to a sum of one, and moments to the middle again, after parts of the patch
    /// were dropped.
    fn settle(&mut self) {
        let rotation: f64 = self.held.iter().map(|held| held.rotation).sum();
        if rotation <= 0.0 {
            return;
        }
        let skinning: f64 = self.held.iter().map(|held| held.skinning).sum();
        for held in &mut self.held {
            held.rotation /= rotation;
            held.lever /= rotation;
            held.moments *= 1.0 / rotation;
            // A patch without any skinning weights left keeps its own shares.
            held.skinning = match skinning > 0.0 {
                true => held.skinning / skinning,
                false => held.rotation,
            };
        }
        let shift = self
            .held
            .iter()
            .fold(DVec3::ZERO, |sum, held| sum + held.lever);
        for held in &mut self.held {
            let lever = held.lever - shift * held.rotation;
            held.moments -= outer(held.lever, shift) + outer(shift, lever);
            held.lever = lever;
        }
        self.center += shift;
    }

    /// Thickens the points of a patch that is a line or a single point to tiny balls: the rotations
    /// of its joints then decide what its shape leaves undetermined.
    fn thicken(&mut self, surface_spread: f64) {
        let ball = missing_thickness(&self.covariance(), surface_spread);
        for held in &mut self.held {
            held.moments += DMat3::from_diagonal(DVec3::splat(ball * held.rotation));
        }
    }
}

/// The sum of the two smaller variances of a patch, or slightly less: the sum of its principal
/// minors divided by its trace. Zero for a patch that is a point.
fn lesser_spread(covariance: &DMat3) -> f64 {
    let whole = trace(covariance);
    let spread = minors(covariance) / whole;
    // For a single point, rounding leaves variances of either sign, whose sum may be almost zero.
    match spread.is_finite() {
        true => spread.min(whole).max(0.0),
        false => 0.0,
    }
}

/// The variance by which the points of a patch are thickened to balls, each rotated by its own
/// joint, if the shape of the patch hardly determines a rotation: a line or a single point. Direct
/// delta mush bakes it, and delta mush with best-fit frames adds the same in every frame.
///
/// `surface_spread` is [`MushSurface::spread`].
pub(crate) fn missing_thickness(covariance: &DMat3, surface_spread: f64) -> f64 {
    let least = (LINE * trace(covariance)).max(POINT * surface_spread);
    // A surface that is a single point has no size to compare with: any ball will do.
    let least = if least > 0.0 { least } else { 1.0 };
    (least - lesser_spread(covariance)).max(0.0)
}

/// A patch whose smaller variances are below this share of its spread is a line, within the
/// accuracy of `f32` rotations.
const LINE: f64 = 1e-4;
/// A patch whose smaller variances are below this share of the surface's is a single point.
/// Smoothing is accurate to 1e-10, so a hundredth of this is the error of a point.
const POINT: f64 = 1e-8;

/// Two steps of the grid of weights.
const LEAST_SHARE: f64 = 1.2e-7;

impl Row {
    /// Converts the row to its final form.
    fn shipped(&self) -> PointRow {
        let share = |held: &Held| {
            let share = (1.0 - self.alpha) * held.rotation + self.alpha * held.skinning;
            // Rounding must not drop a joint that only rotates: its part would be missing in the
            // rotation.
            share.max(held.rotation.min(LEAST_SHARE))
        };
        let held = self.held.iter();
        PointRow {
            center: self.center.as_vec3(),
            shares: held.clone().map(|held| (held.joint, share(held))).collect(),
            parts: held.map(|held| held.part(self.alpha)).collect(),
        }
    }
}

/// Expands the final rows of points to vertices.
pub(super) fn finish(rows: Vec<PointRow>, surface: &MushSurface) -> Result<Mush, MushError> {
    let vertices = surface.weights.vertex_count();
    let mut weights = WeightsBuilder::new(surface.joint_count)?;
    for vertex in 0..vertices {
        let row = &rows[surface.weld.point_of(vertex)];
        weights.push_shares(row.shares.iter().copied())?;
    }
    let weights = weights.finish().0;
    let mut parts = Vec::with_capacity(weights.influence_count());
    let mut centers = Vec::with_capacity(vertices);
    for vertex in 0..vertices {
        let row = &rows[surface.weld.point_of(vertex)];
        for joint in weights.row(vertex).0 {
            let place = row.shares.binary_search_by_key(joint, |(joint, _)| *joint);
            parts.push(place.map_or_else(|_| PatchPart::default(), |place| row.parts[place]));
        }
        centers.push(row.center);
    }
    Ok(Mush {
        weights,
        parts,
        centers,
    })
}

impl Held {
    fn part(&self, alpha: f64) -> PatchPart {
        let m = self.moments * (1.0 - alpha);
        let moments = [
            m.x_axis.x, m.y_axis.x, m.z_axis.x, m.y_axis.y, m.z_axis.y, m.z_axis.z,
        ];
        PatchPart {
            rotation_weight: self.rotation as f32,
            lever: (self.lever * (1.0 - alpha)).as_vec3(),
            moments: moments.map(|moment| moment as f32),
        }
    }
}
