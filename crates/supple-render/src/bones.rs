//! Skeletons, drawn over the surface: tapered bones with round joints and a thin outline.

use crate::camera::Camera;
use crate::fragment::cut;
use crate::raster::{BAND_ROWS, Projected, Samples};
use crate::scene::{Bone, DrawnSurface, Paint, Wireframe};
use crate::stage::{Lens, Stage};
use glam::{DAffine3, Vec3};
use supple::{Skeleton, exec};

/// Half the thickness of a bone relative to its length.
const SLENDERNESS: f32 = 0.085;

/// No bone is thicker than this, relative to the size of the skeleton.
const THICKEST: f32 = 0.022;

/// The position along a bone at which it is thickest.
const SHOULDER: f32 = 0.16;

/// The size of the ball at each end, relative to the bone's radius.
const BALL: f32 = 0.62;

/// Warm amber: far from clay grey, and from the dark outline.
const AMBER: Vec3 = Vec3::new(0.95, 0.46, 0.06);

const OUTLINE: Vec3 = Vec3::new(0.035, 0.03, 0.04);

/// The width of the outline around bones, in pixels.
const OUTLINE_WIDTH: f32 = 1.2;

/// The bones of a posed skeleton: from each joint's parent joint to the joint; joints without
/// children get a knob.
pub(crate) fn skeleton_bones(skeleton: &Skeleton, world_from_node: &[DAffine3]) -> Vec<Bone> {
    let joints = skeleton.joints();
    let place = |joint: usize| {
        world_from_node
            .get(joints[joint].node)
            .map(|world| world.translation)
    };
    let places: Vec<_> = (0..joints.len()).map(place).collect();
    let known = places.iter().flatten().map(|place| place.as_vec3());
    let extent = supple::Bounds::around(known).unwrap_or_default().extent();

    let mut child_counts = vec![0; joints.len()];
    for parent in joints.iter().filter_map(|joint| joint.parent) {
        child_counts[parent] += 1;
    }
    // A root whose only child branches (hips, with spine and legs) marks the character's place on
    // the ground: no bone.
    let only_marks_the_place = |root: usize, child: usize| {
        joints[root].parent.is_none() && child_counts[root] == 1 && child_counts[child] > 1
    };

    let mut bones = Vec::new();
    // A knob is as thick as the bone that ends in it.
    let mut thickness = vec![extent * THICKEST * 0.5; joints.len()];
    for (joint, place) in places.iter().enumerate() {
        let Some(parent) = joints[joint].parent else {
            continue;
        };
        let (Some(from), Some(to)) = (places[parent], *place) else {
            continue;
        };
        let radius = (from.distance(to) as f32 * SLENDERNESS).min(extent * THICKEST);
        if radius > extent * 1e-5 && !only_marks_the_place(parent, joint) {
            thickness[joint] = radius;
            bones.push(Bone {
                from: from.as_vec3(),
                to: to.as_vec3(),
                radius,
                color: AMBER,
            });
        }
    }
    for (joint, place) in places.iter().enumerate() {
        if let Some(place) = place.filter(|_| child_counts[joint] == 0) {
            bones.push(Bone {
                from: place.as_vec3(),
                to: place.as_vec3(),
                radius: thickness[joint],
                color: AMBER,
            });
        }
    }
    bones
}

/// Blends bones over a finished picture of linear colours.
pub(crate) fn draw_over(
    colors: &mut [Vec3],
    bones: &[Bone],
    camera: &Camera,
    lens: &Lens,
    per_axis: usize,
) {
    if bones.is_empty() {
        return;
    }
    let shape = BoneShape::of(bones);
    let surface = DrawnSurface {
        positions: &shape.positions,
        normals: &shape.normals,
        triangles: &shape.triangles,
        paint: Paint::PerVertex(&shape.colors),
    };
    let stage = Stage::new(&[surface], camera);
    let projected = Projected::new(&stage, lens);
    let light = lens.camera_from_stage.transpose() * Vec3::new(-0.4, 0.7, 0.6).normalize();
    let bands = exec::map(lens.height.div_ceil(BAND_ROWS), |band| {
        let samples = Samples::of_band(&stage, &projected, lens, band, per_axis);
        let mut drawn = vec![(Vec3::ZERO, 0.0f32); samples.rows * lens.width];
        for fragment in cut(&samples, &stage, &projected, lens, Wireframe::Hidden) {
            let lit = 0.45 + 0.6 * fragment.receiver.normal.dot(light).max(0.0);
            let (color, coverage) = &mut drawn[fragment.pixel];
            *color += (fragment.color * lit).min(Vec3::ONE) * fragment.coverage;
            *coverage += fragment.coverage;
        }
        drawn
    });
    let drawn = bands.concat();

    let rows = exec::map(lens.height, |row| {
        blended_row(colors, &drawn, row, lens.width)
    });
    for (row, (first, blended)) in rows.into_iter().enumerate() {
        let start = row * lens.width + first;
        colors[start..start + blended.len()].copy_from_slice(&blended);
    }
}

/// A row of a picture under bones and their outline: the columns that these reach, with the first.
///
/// `drawn` are the colours of bones, times their coverage, and their coverage.
fn blended_row(
    colors: &[Vec3],
    drawn: &[(Vec3, f32)],
    row: usize,
    width: usize,
) -> (usize, Vec<Vec3>) {
    const REACH: usize = OUTLINE_WIDTH.ceil() as usize;
    let height = drawn.len() / width;
    let rows = row.saturating_sub(REACH)..(row + REACH + 1).min(height);
    let is_covered = |column: &usize| rows.clone().any(|y| drawn[y * width + column].1 > 0.0);
    let Some(first) = (0..width).find(is_covered) else {
        return (0, Vec::new());
    };
    let last = (0..width).rev().find(is_covered).unwrap_or(first);
    let first = first.saturating_sub(REACH);
    let reached = first..(last + REACH + 1).min(width);
    let blended = reached.map(|column| {
        let columns = column.saturating_sub(REACH)..(column + REACH + 1).min(width);
        let around = rows
            .clone()
            .flat_map(|y| columns.clone().map(move |x| (x, y)));
        let outline = around.fold(0.0f32, |outline, (x, y)| {
            let (dx, dy) = (x.abs_diff(column), y.abs_diff(row));
            let distance = ((dx * dx + dy * dy) as f32).sqrt();
            let strength = (OUTLINE_WIDTH + 0.5 - distance).clamp(0.0, 1.0);
            outline.max(drawn[y * width + x].1 * strength)
        });
        let pixel = row * width + column;
        let (bone, coverage) = drawn[pixel];
        colors[pixel].lerp(OUTLINE, outline * 0.85) * (1.0 - coverage) + bone
    });
    (first, blended.collect())
}

/// Triangles of all bones together.
struct BoneShape {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl BoneShape {
    fn of(bones: &[Bone]) -> BoneShape {
        let mut shape = BoneShape {
            positions: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
            triangles: Vec::new(),
        };
        for bone in bones {
            let along = bone.to - bone.from;
            match along.try_normalize() {
                Some(direction) => {
                    shape.add_spindle(bone, direction);
                    shape.add_ball(bone.from, bone.radius * BALL, bone.color);
                    shape.add_ball(bone.to, bone.radius * BALL, bone.color);
                }
                None => shape.add_ball(bone.from, bone.radius * 0.9, bone.color),
            }
        }
        shape
    }

    /// Two pyramids on a square.
    fn add_spindle(&mut self, bone: &Bone, direction: Vec3) {
        let (side, other) = direction.any_orthonormal_pair();
        let middle = bone.from.lerp(bone.to, SHOULDER);
        let ring = [side, other, -side, -other].map(|out| middle + out * bone.radius);
        for i in 0..4 {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            self.add_facet([bone.from, b, a], bone.color);
            self.add_facet([bone.to, a, b], bone.color);
        }
    }

    fn add_facet(&mut self, corners: [Vec3; 3], color: Vec3) {
        let first = self.positions.len() as u32;
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        self.positions.extend(corners);
        self.normals.extend([normal; 3]);
        self.colors.extend([color; 3]);
        self.triangles.push([first, first + 1, first + 2]);
    }

    fn add_ball(&mut self, center: Vec3, radius: f32, color: Vec3) {
        const RINGS: u32 = 8;
        const SPOKES: u32 = 12;
        let first = self.positions.len() as u32;
        for ring in 0..=RINGS {
            let (around, up) = (std::f32::consts::PI * ring as f32 / RINGS as f32).sin_cos();
            for spoke in 0..SPOKES {
                let turn = std::f32::consts::TAU * spoke as f32 / SPOKES as f32;
                let normal = Vec3::new(around * turn.cos(), up, around * turn.sin());
                self.positions.push(center + normal * radius);
                self.normals.push(normal);
                self.colors.push(color.lerp(Vec3::ONE, 0.25));
            }
        }
        for ring in 0..RINGS {
            for spoke in 0..SPOKES {
                let at = |ring: u32, spoke: u32| first + ring * SPOKES + spoke % SPOKES;
                let (a, b) = (at(ring, spoke), at(ring, spoke + 1));
                let (c, d) = (at(ring + 1, spoke), at(ring + 1, spoke + 1));
                self.triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use supple::skeleton::Node;
    use supple::{Local, Trs};

    fn bones_of(tree: &[(Option<usize>, DVec3)]) -> Vec<(Vec3, Vec3)> {
        let nodes = tree.iter().map(|&(parent, translation)| Node {
            name: String::new(),
            parent,
            rest: Local::Trs(Trs::from_translation(translation)),
        });
        let joints: Vec<_> = (0..tree.len()).collect();
        let skeleton = Skeleton::bound_at_rest(nodes.collect(), &joints).unwrap();
        let world_from_node = skeleton.rest_world();
        let bones = skeleton_bones(&skeleton, &world_from_node);
        assert!(bones.iter().all(|bone| bone.radius > 0.0));
        bones.iter().map(|bone| (bone.from, bone.to)).collect()
    }

    #[test]
    fn outlines_reach_as_far_as_they_are_wide() {
        let (width, height) = (17, 9);
        let mut drawn = vec![(Vec3::ZERO, 0.0f32); width * height];
        for (column, row, coverage) in [(0, 0, 1.0), (8, 4, 0.5), (9, 4, 1.0), (16, 7, 0.25)] {
            drawn[row * width + column] = (Vec3::X * coverage, coverage);
        }
        let colors: Vec<Vec3> = (0..width * height)
            .map(|pixel| Vec3::new(0.3, 0.4, pixel as f32 * 0.005))
            .collect();
        for row in 0..height {
            let (first, blended) = blended_row(&colors, &drawn, row, width);
            for column in 0..width {
                // Of all pixels of the picture.
                let outline = (0..width * height).fold(0.0f32, |outline, other| {
                    let (dx, dy) = (
                        (other % width).abs_diff(column),
                        (other / width).abs_diff(row),
                    );
                    let distance = ((dx * dx + dy * dy) as f32).sqrt();
                    let strength = (OUTLINE_WIDTH + 0.5 - distance).clamp(0.0, 1.0);
                    outline.max(drawn[other].1 * strength)
                });
                let pixel = row * width + column;
                let (bone, coverage) = drawn[pixel];
                let expected =
                    colors[pixel].lerp(OUTLINE, outline * 0.85) * (1.0 - coverage) + bone;
                let found = column.checked_sub(first).and_then(|at| blended.get(at));
                assert_eq!(
                    *found.unwrap_or(&colors[pixel]),
                    expected,
                    "{column}, {row}"
                );
            }
        }
    }

    #[test]
    fn bones_join_joints_and_leaves_get_knobs() {
        let chain = [
            (None, DVec3::ZERO),
            (Some(0), DVec3::X),
            (Some(1), DVec3::X),
        ];
        let tip = Vec3::X * 2.0;
        let expected = [(Vec3::ZERO, Vec3::X), (Vec3::X, tip), (tip, tip)];
        assert_eq!(bones_of(&chain), expected);
    }

    #[test]
    fn a_root_on_the_ground_below_the_hips_is_no_bone() {
        let figure = [
            (None, DVec3::ZERO),
            (Some(0), DVec3::Y),
            (Some(1), DVec3::Y),
            (Some(1), DVec3::X),
        ];
        let hips = Vec3::Y;
        let (head, leg) = (Vec3::Y * 2.0, Vec3::new(1.0, 1.0, 0.0));
        let expected = [(hips, head), (hips, leg), (head, head), (leg, leg)];
        assert_eq!(bones_of(&figure), expected);
    }
}
