//! Deformed surfaces over time as morph targets: one target for every frame after the first.

use super::SaveError;
use super::document::Document;
use super::store::{Accessor, of_vertex};
use crate::NotFinite;
use glam::{Vec3, Vec4};
use serde_json::{Value, json};
use std::ops::Range;
use supple::{Player, Pose};

/// A file in which the deformed surface moves without bones, collected frame by frame.
///
/// The first frame is the surface itself, as [`Document::posed`] writes it; every other one is a
/// morph target of its positions, normals and tangents. An animation gives each frame weight 1 at
/// its time and fades linearly to the next. All frames are in memory, with 24 bytes per vertex
/// each, or 36 with tangents.
pub struct MorphSequence {
    document: Document,
    first: Frame,
    frames: usize,
}

/// The surface of the first frame, from which targets are offsets.
struct Frame {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
}

impl Document {
    /// Starts a sequence with the frame that a player shows; the player and the pose are those of
    /// [`Document::posed`].
    ///
    /// # Errors
    ///
    /// Fails as [`Document::posed`] does.
    pub fn morph_sequence(
        &self,
        player: &Player<'_>,
        pose: &Pose,
    ) -> Result<MorphSequence, SaveError> {
        Ok(MorphSequence {
            document: self.posed(player, pose)?,
            first: Frame {
                positions: player.positions().to_vec(),
                normals: player.normals().to_vec(),
                tangents: player.tangents().map(<[Vec4]>::to_vec),
            },
            frames: 1,
        })
    }
}

impl MorphSequence {
    /// Adds the frame that the player shows now.
    ///
    /// # Errors
    ///
    /// If the player plays another character, or an offset from the first frame is not finite.
    pub fn push(&mut self, player: &Player<'_>) -> Result<(), SaveError> {
        let vertices = player.positions().len();
        self.document.check_vertex_count("positions", vertices)?;
        for index in 0..self.document.binding.instances.len() {
            let instance = &self.document.binding.instances[index];
            let (mesh, primitives) = (instance.mesh, instance.primitives.clone());
            for (primitive, vertices) in primitives.into_iter().enumerate() {
                let has_tangents =
                    self.document.json["meshes"][mesh]["primitives"][primitive]["attributes"]
                        .get("TANGENT")
                        .is_some();
                let target = self.target(player, vertices, has_tangents)?;
                let json = &mut self.document.json["meshes"][mesh]["primitives"][primitive];
                match json["targets"].as_array_mut() {
                    Some(targets) => targets.push(target),
                    None => json["targets"] = json!([target]),
                }
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Stores the offsets of some vertices from the first frame.
    fn target(
        &mut self,
        player: &Player<'_>,
        vertices: Range<usize>,
        has_tangents: bool,
    ) -> Result<Value, NotFinite> {
        let offsets = |now: &[Vec3], first: &[Vec3]| -> Vec<Vec3> {
            let pairs = now[vertices.clone()].iter().zip(&first[vertices.clone()]);
            pairs.map(|(now, first)| *now - *first).collect()
        };
        let first = vertices.start;
        let positions = offsets(player.positions(), &self.first.positions);
        let normals = offsets(player.normals(), &self.first.normals);
        let positions = Accessor::positions(&positions, first)?;
        let normals = Accessor::vectors(&normals, of_vertex("normal", first))?;
        let mut target = json!({
            "POSITION": self.document.append(positions.vertex_data()),
            "NORMAL": self.document.append(normals.vertex_data()),
        });
        let tangents = player.tangents().zip(self.first.tangents.as_deref());
        if let Some((now, before)) = tangents.filter(|_| has_tangents) {
            let directions =
                |tangents: &[Vec4]| tangents.iter().map(|t| t.truncate()).collect::<Vec<_>>();
            let tangents = offsets(&directions(now), &directions(before));
            let tangents = Accessor::vectors(&tangents, of_vertex("tangent", first))?;
            target["TANGENT"] = json!(self.document.append(tangents.vertex_data()));
        }
        Ok(target)
    }

    /// The file, with an animation of that name that plays `fps` frames per second.
    ///
    /// # Errors
    ///
    /// If the time of a frame is not finite.
    pub fn finish(mut self, name: &str, fps: f64) -> Result<Document, SaveError> {
        let targets = self.frames - 1;
        // A single frame does not move.
        if targets == 0 {
            return Ok(self.document);
        }
        let times: Vec<f32> = (0..self.frames)
            .map(|frame| (frame as f64 / fps) as f32)
            .collect();
        let times = Accessor::times(&times, |frame| format!("the time of frame {frame}"))?;
        let mut weights = vec![0.0; self.frames * targets];
        for frame in 1..self.frames {
            weights[frame * targets + frame - 1] = 1.0;
        }
        let weights = Accessor::floats("SCALAR", 1, &weights, |_| "a morph weight".to_owned())?;
        let sampler = json!({
            "input": self.document.append(times),
            "output": self.document.append(weights),
            "interpolation": "LINEAR",
        });
        let instances = self.document.binding.instances.iter();
        let channels: Vec<Value> = instances
            .map(|instance| {
                json!({ "sampler": 0, "target": { "node": instance.node, "path": "weights" } })
            })
            .collect();
        let animation = json!({ "name": name, "samplers": [sampler], "channels": channels });
        self.document.push("animations", animation);
        Ok(self.document)
    }
}
