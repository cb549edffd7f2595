//! Normals: on tubes whose weights are smooth functions that are known, against the true normals of
//! the exact deformed surface; and over hard edges and seams.

use crate::common::{Prepared, palette};
use crate::compare::deform;
use crate::plain::{Formula, Posed};
use crate::scenes::{Scene, chain, surface};
use crate::table::{formula, methods_of_points};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;
use supple::deform::{BakedData, MultiWeights};
use supple::{Affine, Method, Normals, Palette, Rig};

const AROUND: usize = 96;
const ALONG: usize = 160;
const RADIUS: f64 = 0.3;

/// A point of the tube along Y from −1 to 1, and its normal.
fn tube_point(angle: f64, y: f64) -> (DVec3, DVec3) {
    let normal = DVec3::new(angle.cos(), 0.0, angle.sin());
    (normal * RADIUS + DVec3::Y * y, normal)
}

/// Two joints that hand over smoothly around the middle, a little unevenly around the tube.
fn tube_weights(point: DVec3) -> Vec<(usize, f64)> {
    let second = 1.0 / (1.0 + (-6.0 * point.y - 1.0 * point.x).exp());
    // Heaviest first.
    if second > 0.5 {
        vec![(1, second), (0, 1.0 - second)]
    } else {
        vec![(0, 1.0 - second), (1, second)]
    }
}

fn parameters(vertex: usize) -> (f64, f64) {
    let (ring, column) = (vertex / AROUND, vertex % AROUND);
    let y = -1.0 + 2.0 * ring as f64 / ALONG as f64;
    (TAU * column as f64 / AROUND as f64, y)
}

fn tube() -> Rig {
    let vertices = 0..AROUND * (ALONG + 1);
    let (positions, normals): (Vec<DVec3>, Vec<DVec3>) = vertices
        .map(|vertex| {
            let (angle, y) = parameters(vertex);
            tube_point(angle, y)
        })
        .unzip();
    let weights: Vec<_> = positions
        .iter()
        .map(|&position| tube_weights(position))
        .collect();
    let index = |ring: usize, column: usize| (ring * AROUND + column % AROUND) as u32;
    let triangles = (0..ALONG * AROUND)
        .flat_map(|quad| {
            let (ring, column) = (quad / AROUND, quad % AROUND);
            let [a, b] = [index(ring, column), index(ring, column + 1)];
            let [c, d] = [index(ring + 1, column), index(ring + 1, column + 1)];
            [[a, c, b], [b, c, d]]
        })
        .collect();
    surface(tube_skeleton(), &positions, &normals, &weights, triangles)
}

/// A joint at the lower end and one in the middle.
fn tube_skeleton() -> supple::Skeleton {
    let chain = chain(2, DVec3::Y);
    let down = DAffine3::from_translation(DVec3::Y);
    let joints = chain
        .joints()
        .iter()
        .map(|joint| (joint.node, joint.joint_from_bind * down));
    supple::Skeleton::new(chain.nodes().to_vec(), joints.collect()).unwrap()
}

/// The normal of the exact deformed surface, from central differences of the exact map, on the side
/// that the frame says.
fn true_normal(posed: &Posed, formula: Formula, angle: f64, y: f64) -> DVec3 {
    let at = |angle: f64, y: f64| {
        let (point, _) = tube_point(angle, y);
        let frame = formula(posed, point, &tube_weights(point));
        frame.map.transform_point3(point)
    };
    const STEP: f64 = 1e-4;
    let around = at(angle + STEP, y) - at(angle - STEP, y);
    let along = at(angle, y + STEP) - at(angle, y - STEP);
    along.cross(around).normalize()
}

/// Poses of the upper joint about the middle: shifted, bent, twisted, stretched, and all at once.
fn poses() -> Vec<(&'static str, DAffine3)> {
    let stretch = DAffine3::from_mat3(DMat3::from_cols_array(&[
        1.3, 0.1, 0.0, 0.1, 0.9, 0.2, 0.0, 0.2, 1.1,
    ]));
    let bend = DAffine3::from_rotation_z(1.0);
    let twist = DAffine3::from_rotation_y(1.4);
    let shift = DAffine3::from_translation(DVec3::new(0.4, 0.1, -0.2));
    vec![
        ("shift", shift),
        ("bend", bend),
        ("twist", twist),
        ("stretch", stretch),
        (
            "all",
            shift * DAffine3::from_rotation_z(0.5) * twist * stretch,
        ),
    ]
}

fn scene(upper: DAffine3) -> Scene {
    let lower = DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.3);
    Scene {
        rig: tube(),
        palette: palette(&[lower, lower * upper]),
    }
}

/// Near where a surface has no one normal: a rigid one is torn where the heavier joint changes;
/// along a spline, twist bends in the middle of bones, and curvature jumps at joints.
fn creased(method: &Method, y: f64) -> bool {
    let near = |place: f64| (y - place).abs() < 0.06;
    match method.name() {
        "rigid" => near(0.0),
        "spline" => near(-0.5) || near(0.0) || near(0.5),
        _ => false,
    }
}

/// The tube at rest, of which formulas remember what they had to look for.
fn at_rest() -> Posed {
    Posed::new(&tube(), &Palette::identity(2))
}

/// The largest angle to the true normals in degrees, away from the ends of the tube.
fn worst_angle(scene: &Scene, rest: &Posed, method: &Method, normals: Normals) -> f64 {
    let found = deform(scene, method, normals).normals;
    let posed = rest.again(&scene.rig, &scene.palette);
    let formula = formula(method);
    let mut worst: f64 = 0.0;
    // Every few vertices: the formulas are slow.
    for vertex in (3 * AROUND..(ALONG - 2) * AROUND).step_by(97) {
        let (angle, y) = parameters(vertex);
        if creased(method, y) {
            continue;
        }
        let expected = true_normal(&posed, formula, angle, y);
        let between = found[vertex].as_dvec3().angle_between(expected);
        worst = worst.max(between.to_degrees());
    }
    worst
}

#[test]
fn gradient_normals_are_those_of_the_exact_surface() {
    let rest = at_rest();
    for method in methods_of_points() {
        for (name, upper) in poses() {
            let angle = worst_angle(&scene(upper), &rest, method, Normals::Gradient);
            assert!(angle < 1.0, "{method}, {name}: {angle}°");
        }
    }
}

/// A kilometre away, where `f32` counts in sixteenths of a millimetre.
#[test]
fn gradient_normals_do_not_care_how_far_away_the_character_stands() {
    let scene = scene(poses()[4].1);
    let away = DAffine3::from_translation(DVec3::new(1000.0, -300.0, 500.0));
    let far = Scene {
        rig: scene.rig.clone(),
        palette: Palette {
            posed_from_bind: scene
                .palette
                .posed_from_bind
                .iter()
                .map(|map| Affine::from(away * DAffine3::from(*map)))
                .collect(),
        },
    };
    for method in Method::ALL {
        // Of multi-linear methods nobody knows beforehand that they follow, and logarithms do not.
        if matches!(
            method.name(),
            "log-matrix" | "animation-space" | "multi-weight"
        ) {
            continue;
        }
        let near = deform(&scene, method, Normals::Gradient);
        let found = deform(&far, method, Normals::Gradient);
        for (near, far) in near.normals.iter().zip(&found.normals) {
            let angle = near.angle_between(*far).to_degrees();
            assert!(angle < 0.2, "{method}: {angle}°");
        }
        for (near, far) in near.positions.iter().zip(&found.positions) {
            let expected = away.transform_point3(near.as_dvec3());
            assert!(far.as_dvec3().distance(expected) < 5e-4, "{method}");
        }
    }
}

/// Learned numbers may vary over the surface as they like: sums need not stay the same.
#[test]
fn gradient_normals_follow_learned_weights() {
    let scene = scene(poses()[4].1);
    let mesh = scene.rig.mesh();
    let (mut four, mut twelve) = (MultiWeights::<4>::default(), MultiWeights::<12>::default());
    for vertex in 0..mesh.vertex_count() {
        let p = mesh.positions()[vertex];
        let row = |of_joint: fn(f32, Vec3) -> Vec<f32>| -> Vec<(u16, Vec<f32>)> {
            let influences = scene.rig.weights().of(vertex);
            influences
                .map(|influence| (influence.joint as u16, of_joint(influence.weight, p)))
                .collect()
        };
        four.push(
            row(|w, p| vec![w * p.x + 0.2 * p.y * p.y, w * p.y, w * p.z - 0.1 * p.y, w])
                .into_iter()
                .map(|(joint, values)| (joint, values.try_into().unwrap())),
        );
        twelve.push(
            row(|w, p| {
                (0..12)
                    .map(|entry| w + 0.1 * p.y * (entry % 5) as f32)
                    .collect()
            })
            .into_iter()
            .map(|(joint, values)| (joint, values.try_into().unwrap())),
        );
    }
    let baked = BakedData {
        animation_space: Some(Arc::new(four)),
        multi_weight: Some(Arc::new(twelve)),
        ..BakedData::default()
    };
    for method in [Method::AnimationSpace, Method::MultiWeight] {
        let method = Prepared {
            method,
            baked: baked.clone(),
        };
        let gradient = deform(&scene, &method, Normals::Gradient).normals;
        let recomputed = deform(&scene, &method, Normals::Recomputed).normals;
        // Away from the ends, where triangles are on one side only.
        for vertex in 3 * AROUND..(ALONG - 2) * AROUND {
            let angle = gradient[vertex]
                .angle_between(recomputed[vertex])
                .to_degrees();
            assert!(angle < 1.0, "{method}, vertex {vertex}: {angle}°");
        }
    }
}

#[test]
fn recomputed_normals_are_those_of_the_exact_surface() {
    let rest = at_rest();
    for method in methods_of_points() {
        for (name, upper) in poses() {
            let angle = worst_angle(&scene(upper), &rest, method, Normals::Recomputed);
            assert!(angle < 1.0, "{method}, {name}: {angle}°");
        }
    }
}

/// A shifted joint turns no frame, so that transported normals stay as they were while the surface
/// is sheared. (Rigid surfaces are not sheared; along bones that end in the shifted joint, and
/// along curves, frames do turn.)
#[test]
fn transported_normals_miss_a_shift() {
    let turned = ["rigid", "stretch-twist", "spline"];
    let rest = at_rest();
    for method in methods_of_points() {
        let angle = worst_angle(&scene(poses()[0].1), &rest, method, Normals::Transported);
        let missed = angle > 20.0;
        assert!(
            missed != turned.contains(&method.name()),
            "{method}: {angle}°"
        );
    }
}

/// A box whose faces do not share vertices, each face cut into a grid of its own, on two joints.
fn split_box() -> Rig {
    const CELLS: usize = 4;
    let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    let faces = [
        [DVec3::X, DVec3::Y, DVec3::Z],
        [DVec3::Y, DVec3::Z, DVec3::X],
        [DVec3::Z, DVec3::X, DVec3::Y],
    ];
    for [normal, right, up] in faces
        .into_iter()
        .flat_map(|[n, r, u]| [[n, r, u], [-n, u, r]])
    {
        // Two halves of each face, with a seam between them.
        for half in [0, 1] {
            let first = positions.len() as u32;
            for row in 0..=CELLS {
                for column in 0..=CELLS {
                    let across = (half as f64 + column as f64 / CELLS as f64) - 1.0;
                    let upward = 2.0 * row as f64 / CELLS as f64 - 1.0;
                    positions.push(normal + right * across + up * upward);
                    normals.push(normal);
                }
            }
            let width = CELLS as u32 + 1;
            for row in 0..CELLS as u32 {
                for column in 0..CELLS as u32 {
                    let a = first + row * width + column;
                    triangles.push([a, a + 1, a + width]);
                    triangles.push([a + 1, a + width + 1, a + width]);
                }
            }
        }
    }
    let weights: Vec<_> = positions
        .iter()
        .map(|&position| tube_weights(position))
        .collect();
    surface(tube_skeleton(), &positions, &normals, &weights, triangles)
}

/// Area- and angle-weighted normals, over all corners at the same place with the same rest normal.
fn plain_normals(rig: &Rig, posed: &[DVec3]) -> Vec<DVec3> {
    let mesh = rig.mesh();
    let one = |a: usize, b: usize| {
        mesh.positions()[a] == mesh.positions()[b]
            && mesh.normals()[a].dot(mesh.normals()[b]) > 0.999
    };
    let normal = |vertex: usize| {
        let mut sum = DVec3::ZERO;
        for triangle in mesh.triangles() {
            for k in 0..3 {
                let [a, b, c] = [k, (k + 1) % 3, (k + 2) % 3].map(|k| triangle[k] as usize);
                if one(a, vertex) {
                    let (right, left) = (posed[b] - posed[a], posed[c] - posed[a]);
                    sum += right.cross(left) * right.angle_between(left);
                }
            }
        }
        sum.normalize()
    };
    (0..mesh.vertex_count()).map(normal).collect()
}

#[test]
fn recomputed_normals_keep_edges_hard_and_seams_closed() {
    let rig = split_box();
    for (name, upper) in poses() {
        let scene = Scene {
            rig: rig.clone(),
            palette: palette(&[DAffine3::IDENTITY, upper]),
        };
        for method in Method::ALL {
            let found = deform(&scene, method, Normals::Recomputed);
            let posed: Vec<DVec3> = found.positions.iter().map(|p| p.as_dvec3()).collect();
            let expected = plain_normals(&rig, &posed);
            for (vertex, (found, expected)) in found.normals.iter().zip(&expected).enumerate() {
                let error = found.as_dvec3().distance(*expected);
                assert!(
                    error < 1e-5,
                    "{method}, {name}, vertex {vertex}: {found} for {expected}"
                );
            }
            let (positions, rest) = (rig.mesh().positions(), rig.mesh().normals());
            for a in 0..positions.len() {
                for b in (0..a).filter(|&b| positions[a] == positions[b]) {
                    let apart = found.normals[a].angle_between(found.normals[b]);
                    if rest[a] == rest[b] {
                        assert!(found.normals[a] == found.normals[b], "a seam opens");
                    } else {
                        assert!(
                            apart > 0.2,
                            "{method}, {name}: an edge is smoothed: {apart}"
                        );
                    }
                }
            }
        }
    }
}
