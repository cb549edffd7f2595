//! The pictures of the report: which side to look from, and the colours of stretch.

use crate::comparison::{Comparison, middle, telling};
use crate::regions::TitledRegion;
use glam::Vec3;
use supple::metrics::JointMotion;
use supple::{Bounds, Player, Pose};
use supple_render::{
    Background, Camera, Image, Lamps, Look, Settings, Silhouette, View, ViewSearch, render,
    stretch_color,
};

/// The size of a close-up over that of the region.
const SURROUNDINGS: f32 = 1.6;

/// The colours of skin without and with a difference between methods.
const ASIDE: Vec3 = Vec3::new(0.50, 0.52, 0.55);
const AFFECTED: Vec3 = Vec3::new(0.80, 0.16, 0.02);

/// Shares of the largest difference at which skin begins to be coloured, is framed, and is coloured
/// fully.
const FAINT: f32 = 0.08;
const FRAMED: f32 = 0.2;
const STRONG: f32 = 0.4;

/// Marks smaller than this share of a picture need a ring to be found.
const SMALL: f64 = 0.18;

/// The settings of the report's pictures.
pub(crate) fn settings((width, height): (usize, usize)) -> Settings {
    // Bright enough on a white page, and no glare on a dark one.
    let flat = Vec3::new(0.50, 0.53, 0.57);
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

/// The skin in one pose by all methods, and the props.
pub(crate) struct Posed {
    pub positions: Vec<Result<Vec<Vec3>, String>>,
    /// The triangles of the props, which may hide the skin.
    props: Vec<[Vec3; 3]>,
}

impl Posed {
    pub fn new(comparison: &Comparison<'_>, pose: &Pose) -> Posed {
        let positions =
            |method| comparison.pose(method, pose, |player| player.positions().to_vec());
        let carried = |player: &Player<'_>| -> Vec<[Vec3; 3]> {
            let triangles = player.props().flat_map(|posed| {
                let corner = |corner: u32| posed.positions[corner as usize];
                let triangles = posed.prop.mesh.triangles().iter();
                triangles.map(move |corners| corners.map(corner))
            });
            triangles.collect()
        };
        let props = (0..comparison.method_count())
            .find_map(|method| comparison.pose(method, pose, carried).ok());
        Posed {
            positions: supple::exec::map(comparison.method_count(), positions),
            props: props.unwrap_or_default(),
        }
    }

    /// The triangles of the skin at the median over methods, then those of the props.
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

    /// The median of the skin over methods; empty if all fail in the pose.
    pub fn middle(&self) -> Vec<Vec3> {
        let known: Vec<&Vec<Vec3>> = self.known().collect();
        let count = known.first().map_or(0, |points| points.len());
        (0..count)
            .map(|vertex| middle(known.iter().map(|points| points[vertex])))
            .collect()
    }

    /// The distance between methods at every vertex.
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

/// The camera of one row of pictures.
pub(crate) struct Framing {
    pub camera: Camera,
    pub view: View,
    pub ground: Option<f32>,
    /// True if only a part of the character is shown.
    pub is_part: bool,
}

/// Frames the difference between methods, or the whole where that is nearly everything.
pub(crate) fn frame_difference(
    comparison: &Comparison<'_>,
    posed: &Posed,
    affected: &[f32],
    aspect: f64,
    motion: Option<&JointMotion>,
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
    let triangles = comparison.asset.rig.mesh().triangles();
    let wanted: Vec<usize> = triangles
        .iter()
        .enumerate()
        .filter(|(_, corners)| {
            corners.iter().any(|&corner| {
                affected
                    .get(corner as usize)
                    .is_some_and(|&affected| affected > FRAMED)
            })
        })
        .map(|(index, _)| index)
        .collect();
    let visible = posed.triangles(&middle, triangles);
    let search = ViewSearch {
        triangles: &visible,
        surface: triangles.len(),
        wanted: &wanted,
        framed: &points,
        aspect,
    };
    let view = search.best(|view| motion.map_or(1.0, |motion| side_on(view, motion)));
    Some(Framing {
        camera: Camera::framing(points.iter().copied(), view, aspect),
        view,
        ground: whole.ground(),
        is_part,
    })
}

/// Frames a joint region in all methods.
pub(crate) fn frame_region(
    comparison: &Comparison<'_>,
    posed: &Posed,
    region: &TitledRegion,
    aspect: f64,
    motion: &JointMotion,
) -> Option<Framing> {
    let middle = posed.middle();
    let triangles = comparison.asset.rig.mesh().triangles();
    // Whole triangles, since on a coarse character the blended vertices alone are next to nothing.
    let corners = region.skin.triangles.iter();
    let corners = corners.flat_map(|&triangle| triangles[triangle]);
    let members: Vec<Vec3> = corners
        .filter_map(|corner| middle.get(corner as usize).copied())
        .collect();
    let mut part = Silhouette::default();
    part.add_points(&members);
    part.points().next()?;
    let points = part.widened(SURROUNDINGS);
    let visible = posed.triangles(&middle, triangles);
    let search = ViewSearch {
        triangles: &visible,
        surface: triangles.len(),
        wanted: &region.skin.triangles,
        framed: &points,
        aspect,
    };
    let view = search.best(|view| side_on(view, motion));
    Some(Framing {
        camera: Camera::framing(points.iter().copied(), view, aspect),
        view,
        ground: None,
        is_part: true,
    })
}

/// How far the body is in each pose from where it is in the first: what a camera follows.
pub(crate) fn travel(comparison: &Comparison<'_>, poses: &[Pose], method: usize) -> Vec<Vec3> {
    let middle = |player: &Player<'_>| {
        let positions = player.positions();
        positions.iter().sum::<Vec3>() / positions.len().max(1) as f32
    };
    let middle_in = |pose| comparison.pose(method, pose, middle).unwrap_or_default();
    let middles: Vec<Vec3> = poses.iter().map(middle_in).collect();
    let first = middles.first().copied().unwrap_or_default();
    middles.into_iter().map(|middle| middle - first).collect()
}

/// The camera that keeps a joint region in view during some poses, from the side of a framing, if
/// it follows the travel of the body.
pub(crate) fn camera_over(
    comparison: &Comparison<'_>,
    poses: &[Pose],
    travel: &[Vec3],
    method: usize,
    region: &TitledRegion,
    framing: &Framing,
    aspect: f64,
) -> Camera {
    let triangles = comparison.asset.rig.mesh().triangles();
    let corners = region.skin.triangles.iter();
    let corners: Vec<u32> = corners.flat_map(|&triangle| triangles[triangle]).collect();
    let mut part = Silhouette::default();
    for (pose, travel) in poses.iter().zip(travel) {
        let places = comparison.pose(method, pose, |player| -> Vec<Vec3> {
            let positions = player.positions();
            let position = |&corner: &u32| Some(*positions.get(corner as usize)? - *travel);
            corners.iter().filter_map(position).collect()
        });
        part.add_points(&places.unwrap_or_default());
    }
    match part.points().next() {
        Some(_) => {
            let points = part.widened(SURROUNDINGS);
            Camera::framing(points.iter().copied(), framing.view, aspect)
        }
        None => framing.camera,
    }
}

/// Prefers looking along the axis of a bend, and across a twisted bone.
fn side_on(view: View, motion: &JointMotion) -> f64 {
    let back = view.towards_viewer();
    let bend = motion.bend.min(1.0) * back.dot(motion.bend_axis).abs();
    let twist = motion.twist.min(1.0) * (1.0 - back.dot(motion.bone).powi(2));
    0.55 + bend + 0.6 * twist
}

/// A picture in the character's own colours.
pub(crate) fn shaded(
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
pub(crate) fn stretched(
    comparison: &Comparison<'_>,
    player: &Player<'_>,
    look: &Look,
    framing: &Framing,
    settings: &Settings,
) -> Image {
    let colors: Vec<Vec3> = comparison
        .vertex_stretch(player)
        .into_iter()
        .map(stretch_color)
        .collect();
    painted(player, look, &colors, framing, settings)
}

/// A ring around a part of a picture, in shares of its width and height; the width is the ring's
/// own.
pub(crate) struct Ring {
    pub x: f64,
    pub y: f64,
    pub width: f64,
}

/// The whole character with what is affected in colour, and a ring around that where it is small.
pub(crate) fn whereabouts(
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
pub(crate) fn close_up_of_vertex(
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
    let wanted: Vec<usize> = around.map(|(index, _)| index).collect();
    let aspect = settings.aspect();
    let search = ViewSearch {
        triangles: &visible,
        surface: visible.len(),
        wanted: &wanted,
        framed: &points,
        aspect,
    };
    let view = search.best(|_| 1.0);
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

/// The radius shown around a vertex, as a share of the extent.
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

/// The skin in some colours, and pale props.
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
