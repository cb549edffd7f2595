//! The pictures of the report: which side to look from, and the colours of stretch.

use super::cast::{Cast, Motion, middle, telling};
use super::regions::Region;
use crate::{Background, Camera, Image, Lamps, Look, Settings, Silhouette, View, render};
use glam::Vec3;
use supple::{Bounds, Player, Pose};

/// Cells along one side of the small maps by which views are compared.
const CELLS: usize = 56;

/// The part of a close-up that is not the region itself.
const SURROUNDINGS: f32 = 1.6;

/// Areas that have changed by this many doublings get the full colour.
pub(super) const FULL_COLOR: f32 = 1.0;

/// The scale of stretch in linear colours: halved, unchanged, doubled.
const COMPRESSED: Vec3 = Vec3::new(0.02, 0.13, 0.55);
const UNCHANGED: Vec3 = Vec3::new(0.72, 0.71, 0.68);
const STRETCHED: Vec3 = Vec3::new(0.60, 0.03, 0.025);

/// Skin that is not in question, and skin that is.
const ASIDE: Vec3 = Vec3::new(0.50, 0.52, 0.55);
const AFFECTED: Vec3 = Vec3::new(0.80, 0.16, 0.02);

/// Shares of the largest difference at which skin begins to be in question, is framed, and is
/// without doubt.
const FAINT: f32 = 0.08;
const FRAMED: f32 = 0.2;
const STRONG: f32 = 0.4;

/// Marks smaller than this share of a picture need a ring to be found.
const SMALL: f64 = 0.18;

/// How report pictures are made.
pub(super) fn settings((width, height): (usize, usize)) -> Settings {
    let flat = Vec3::new(0.86, 0.87, 0.885);
    Settings {
        width,
        height,
        lamps: Lamps::FEW,
        background: Background {
            center: flat,
            corner: flat,
        },
        ..Settings::default()
    }
}

/// The colour of a change of area, in doublings.
pub(super) fn stretch_color(doublings: f32) -> Vec3 {
    let share = (doublings / FULL_COLOR).clamp(-1.0, 1.0);
    let toward = if share < 0.0 { COMPRESSED } else { STRETCHED };
    UNCHANGED.lerp(toward, share.abs().powf(0.8))
}

/// All methods in one pose: where each puts the skin, where that can be told.
pub(super) struct Posed {
    pub positions: Vec<Result<Vec<Vec3>, String>>,
    /// The triangles of what is not skinned but carried along: it may hide the skin.
    props: Vec<[Vec3; 3]>,
}

impl Posed {
    pub fn new(cast: &Cast<'_>, pose: &Pose) -> Posed {
        let positions = |method| cast.pose(method, pose, |player| player.positions().to_vec());
        let carried = |player: &Player<'_>| -> Vec<[Vec3; 3]> {
            let props = player.props().iter();
            let triangles = props.flat_map(|posed| {
                let corner = |corner: u32| posed.positions[corner as usize];
                let triangles = posed.prop.mesh.triangles().iter();
                triangles.map(move |corners| corners.map(corner))
            });
            triangles.collect()
        };
        let props =
            (0..cast.method_count()).find_map(|method| cast.pose(method, pose, carried).ok());
        Posed {
            positions: supple::exec::map(cast.method_count(), positions),
            props: props.unwrap_or_default(),
        }
    }

    /// What can be seen, where most methods put it: the triangles of the skin, then those of the
    /// props.
    fn triangles(&self, middle: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[Vec3; 3]> {
        let corner = |corner: u32| middle.get(corner as usize).copied().unwrap_or(Vec3::NAN);
        let skin = triangles.iter().map(|corners| corners.map(corner));
        skin.chain(self.props.iter().copied()).collect()
    }

    fn known(&self) -> impl Iterator<Item = &Vec<Vec3>> {
        self.positions
            .iter()
            .filter_map(|positions| positions.as_ref().ok())
    }

    /// Where most methods put the skin; empty where none can.
    pub fn middle(&self) -> Vec<Vec3> {
        let known: Vec<&Vec<Vec3>> = self.known().collect();
        let count = known.first().map_or(0, |points| points.len());
        (0..count)
            .map(|vertex| middle(known.iter().map(|points| points[vertex])))
            .collect()
    }

    /// How far apart the methods are at every vertex.
    pub fn spread(&self) -> Vec<f32> {
        let distances = |(vertex, middle): (usize, &Vec3)| {
            telling(
                self.known()
                    .map(|points| f64::from(points[vertex].distance(*middle))),
            ) as f32
        };
        self.middle().iter().enumerate().map(distances).collect()
    }
}

/// What one row of pictures looks at.
pub(super) struct Framing {
    pub camera: Camera,
    pub view: View,
    pub ground: Option<f32>,
    /// Whether this is only a part of the character.
    pub is_part: bool,
}

/// Frames what differs between the methods, or the whole where that is nearly everything.
pub(super) fn frame_difference(
    cast: &Cast<'_>,
    posed: &Posed,
    affected: &[f32],
    aspect: f64,
    motion: Option<&Motion>,
) -> Option<Framing> {
    let middle = posed.middle();
    let mut whole = Silhouette::default();
    whole.add_points(&middle);
    let framed = middle.iter().zip(affected);
    let framed = framed.filter(|(_, affected)| **affected > FRAMED);
    let mut part = Silhouette::default();
    part.add_points(&framed.map(|(point, _)| *point).collect::<Vec<_>>());
    whole.points().next()?;
    let near = part.close_up(&whole, SURROUNDINGS);
    let is_part = near.is_some();
    let points = near.unwrap_or_else(|| whole.points().collect());
    let triangles = cast.asset.rig.mesh().triangles();
    let wanted: Vec<u32> = triangles
        .iter()
        .enumerate()
        .filter(|(_, corners)| {
            corners.iter().any(|&corner| {
                affected
                    .get(corner as usize)
                    .is_some_and(|&affected| affected > FRAMED)
            })
        })
        .map(|(index, _)| index as u32)
        .collect();
    let visible = posed.triangles(&middle, triangles);
    let view = best_view(&visible, triangles.len(), &wanted, &points, aspect, motion);
    Some(Framing {
        camera: Camera::framing(points.iter().copied(), view, aspect),
        view,
        ground: whole.ground(),
        is_part,
    })
}

/// Frames a joint region in all methods.
pub(super) fn frame_region(
    cast: &Cast<'_>,
    posed: &Posed,
    region: &Region,
    aspect: f64,
    motion: &Motion,
) -> Option<Framing> {
    let middle = posed.middle();
    let triangles = cast.asset.rig.mesh().triangles();
    // Whole triangles, since on a coarse character the blended vertices alone are next to nothing.
    let corners = region.triangles.iter();
    let corners = corners.flat_map(|&triangle| triangles[triangle as usize]);
    let members: Vec<Vec3> = corners
        .filter_map(|corner| middle.get(corner as usize).copied())
        .collect();
    let mut part = Silhouette::default();
    part.add_points(&members);
    part.points().next()?;
    let points = part.widened(SURROUNDINGS);
    let visible = posed.triangles(&middle, triangles);
    let view = best_view(
        &visible,
        triangles.len(),
        &region.triangles,
        &points,
        aspect,
        Some(motion),
    );
    Some(Framing {
        camera: Camera::framing(points.iter().copied(), view, aspect),
        view,
        ground: None,
        is_part: true,
    })
}

/// The view in which most of some triangles can be seen, and a bend from its side.
fn best_view(
    triangles: &[[Vec3; 3]],
    of_skin: usize,
    wanted: &[u32],
    framed: &[Vec3],
    aspect: f64,
    motion: Option<&Motion>,
) -> View {
    let views: Vec<View> = [10.0, -12.0, 38.0]
        .iter()
        .flat_map(|&pitch| {
            (0..12).map(move |turn| View {
                yaw_degrees: 32.0 + 30.0 * f64::from(turn),
                pitch_degrees: pitch,
            })
        })
        .collect();
    let mut is_wanted = vec![false; triangles.len()];
    wanted
        .iter()
        .for_each(|&triangle| is_wanted[triangle as usize] = true);
    let front = front(&triangles[..of_skin]);
    let scores = supple::exec::map(views.len(), |index| {
        let view = views[index];
        let camera = Camera::framing(framed.iter().copied(), view, aspect);
        seen(triangles, &is_wanted, front, &camera, aspect) * side_on(view, motion) * familiar(view)
    });
    let best = scores
        .iter()
        .enumerate()
        .fold(
            (0, 0.0),
            |best, (index, &score)| {
                if score > best.1 { (index, score) } else { best }
            },
        );
    views.get(best.0).copied().unwrap_or(View::THREE_QUARTER)
}

/// Prefers looking along the axis of a bend, and across a twisted bone.
fn side_on(view: View, motion: Option<&Motion>) -> f64 {
    let Some(motion) = motion else {
        return 1.0;
    };
    let back = view.towards_viewer();
    let bend = motion.bend.min(1.0) * back.dot(motion.bend_axis).abs();
    let twist = motion.twist.min(1.0) * (1.0 - back.dot(motion.bone).powi(2));
    0.55 + bend + 0.6 * twist
}

/// Prefers the front and eye level a little.
fn familiar(view: View) -> f64 {
    let front = view.yaw_degrees.to_radians().cos();
    1.0 + 0.15 * front - 0.004 * (view.pitch_degrees - 10.0).abs()
}

/// Which way around triangles are seen from outside: 1 against the clock, -1 with it, 0 where the
/// surface has no inside.
fn front(triangles: &[[Vec3; 3]]) -> f64 {
    let Some([middle, ..]) = triangles
        .first()
        .map(|corners| corners.map(|c| c.as_dvec3()))
    else {
        return 0.0;
    };
    let (mut volume, mut area) = (0.0, 0.0);
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| corner.as_dvec3() - middle);
        volume += a.dot(b.cross(c)) / 6.0;
        area += 0.5 * (b - a).cross(c - a).length();
    }
    match volume.abs() > FLAT * area.powf(1.5) {
        true => volume.signum(),
        false => 0.0,
    }
}

/// What a surface seen from its back counts against its front: from inside a body there is little
/// to see.
const FROM_BEHIND: f64 = 0.1;

/// A ball holds about a tenth of its area to the power of one and a half; what holds much less has
/// no inside.
const FLAT: f64 = 1e-3;

/// Nearer to the eye than this share of what is framed nothing is drawn.
const NEAREST: f64 = 1e-3;

/// A corner as seen: where it is in a small picture, and one over its distance, which is linear
/// over the picture.
type Corner = [f64; 3];

/// What a cell of a small picture shows: one over its distance, and what it counts.
type Cell = (f64, f64);

/// How many cells of a small picture show wanted triangles rather than others, or nothing.
fn seen(
    triangles: &[[Vec3; 3]],
    is_wanted: &[bool],
    front: f64,
    camera: &Camera,
    aspect: f64,
) -> f64 {
    let mut nearest: Vec<Cell> = vec![(0.0, 0.0); CELLS * CELLS];
    let least = NEAREST * camera.radius;
    for (corners, &wanted) in triangles.iter().zip(is_wanted) {
        let distances = corners.map(|corner| camera.distance(corner));
        if !distances.iter().any(|&distance| distance > least) {
            continue;
        }
        // What reaches behind the eye is cut off just before it.
        let mut visible: Vec<Corner> = Vec::with_capacity(4);
        for (index, &corner) in corners.iter().enumerate() {
            let next = (index + 1) % 3;
            if distances[index] > least {
                visible.extend(projected(camera, aspect, corner));
            }
            if (distances[index] > least) != (distances[next] > least) {
                let share = (least - distances[index]) / (distances[next] - distances[index]);
                let cut = corner.as_dvec3().lerp(corners[next].as_dvec3(), share);
                visible.extend(projected(camera, aspect, cut.as_vec3()));
            }
        }
        for index in 2..visible.len() {
            let corners = [visible[0], visible[index - 1], visible[index]];
            splat(corners, wanted, front, &mut nearest);
        }
    }
    nearest.iter().map(|cell| cell.1).sum()
}

fn projected(camera: &Camera, aspect: f64, point: Vec3) -> Option<Corner> {
    let (x, y) = camera.project(point, aspect)?;
    let cells = CELLS as f64;
    Some([x * cells, y * cells, 1.0 / camera.distance(point)])
}

/// Marks the cells whose middle a triangle covers, where it is the nearest.
fn splat([a, b, c]: [Corner; 3], wanted: bool, front: f64, nearest: &mut [Cell]) {
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if !area.is_finite() || area.abs() < 1e-12 {
        return;
    }
    // Pictures count downwards, which turns the clock around.
    let counts = match (wanted, area * front > 0.0) {
        (false, _) => 0.0,
        (true, true) => FROM_BEHIND,
        (true, false) => 1.0,
    };
    let range = |axis: usize| {
        let (low, high) = (
            a[axis].min(b[axis]).min(c[axis]),
            a[axis].max(b[axis]).max(c[axis]),
        );
        let first = (low - 0.5).ceil().clamp(0.0, CELLS as f64) as usize;
        let end = ((high - 0.5).floor() + 1.0).clamp(0.0, CELLS as f64) as usize;
        first..end
    };
    for row in range(1) {
        for column in range(0) {
            let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
            let share =
                |p: Corner, q: Corner| ((p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x)) / area;
            let (of_a, of_b, of_c) = (share(b, c), share(c, a), share(a, b));
            if of_a < 0.0 || of_b < 0.0 || of_c < 0.0 {
                continue;
            }
            let nearness = of_a * a[2] + of_b * b[2] + of_c * c[2];
            let cell = &mut nearest[row * CELLS + column];
            if nearness > cell.0 {
                *cell = (nearness, counts);
            }
        }
    }
}

/// A picture in the character's own colours.
pub(super) fn shaded(
    player: &Player<'_>,
    look: &Look,
    framing: &Framing,
    settings: &Settings,
) -> Image {
    render(
        &look.scene(player, framing.ground),
        &framing.camera,
        settings,
    )
}

/// A picture in the colours of stretch.
pub(super) fn stretched(
    cast: &Cast<'_>,
    player: &Player<'_>,
    look: &Look,
    framing: &Framing,
    settings: &Settings,
) -> Image {
    let colors: Vec<Vec3> = cast
        .vertex_stretch(player)
        .into_iter()
        .map(stretch_color)
        .collect();
    painted(player, look, &colors, framing, settings)
}

/// A ring around a part of a picture, in shares of its width and height; the width is the ring's
/// own.
pub(super) struct Ring {
    pub x: f64,
    pub y: f64,
    pub width: f64,
}

/// The whole character with what is affected in colour, and a ring around that where it is small.
pub(super) fn whereabouts(
    player: &Player<'_>,
    look: &Look,
    affected: &[f32],
    view: View,
    settings: &Settings,
) -> (Image, Option<Ring>) {
    let color = |&affected: &f32| {
        let share = ((affected - FAINT) / (STRONG - FAINT)).clamp(0.0, 1.0);
        ASIDE.lerp(AFFECTED, share * share * (3.0 - 2.0 * share))
    };
    let colors: Vec<Vec3> = affected.iter().map(color).collect();
    let mut whole = Silhouette::default();
    whole.add(player);
    let aspect = settings.aspect();
    let camera = Camera::framing(whole.points(), view, aspect);
    let framing = Framing {
        camera,
        view,
        ground: whole.ground(),
        is_part: false,
    };
    let marked = player.positions().iter().zip(affected);
    let marked = marked.filter(|(_, affected)| **affected > FRAMED);
    let places: Vec<(f64, f64)> = marked
        .filter_map(|(&position, _)| camera.project(position, aspect))
        .collect();
    (
        painted(player, look, &colors, &framing, settings),
        ring_around(&places, aspect),
    )
}

/// The surroundings of a vertex, painted by numbers from 0 to 1, and a ring around it; nothing
/// where it cannot be seen.
pub(super) fn close_up_of_vertex(
    player: &Player<'_>,
    look: &Look,
    shares: &[f32],
    vertex: usize,
    settings: &Settings,
) -> Option<(Image, Ring)> {
    let positions = player.positions();
    let place = *positions.get(vertex)?;
    let mut whole = Silhouette::default();
    whole.add(player);
    let extent = Bounds::around(whole.points())?.extent();
    let near = |point: &&Vec3| point.distance(place) < SURROUNDING_SHARE * extent;
    let mut part = Silhouette::default();
    part.add_points(&positions.iter().filter(near).copied().collect::<Vec<_>>());
    let points = part.widened(1.0);
    let mesh = player.asset().rig.mesh().triangles();
    let corners = mesh
        .iter()
        .map(|corners| corners.map(|corner| positions[corner as usize]));
    let visible: Vec<[Vec3; 3]> = corners.collect();
    // What has a corner there, whatever vertices stand for it.
    let around = visible.iter().enumerate();
    let around = around.filter(|(_, corners)| corners.contains(&place));
    let wanted: Vec<u32> = around.map(|(index, _)| index as u32).collect();
    let aspect = settings.aspect();
    let view = best_view(&visible, visible.len(), &wanted, &points, aspect, None);
    let framing = Framing {
        camera: Camera::framing(points.iter().copied(), view, aspect),
        view,
        ground: None,
        is_part: true,
    };
    let (x, y) = framing.camera.project(place, aspect)?;
    let colors: Vec<Vec3> = shares
        .iter()
        .map(|&share| ASIDE.lerp(AFFECTED, share))
        .collect();
    let ring = Ring { x, y, width: 0.09 };
    Some((painted(player, look, &colors, &framing, settings), ring))
}

/// What is shown around a vertex, as a share of the extent.
const SURROUNDING_SHARE: f32 = 0.12;

/// A ring around some places of a picture, if they are close together.
fn ring_around(places: &[(f64, f64)], aspect: f64) -> Option<Ring> {
    let range = |value: fn(&(f64, f64)) -> f64| {
        let low = places.iter().map(value).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let (left, right) = range(|place| place.0);
    let (top, bottom) = range(|place| place.1);
    let reach = (right - left).max((bottom - top) / aspect);
    (reach.is_finite() && reach < SMALL).then(|| Ring {
        x: (left + right) / 2.0,
        y: (top + bottom) / 2.0,
        width: reach * 1.6 + 0.06,
    })
}

/// The skin in some colours, what it carries pale.
fn painted(
    player: &Player<'_>,
    look: &Look,
    colors: &[Vec3],
    framing: &Framing,
    settings: &Settings,
) -> Image {
    let scene = look.scene_painted(player, framing.ground, colors, ASIDE);
    render(&scene, &framing.camera, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_behind_the_eye_hides_what_is_before_it() {
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let [a, b, c, d] = square.map(|[x, y]| Vec3::new(x, y, 0.0));
        let view = View {
            yaw_degrees: 0.0,
            pitch_degrees: 0.0,
        };
        let camera = Camera::framing([a, b, c, d], view, 1.0);
        let eye = camera.eye.as_vec3();
        assert!(eye.z > 1.0, "it looks from the front: {eye}");
        let target = [[a, b, c], [a, c, d]];
        let plain = seen(&target, &[true; 2], 1.0, &camera, 1.0);
        assert!(plain > 0.5 * (CELLS * CELLS) as f64, "{plain}");
        let inside = seen(&target, &[true; 2], -1.0, &camera, 1.0);
        assert!(inside < 0.2 * plain, "a body seen from inside: {inside}");
        let far = 40.0 * eye.z;
        let wall = [
            Vec3::new(-far, -far, 0.5 * eye.z),
            Vec3::new(far, -far, 0.5 * eye.z),
            Vec3::new(0.0, 3.0 * far, 2.0 * eye.z),
        ];
        let hidden = seen(
            &[target[0], target[1], wall],
            &[true, true, false],
            1.0,
            &camera,
            1.0,
        );
        assert_eq!(hidden, 0.0);
    }
}
