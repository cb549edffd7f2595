//! `supple methods`: the skinning methods, their papers, costs and options.

use crate::args::method::options_text;
use crate::args::methods::MethodsArguments;
use crate::console;
use crate::failure::Failure;
use anstyle::Style;
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use std::fmt::Write;
use supple::skeleton::Node;
use supple::weights::WeightsBuilder;
use supple::{Local, Mesh, Method, Normals, Rig, Skeleton, Skin, Trs};

pub(crate) fn run(options: &MethodsArguments) -> Result<(), Failure> {
    let rig = four_influences()?;
    let listed = Method::ALL.iter().map(|method| Listed::new(method, &rig));
    let listed = listed.collect::<Result<Vec<_>, _>>()?;
    match options.json {
        true => {
            let list: Vec<Value> = listed.iter().map(Listed::to_json).collect();
            console::print_json(&format!("{:#}", Value::Array(list)))
        }
        false => console::print(&listed.iter().map(Listed::to_text).collect::<String>()),
    }
}

/// A method with what the list says of it.
struct Listed<'m> {
    method: &'m Method,
    paper: Paper,
    bytes_per_vertex: f64,
    /// The time of a frame relative to linear blending; `None` where the whole surface is solved
    /// for.
    relative_time: Option<f64>,
}

impl<'m> Listed<'m> {
    fn new(method: &'m Method, rig: &Rig) -> Result<Listed<'m>, Failure> {
        let skin = Skin::bake(rig, method, Normals::Transported)?;
        let nanoseconds = |name: &str| {
            let known = NANOSECONDS.iter().find(|(known, _)| *known == name);
            known.map(|(_, nanoseconds)| *nanoseconds)
        };
        let time = nanoseconds(method.name());
        Ok(Listed {
            method,
            paper: Paper::of(method),
            bytes_per_vertex: skin.bytes_per_vertex(false, false),
            relative_time: time
                .zip(nanoseconds("linear"))
                .map(|(own, linear)| own / linear),
        })
    }

    fn to_text(&self) -> String {
        let bold = Style::new().bold();
        let names = [&[self.method.name()], self.method.aliases()].concat();
        let time = match self.relative_time {
            Some(time) if time < 10.0 => format!("time {time:.1}"),
            Some(time) => format!("time {time:.0}"),
            None => "solves for the whole surface in every frame".to_owned(),
        };
        let Paper { title, section } = self.paper;
        let mut text = format!("{bold}{}{bold:#}\n", names.join(", "));
        let _ = writeln!(text, "  {}", self.method.summary());
        let _ = writeln!(
            text,
            "  {:.0} bytes per vertex, {time}",
            self.bytes_per_vertex
        );
        if let Some(options) = options_text(self.method) {
            let _ = writeln!(text, "  options after a colon: {options}");
        }
        let _ = writeln!(text, "  {title}, {section}");
        text
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.method.name(),
            "aliases": self.method.aliases(),
            "summary": self.method.summary(),
            "options": options_text(self.method),
            "paper": self.paper.title,
            "section": self.paper.section,
            "bytes_per_vertex": self.bytes_per_vertex,
            "relative_time": self.relative_time,
        })
    }
}

/// The source of a method's formulas.
#[derive(Clone, Copy)]
struct Paper {
    title: &'static str,
    section: &'static str,
}

impl Paper {
    fn of(method: &Method) -> Paper {
        let (title, section) = match method {
            Method::Rigid => (COURSE, "§2"),
            Method::Linear => (COURSE, "§2, eq. 1"),
            Method::DualQuaternion(_) | Method::DualQuaternionIntrinsic(_) => (COURSE, "§4"),
            Method::LogMatrix => (COURSE, "§4, eq. 14"),
            Method::Spherical | Method::LinearDualBlend(_) => (COURSE, "§4"),
            Method::SwingTwist => (COURSE, "§4 and §5"),
            Method::Differential => (COURSE, "§4, eq. 15"),
            Method::StretchTwist => (COURSE, "§5, fig. 9"),
            Method::Spline => (COURSE, "§5, fig. 8"),
            Method::CentersOfRotation(_) => (CENTERS, "§3 and §4"),
            Method::CorProcrustes(_) => (CENTERS, "§5"),
            Method::DeltaMush(_) => (MUSH, "§3.1"),
            Method::DirectDeltaMush(_) => (MUSH, "§3.2 to §3.5"),
            Method::Arap(_) => (HANDLES, "§3.1"),
            Method::AnimationSpace | Method::MultiWeight => (COURSE, "§3"),
        };
        Paper { title, section }
    }
}

const COURSE: &str = "Direct Skinning Methods and Deformation Primitives (course notes)";
const CENTERS: &str = "Real-time Skeletal Skinning with Optimized Centers of Rotation";
const MUSH: &str = "Direct Delta Mush Skinning and Variants";
const HANDLES: &str = "As-Rigid-As-Possible Character Deformation Using Point Handles";

/// Nanoseconds per vertex for positions on one thread: the first rows of docs/speed-table.md, of
/// `@figure` with 9,994 vertices and at most four influences on an AMD EPYC with AVX-512.
const NANOSECONDS: [(&str, f64); 21] = [
    ("rigid", 1.50),
    ("linear", 2.19),
    ("dual-quaternion", 3.18),
    ("dual-quaternion-intrinsic", 296.32),
    ("log-matrix", 284.92),
    ("spherical", 55.73),
    ("linear-dual-blend", 4.96),
    ("swing-twist", 112.71),
    ("differential", 52.02),
    ("stretch-twist", 58.17),
    ("spline", 274.03),
    ("cor", 4.00),
    ("cor-procrustes", 781.31),
    ("ddm", 13.99),
    ("ddm-v1", 19.72),
    ("ddm-v2", 45.11),
    ("ddm-v3", 47.27),
    ("ddm-v4", 45.61),
    ("ddm-v5", 2.61),
    ("animation-space", 18.55),
    ("multi-weight", 14.89),
];

/// A strip along a chain of four joints; every vertex follows all of them.
fn four_influences() -> Result<Rig, Failure> {
    const JOINTS: usize = 4;
    /// Enough that the loop's blocks are full.
    const STEPS: usize = 512;
    let along = |step: usize| step as f32 / STEPS as f32;
    let mut positions = Vec::new();
    let mut weights = WeightsBuilder::new(JOINTS)?;
    for step in 0..STEPS {
        for side in [-0.1, 0.1] {
            positions.push(Vec3::new(along(step), side, 0.1 * along(step)));
            let near = |joint: usize| (joint, 1.0 + (joint as f32 - 3.0 * along(step)).abs());
            weights.push((0..JOINTS).map(near), 0)?;
        }
    }
    let corner = |step: usize, side: usize| (2 * step + side) as u32;
    let triangles = (0..STEPS - 1).flat_map(|step| {
        let next = step + 1;
        [
            [corner(step, 0), corner(next, 0), corner(next, 1)],
            [corner(step, 0), corner(next, 1), corner(step, 1)],
        ]
    });
    let nodes = (0..JOINTS).map(|joint| Node {
        name: format!("joint {joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs {
            translation: if joint == 0 {
                DVec3::ZERO
            } else {
                DVec3::X / 3.0
            },
            ..Trs::IDENTITY
        }),
    });
    let mesh = Mesh::new(positions, None, None, triangles.collect());
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    let mesh = mesh.map_err(|error| failed(&error))?;
    let skeleton = Skeleton::bound_at_rest(nodes.collect(), &[0, 1, 2, 3]);
    let skeleton = skeleton.map_err(|error| failed(&error))?;
    Ok(Rig::new(mesh, skeleton, weights.finish().0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page says what the command says.
    #[test]
    fn times_are_those_of_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/speed-table.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page
            .lines()
            .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
        let rows: Vec<Vec<&str>> = rows
            .filter(|cells| cells.len() > 5 && cells[2] == "9994" && cells[3].starts_with("4 "))
            .collect();
        assert_eq!(rows.len(), NANOSECONDS.len());
        for (row, (name, nanoseconds)) in rows.iter().zip(NANOSECONDS) {
            assert_eq!((row[1], row[5].parse()), (name, Ok(nanoseconds)));
        }
    }

    #[test]
    fn the_bytes_are_those_of_four_influences() {
        let rig = four_influences().unwrap();
        let weights = rig.weights();
        assert!((0..weights.vertex_count()).all(|vertex| weights.of(vertex).len() == 4));
        let bytes = |name: &str| {
            let method: Method = name.parse().unwrap();
            Listed::new(&method, &rig).unwrap().bytes_per_vertex
        };
        // Positions in and out, four weights and four joints.
        let linear = 12.0 + 12.0 + 4.0 * (4.0 + 2.0);
        assert!(
            (bytes("linear") - linear).abs() < 8.0,
            "{}",
            bytes("linear")
        );
        assert!(bytes("cor") >= bytes("linear") + 12.0, "a center more");
        assert!(
            bytes("ddm") > bytes("ddm-v5") + 4.0 * 4.0 * 6.0,
            "{}",
            bytes("ddm")
        );
    }
}
