//! Scenes of posed characters: colours, overlays, ground; and the outline to frame.

use crate::bones::skeleton_bones;
use crate::centers::{MarkedCenters, stick_figure};
use crate::color::weight_colors;
use crate::scene::CLAY;
use crate::{Bone, DrawnSurface, Paint, Scene, Substance, Wireframe};
use glam::Vec3;
use std::sync::Arc;
use supple::centers::Centers;
use supple::mesh::Part;
use supple::normals::NormalFit;
use supple::{Asset, Bounds, Player};

/// Drawings over a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The bones, seen through the surface.
    pub skeleton: bool,
    /// Each vertex in the colours of its joints.
    pub weights: bool,
    /// The edges of the triangles.
    pub wireframe: bool,
}

/// The look of an asset, found once for all frames.
#[derive(Clone, Debug)]
pub struct Look {
    overlays: Overlays,
    colors: Colors,
    /// False where the file's normals do not fit its triangles, and facets look better.
    smooth: bool,
    centers: Option<MarkedCenters>,
}

fn color_of(part: &Part) -> Vec3 {
    part.color.unwrap_or(CLAY)
}

/// Normals are ignored if more than one in this many triangles has normals that do not fit it.
const ASKEW_ONE_IN: usize = 10;

#[derive(Clone, Debug)]
enum Colors {
    One(Vec3),
    PerVertex(Vec<Vec3>),
}

impl Look {
    /// The colours of the parts, or of the weights if an overlay shows them.
    pub fn new(asset: &Asset, overlays: Overlays) -> Look {
        let first = asset.parts.first().map(color_of);
        let colors = if overlays.weights {
            Colors::PerVertex(weight_colors(asset.rig.weights()))
        } else if let Some(color) =
            first.filter(|&first| asset.parts.iter().all(|part| color_of(part) == first))
        {
            Colors::One(color)
        } else {
            let parts = asset.parts.iter();
            let colors = parts.flat_map(|part| part.vertices.clone().map(|_| color_of(part)));
            // A part may claim more vertices than there are.
            Colors::PerVertex(colors.take(asset.rig.mesh().vertex_count()).collect())
        };
        let mesh = asset.rig.mesh();
        let fit = NormalFit::of(mesh);
        Look {
            overlays,
            colors,
            smooth: fit.askew * ASKEW_ONE_IN <= mesh.triangles().len(),
            centers: None,
        }
    }

    /// Adds centers of rotation, seen through a body of glass, and lines for bones unless an
    /// overlay draws the skeleton.
    ///
    /// `asset` must be the one that the look was made for.
    pub fn with_centers(self, asset: &Asset, centers: Arc<Centers>) -> Look {
        Look {
            centers: MarkedCenters::of(asset, centers),
            ..self
        }
    }

    /// The centers of rotation that the scene shows.
    pub fn centers(&self) -> Option<&Centers> {
        Some(&self.centers.as_ref()?.centers)
    }

    /// The scene of the frame that `player` is in; `ground` is the height of a ground, if any.
    pub fn scene<'a>(&'a self, player: &'a Player<'_>, ground: Option<f32>) -> Scene<'a> {
        let paint = match &self.colors {
            Colors::One(color) => Paint::Uniform(*color),
            Colors::PerVertex(colors) => Paint::PerVertex(colors),
        };
        self.staged(player, ground, paint, |color| color)
    }

    /// The scene in other colours: one for every vertex of the skin, and one for all props.
    pub fn scene_painted<'a>(
        &'a self,
        player: &'a Player<'_>,
        ground: Option<f32>,
        skin: &'a [Vec3],
        props: Vec3,
    ) -> Scene<'a> {
        self.staged(player, ground, Paint::PerVertex(skin), |_| props)
    }

    fn staged<'a>(
        &'a self,
        player: &'a Player<'_>,
        ground: Option<f32>,
        paint: Paint<'a>,
        prop_color: impl Fn(Vec3) -> Vec3,
    ) -> Scene<'a> {
        let character = DrawnSurface {
            positions: player.positions(),
            normals: if self.smooth { player.normals() } else { &[] },
            triangles: player.asset().rig.mesh().triangles(),
            paint,
        };
        let props = player.props().map(|posed| DrawnSurface {
            positions: posed.positions,
            normals: posed.normals,
            triangles: posed.prop.mesh.triangles(),
            paint: Paint::Uniform(prop_color(posed.prop.color.unwrap_or(CLAY))),
        });
        let skeleton = player.asset().rig.skeleton();
        let bones: Vec<Bone> = match self.overlays.skeleton {
            true => skeleton_bones(skeleton, player.world_from_node()),
            false => Vec::new(),
        };
        let marks = match &self.centers {
            None => Vec::new(),
            Some(centers) if self.overlays.skeleton => vec![centers.dots(player)],
            Some(centers) => {
                let [lines, joints] = stick_figure(player);
                vec![lines, centers.dots(player), joints]
            }
        };
        Scene {
            surfaces: std::iter::once(character).chain(props).collect(),
            bones,
            marks,
            substance: match self.centers {
                Some(_) => Substance::Glass,
                None => Substance::Clay,
            },
            wireframe: match self.overlays.wireframe {
                true => Wireframe::Shown,
                false => Wireframe::Hidden,
            },
            ground,
        }
    }
}

/// The outermost points of what a picture, or all frames of a clip, will show.
///
/// They frame a camera tightly from any side, and are far fewer than all points of all frames.
#[derive(Clone, Debug)]
pub struct Silhouette {
    /// The farthest point found along each direction.
    farthest: Vec<(Vec3, Option<Vec3>)>,
}

/// Steps along each edge of the cube that directions are taken from.
const STEPS_PER_EDGE: i32 = 4;

/// If a part is larger than this share of the whole, the whole is shown.
const CLOSE_UP: f32 = 0.6;

impl Default for Silhouette {
    fn default() -> Silhouette {
        // All points of a cubic lattice that lie on the cube's surface.
        let half = STEPS_PER_EDGE;
        let side = || (-half..=half).step_by(2);
        let lattice = side().flat_map(|x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
        let surface = lattice.filter(|point| point.iter().any(|x| x.abs() == half));
        let direction = |point: [i32; 3]| Vec3::from_array(point.map(|x| x as f32)).normalize();
        Silhouette {
            farthest: surface.map(|point| (direction(point), None)).collect(),
        }
    }
}

impl Silhouette {
    /// Adds the frame that `player` is in.
    pub fn add(&mut self, player: &Player<'_>) {
        let props = player.props().flat_map(|posed| posed.positions);
        let points: Vec<Vec3> = player.positions().iter().chain(props).copied().collect();
        self.add_points(&points);
    }

    /// Adds points.
    pub fn add_points(&mut self, points: &[Vec3]) {
        let farthest = supple::exec::map(self.farthest.len(), |index| {
            let (direction, before) = self.farthest[index];
            let mut farthest: Option<(f32, Vec3)> = None;
            for &point in before.iter().chain(points) {
                let distance = point.dot(direction);
                if farthest.is_none_or(|(most, _)| distance > most) {
                    farthest = Some((distance, point));
                }
            }
            (direction, farthest.map(|(_, point)| point))
        });
        self.farthest = farthest;
    }

    /// The outermost points.
    pub fn points(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.farthest.iter().filter_map(|(_, point)| *point)
    }

    /// The outermost points, moved away from their center by a factor to show some surroundings.
    pub fn widened(&self, factor: f32) -> Vec<Vec3> {
        let center = Bounds::around(self.points()).map_or(Vec3::ZERO, |bounds| bounds.center());
        self.points()
            .map(|point| center + (point - center) * factor)
            .collect()
    }

    /// The widened points of a part; `None` if it is so large that a close-up shows nearly the
    /// whole.
    pub fn close_up(&self, whole: &Silhouette, factor: f32) -> Option<Vec<Vec3>> {
        let part = Bounds::around(self.points())?;
        let all = Bounds::around(whole.points())?;
        (part.extent() < CLOSE_UP * all.extent()).then(|| self.widened(factor))
    }

    /// The lowest height, for a ground.
    pub fn ground(&self) -> Option<f32> {
        self.points().map(|point| point.y).reduce(f32::min)
    }
}
