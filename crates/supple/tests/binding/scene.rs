//! Bodies to bind, and what every binding must be like.

use glam::{DVec3, Vec3};
use std::f32::consts::TAU;
use std::ops::Range;
use std::sync::LazyLock;
use supple::bind::{BindMethod, Bound, BoundedBiharmonicOptions, GeodesicOptions, Handle, bind};
use supple::characters::{self, Character};
use supple::{Mesh, Rig, Weights};

/// One of each method, with as few voxels as still tell one limb from the next: tests over many
/// bodies are to be quick.
pub fn methods() -> [BindMethod; 5] {
    methods_with(4000)
}

pub fn methods_with(voxels: usize) -> [BindMethod; 5] {
    BindMethod::all().map(|method| match method {
        BindMethod::Geodesic(options) => BindMethod::Geodesic(GeodesicOptions {
            voxels: Some(voxels),
            ..options
        }),
        BindMethod::BoundedBiharmonic(options) => {
            BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions {
                voxels: Some(voxels),
                ..options
            })
        }
        other => other,
    })
}

/// The usual body of these tests, and how each method binds it.
pub struct Figure {
    pub rig: Rig,
    pub body: Body,
    pub handles: Vec<Handle>,
    pub bound: Vec<Bound>,
}

pub static FIGURE: LazyLock<Figure> = LazyLock::new(|| {
    let rig = characters::build(Character::Figure, 4000).unwrap().rig;
    let joints: Vec<usize> = (0..rig.skeleton().joints().len()).collect();
    let handles = Handle::of_joints(rig.skeleton(), &joints);
    let bind = |method: &BindMethod| bound(rig.mesh(), &handles, method);
    Figure {
        body: Body::of(rig.mesh()),
        bound: methods().iter().map(bind).collect(),
        rig: rig.clone(),
        handles,
    }
});

impl Figure {
    pub fn joint(&self, name: &str) -> usize {
        let skeleton = self.rig.skeleton();
        let named = |joint: &usize| skeleton.joint_name(*joint) == name;
        (0..skeleton.joints().len()).find(named).unwrap()
    }

    /// Every method, and the weights of the figure as it should be.
    pub fn each_method(&self) -> impl Iterator<Item = (BindMethod, &Bound)> {
        methods().into_iter().zip(&self.bound)
    }
}

/// A surface to be put together.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Body {
    pub fn of(mesh: &Mesh) -> Body {
        Body {
            positions: mesh.positions().to_vec(),
            triangles: mesh.triangles().to_vec(),
        }
    }

    pub fn mesh(&self) -> Mesh {
        Mesh::new(self.positions.clone(), None, None, self.triangles.clone()).unwrap()
    }

    /// Adds another surface that shares no vertex, and tells its vertices.
    pub fn add(&mut self, other: &Body) -> Range<usize> {
        let first = self.positions.len();
        self.positions.extend_from_slice(&other.positions);
        let shifted = other.triangles.iter();
        let shifted = shifted.map(|corners| corners.map(|corner| corner + first as u32));
        self.triangles.extend(shifted);
        first..self.positions.len()
    }

    pub fn with(mut self, other: &Body) -> Body {
        self.add(other);
        self
    }

    pub fn mapped(&self, map: impl Fn(Vec3) -> Vec3) -> Body {
        Body {
            positions: self.positions.iter().copied().map(map).collect(),
            triangles: self.triangles.clone(),
        }
    }

    pub fn with_triangles(&self, triangles: impl IntoIterator<Item = [u32; 3]>) -> Body {
        Body {
            positions: self.positions.clone(),
            triangles: triangles.into_iter().collect(),
        }
    }

    /// Without the triangles that have a corner which does not fit. All vertices stay.
    pub fn where_all(&self, fits: impl Fn(Vec3) -> bool) -> Body {
        let within = |corners: &&[u32; 3]| {
            let mut corners = corners.iter();
            corners.all(|&corner| fits(self.positions[corner as usize]))
        };
        self.with_triangles(self.triangles.iter().filter(within).copied())
    }

    pub fn ball(center: Vec3, radius: f32, rings: usize, around: usize) -> Body {
        let profile = (0..=rings).map(|ring| {
            let angle = 0.5 * TAU * ring as f32 / rings as f32;
            (-angle.cos() * radius, angle.sin() * radius)
        });
        Body::turned(profile.collect(), around).mapped(|place| place + center)
    }

    /// Upright along `y`, from the origin.
    pub fn tube(length: f32, radius: f32, rings: usize, around: usize, closed: bool) -> Body {
        let ring = |ring: usize| (length * ring as f32 / rings as f32, radius);
        let mut profile: Vec<_> = (0..=rings).map(ring).collect();
        if closed {
            profile.insert(0, (0.0, 0.0));
            profile.push((length, 0.0));
        }
        Body::turned(profile, around)
    }

    /// A profile of (height, radius) turned about `y`. A radius of nothing is a single vertex.
    fn turned(profile: Vec<(f32, f32)>, around: usize) -> Body {
        let mut body = Body::default();
        let mut before: Vec<u32> = Vec::new();
        for (height, radius) in profile {
            let first = body.positions.len() as u32;
            let pole = radius < 1e-6;
            let count = if pole { 1 } else { around };
            let place = |step: usize| {
                let (sine, cosine) = (TAU * step as f32 / around as f32).sin_cos();
                Vec3::new(sine * radius, height, cosine * radius)
            };
            body.positions.extend((0..count).map(place));
            let ring: Vec<u32> = (0..around as u32)
                .map(|step| first + if pole { 0 } else { step })
                .collect();
            for (step, &low) in before.iter().enumerate() {
                let next = (step + 1) % around;
                let (low_next, high, high_next) = (before[next], ring[step], ring[next]);
                let corners = [[low, low_next, high_next], [low, high_next, high]];
                let real = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
                body.triangles.extend(corners.into_iter().filter(real));
            }
            before = ring;
        }
        body
    }

    /// A flat sheet in the plane of `x` and `y`, from the origin.
    pub fn sheet(width: f32, height: f32, columns: usize, rows: usize) -> Body {
        let mut body = Body::default();
        for row in 0..=rows {
            for column in 0..=columns {
                let x = width * column as f32 / columns as f32;
                let y = height * row as f32 / rows as f32;
                body.positions.push(Vec3::new(x, y, 0.0));
                if row < rows && column < columns {
                    let a = (row * (columns + 1) + column) as u32;
                    let b = a + columns as u32 + 1;
                    body.triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
                }
            }
        }
        body
    }

    pub fn cube(center: Vec3, width: f32) -> Body {
        let corner = |at: u32| Vec3::new((at & 1) as f32, (at >> 1 & 1) as f32, (at >> 2) as f32);
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        Body {
            positions: (0..8)
                .map(|at| center + (corner(at) - 0.5) * width)
                .collect(),
            triangles: quads
                .iter()
                .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
                .collect(),
        }
    }
}

/// A chain of bones through places: joint by joint, the last a place where the chain ends.
pub fn chain(first_joint: usize, places: &[DVec3]) -> Vec<Handle> {
    let bones = places.windows(2).enumerate();
    let handle = |(index, ends): (usize, &[DVec3])| Handle {
        joint: first_joint + index,
        bones: vec![supple::bind::Bone {
            head: ends[0],
            tail: ends[1],
            open_ended: false,
            last_of_chain: false,
        }],
        topmost: false,
    };
    bones.map(handle).collect()
}

/// Binds, and checks that every vertex is held completely.
#[track_caller]
pub fn bound(mesh: &Mesh, handles: &[Handle], method: &BindMethod) -> Bound {
    let joints = handles.iter().map(|handle| handle.joint + 1).max();
    let bound = bind(mesh, handles, joints.unwrap_or(0), method, &|_| {});
    let bound = bound.unwrap_or_else(|error| panic!("{}: {error}", method.name()));
    assert_complete(&bound.weights, mesh.vertex_count(), method.name());
    bound
}

#[track_caller]
pub fn assert_complete(weights: &Weights, vertices: usize, what: &str) {
    assert_eq!(weights.vertex_count(), vertices, "{what}");
    for vertex in 0..vertices {
        let row: Vec<f32> = weights.of(vertex).map(|held| held.weight).collect();
        let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
        let fine = row.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        assert!(
            fine && (sum - 1.0).abs() < 1e-5,
            "{what}, vertex {vertex}: {row:?}"
        );
    }
}

/// The share of a vertex's weight held by other joints than those of another vertex: zero for equal
/// weights, one for nothing in common.
pub fn apart(one: (&Weights, usize), other: (&Weights, usize)) -> f64 {
    let common: f64 = one
        .0
        .of(one.1)
        .flat_map(|a| {
            let same = other.0.of(other.1).filter(move |b| b.joint == a.joint);
            same.map(move |b| f64::from(a.weight.min(b.weight)))
        })
        .sum();
    (1.0 - common).max(0.0)
}

/// The differences between some vertices of two bindings, by [`apart`].
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    pub mean: f64,
    pub most: f64,
}

/// Compares the first vertices, which two bindings have in common.
pub fn difference(one: &Weights, other: &Weights, vertices: Range<usize>) -> Difference {
    let count = vertices.len() as f64;
    let each = vertices.map(|vertex| apart((one, vertex), (other, vertex)));
    let (sum, most) = each.fold((0.0, 0.0f64), |(sum, most), each| {
        (sum + each, most.max(each))
    });
    Difference {
        mean: sum / count,
        most,
    }
}

/// Fails where two bindings differ by more than is allowed, on average and at most.
#[track_caller]
pub fn assert_near(found: Difference, allowed: Difference, what: &str) {
    // For whoever wants to know how far the tolerances are from what is found: `--nocapture`.
    println!("{what}: mean {:.5}, most {:.5}", found.mean, found.most);
    assert!(
        found.mean <= allowed.mean && found.most <= allowed.most,
        "{what}: {found:?}, allowed {allowed:?}"
    );
}

/// The weight of a joint at a vertex.
pub fn held(weights: &Weights, vertex: usize, joint: usize) -> f64 {
    let by_joint = weights.of(vertex).filter(|held| held.joint == joint);
    by_joint.map(|held| f64::from(held.weight)).sum()
}
