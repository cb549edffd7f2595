//! A body with its point handles, as in Fig. 5 of the paper on point handles: segments in colours,
//! balls for handles, lines for pseudo-edges.

use crate::color::joint_color;
use crate::{Camera, DrawnSurface, Marks, Paint, Scene};
use glam::Vec3;
use supple::Mesh;
use supple::point_handles::{HandleKind, PlacedHandles};

const EDGE: Vec3 = Vec3::new(0.02, 0.02, 0.025);
const BETWEEN: Vec3 = Vec3::new(0.9, 0.06, 0.03);
const END: Vec3 = Vec3::new(0.95, 0.75, 0.05);
const ALONG: Vec3 = Vec3::new(0.03, 0.25, 0.85);
const GIVEN: Vec3 = Vec3::new(0.9, 0.9, 0.9);

/// The radius of a ball and half the width of a line, as shares of the picture's shorter side.
const BALL: f32 = 0.013;
const LINE: f32 = 0.003;

/// A surface whose triangles have a colour each, and handles in it.
#[derive(Clone, Debug)]
pub struct SegmentedBody {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    marks: Vec<Marks>,
}

impl SegmentedBody {
    /// A body of the `mesh` in which the `handles` were placed. Triangles without a segment and
    /// edges of handles that do not exist are not drawn.
    pub fn new(mesh: &Mesh, handles: &PlacedHandles) -> SegmentedBody {
        // Triangles of no segment have no area: nobody would see them, and they may be far from the
        // body.
        let triangles = mesh.triangles().iter().zip(&handles.segments.of_triangles);
        let triangles = triangles.filter_map(|(corners, segment)| Some((corners, (*segment)?)));
        let (corners, segments): (Vec<[u32; 3]>, Vec<usize>) = triangles.unzip();
        let vertices = corners.as_flattened().iter().map(|&corner| corner as usize);
        let first = (0..corners.len() as u32).map(|triangle| 3 * triangle);
        SegmentedBody {
            positions: vertices.clone().map(|at| mesh.positions()[at]).collect(),
            normals: vertices.map(|at| mesh.normals()[at]).collect(),
            colors: segments
                .iter()
                .flat_map(|&segment| [joint_color(segment); 3])
                .collect(),
            triangles: first.map(|at| [at, at + 1, at + 2]).collect(),
            marks: marks(handles),
        }
    }

    /// The scene; `ground` is the height of a ground, if any.
    pub fn scene(&self, ground: Option<f32>) -> Scene<'_> {
        let body = DrawnSurface {
            positions: &self.positions,
            normals: &self.normals,
            triangles: &self.triangles,
            paint: Paint::PerVertex(&self.colors),
        };
        Scene {
            surfaces: vec![body],
            marks: self.marks.clone(),
            ground,
            ..Scene::default()
        }
    }

    /// A camera that frames the body.
    pub fn camera(&self, view: crate::View, aspect: f64) -> Camera {
        Camera::framing(self.positions.iter().copied(), view, aspect)
    }
}

/// Lines for pseudo-edges, then balls for handles in the colour of their kind.
fn marks(handles: &PlacedHandles) -> Vec<Marks> {
    let place = |handle: usize| Some(handles.places.get(handle)?.as_vec3());
    let edges = handles.edges.iter();
    let lines = Marks {
        strokes: edges
            .filter_map(|&[from, to]| Some([place(from)?, place(to)?]))
            .collect(),
        radius: LINE,
        color: EDGE,
    };
    let kinds = [
        (HandleKind::Along, ALONG),
        (HandleKind::Between, BETWEEN),
        (HandleKind::End, END),
        (HandleKind::Given, GIVEN),
    ];
    let balls = kinds.into_iter().map(|(kind, color)| {
        let handles = handles.places.iter().zip(&handles.kinds);
        let of_kind = handles.filter(|&(_, of_handle)| *of_handle == kind);
        Marks::dots(of_kind.map(|(place, _)| place.as_vec3()), BALL, color)
    });
    std::iter::once(lines).chain(balls).collect()
}
