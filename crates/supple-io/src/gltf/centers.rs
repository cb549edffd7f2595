//! Centers of rotation in a file: a vertex attribute, and in the extras of the mesh the options and
//! the source that they were computed from.
//!
//! ```json
//! "extras": { "supple": { "centerOfRotation": {
//!     "sigma": 0.1, "epsilon": 0.1, "accuracy": 3e-5, "source": "0123456789abcdef"
//! } } }
//! ```
//!
//! `source` is [`CenterOptions::fingerprint`] of the whole character: centers whose source differs
//! are stale.

use super::extras::{OWN, extras_of, remove_member};
use super::fault::Fault;
use super::file::{File, MeshNode};
use super::store::{Accessor, of_primitive};
use super::{Document, SaveError, StoredState};
use crate::numbers;
use glam::Vec3;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use supple::centers::{CenterOptions, Centers};
use supple::deform::CentersOfRotation;
use supple::{Method, Rig};

/// The vertex attribute that holds centers of rotation: three floats, in the space of `POSITION`.
///
/// A vertex without a center holds its own position.
pub const CENTER_ATTRIBUTE: &str = "_CENTER_OF_ROTATION";

/// The member of Supple's extras that is about centers.
const RECORD: &str = "centerOfRotation";

/// The name of a center in messages.
const CENTER: &str = "center of rotation";

/// The share of the extent by which the centers of nodes with the same mesh may differ; above it,
/// the nodes get a mesh each.
const SAME_CENTERS: f32 = 1e-6;

/// Centers of rotation that a file stores.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCenters {
    /// The centers, where they can be read.
    pub centers: Arc<Centers>,
    /// The options that they were computed with, if the file says so.
    pub options: Option<CenterOptions>,
    /// Whether the centers can be used.
    pub state: StoredState,
}

impl StoredCenters {
    /// The centers, if they fit the character.
    pub fn fitting(&self) -> Option<&Arc<Centers>> {
        (self.state == StoredState::Fit).then_some(&self.centers)
    }

    /// The method with the options stored in the file, if any: for methods that compute centers by
    /// the paper's options.
    #[must_use]
    pub fn with_stored_options(&self, method: &Method) -> Method {
        let stored = self.options.unwrap_or_default();
        match method {
            Method::CentersOfRotation(CentersOfRotation {
                antipodality,
                centers: CenterOptions::PAPER,
            }) => Method::CentersOfRotation(CentersOfRotation {
                antipodality: *antipodality,
                centers: stored,
            }),
            Method::CorProcrustes(CenterOptions::PAPER) => Method::CorProcrustes(stored),
            _ => method.clone(),
        }
    }
}

/// Centers of rotation as the primitives store them.
#[derive(Default)]
pub(super) struct CenterPoints {
    /// `None` for vertices without a center; shorter than the surface if the last vertices have
    /// none.
    pub(super) points: Vec<Option<Vec3>>,
    /// The first error. It is no reason to refuse the rest of the file, since centers can be
    /// computed again.
    pub(super) fault: Option<Fault>,
}

/// The centers that a file stores for its character.
pub(super) fn stored(
    file: &File<'_>,
    bound: &[&MeshNode],
    CenterPoints { points, fault }: CenterPoints,
    rig: &Rig,
) -> Result<Option<StoredCenters>, Fault> {
    if points.is_empty() && fault.is_none() {
        return Ok(None);
    }
    let places = rig.mesh().positions();
    let centers: Vec<Vec3> = (0..places.len())
        .map(|vertex| {
            points
                .get(vertex)
                .copied()
                .flatten()
                .unwrap_or(places[vertex])
        })
        .collect();
    let centers = Centers::from_points(&centers, rig.mesh(), rig.weights())
        .map_err(|error| Fault::new(CENTER_ATTRIBUTE, error.to_string()))?;
    let mut records = bound
        .iter()
        .map(|node| Record::of(&file.json["meshes"][node.mesh]));
    let first = records.next().flatten();
    let complete = points.len() == places.len() && points.iter().all(Option::is_some);
    let alike = records.all(|record| record == first);
    let state = match (fault, &first) {
        (Some(Fault { place, problem }), _) => StoredState::Broken { place, problem },
        _ if !complete => StoredState::Incomplete,
        (None, None) => StoredState::UnknownOrigin,
        (None, Some(first)) if alike && first.fits(rig) => StoredState::Fit,
        (None, Some(_)) => StoredState::Stale,
    };
    Ok(Some(StoredCenters {
        centers: Arc::new(centers),
        options: first.map(|record| record.options),
        state,
    }))
}

/// The options that centers were computed with, and their source.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    options: CenterOptions,
    source: String,
}

impl Record {
    fn new(options: &CenterOptions, rig: &Rig) -> Record {
        let source = options.fingerprint(rig);
        Record {
            options: *options,
            source: format!("{source:016x}"),
        }
    }

    /// The record of a mesh; none if it is not valid.
    fn of(mesh: &Value) -> Option<Record> {
        let json = mesh.get("extras")?.get(OWN)?.get(RECORD)?;
        let number = |key: &str| json.get(key)?.as_f64();
        let options = CenterOptions {
            sigma: number("sigma")?,
            epsilon: number("epsilon")?,
            accuracy: number("accuracy")?,
        };
        options.check().ok()?;
        Some(Record {
            options,
            source: json.get("source")?.as_str()?.to_owned(),
        })
    }

    fn fits(&self, rig: &Rig) -> bool {
        self.source == Record::new(&self.options, rig).source
    }

    fn to_json(&self) -> Value {
        json!({
            "sigma": self.options.sigma,
            "epsilon": self.options.epsilon,
            "accuracy": self.options.accuracy,
            "source": self.source,
        })
    }

    fn write(&self, mesh: &mut Value) {
        let own = extras_of(mesh).map(|extras| extras.entry(OWN).or_insert(Value::Null));
        let Some(own) = own else {
            return;
        };
        if !own.is_object() {
            *own = json!({});
        }
        own[RECORD] = self.to_json();
    }
}

impl Document {
    /// Stores centers of rotation that were computed from `rig` with `options`. `rig` must be the
    /// character of this file.
    ///
    /// Nodes that share a mesh but not their centers get a mesh each.
    ///
    /// # Errors
    ///
    /// If the rig or the centers are not those of this file, no mesh has a skin, or the extras of a
    /// mesh are not an object.
    pub fn set_centers(
        &mut self,
        rig: &Rig,
        centers: &Centers,
        options: &CenterOptions,
    ) -> Result<(), SaveError> {
        self.check_vertex_count("centers", centers.points().len())?;
        self.check_vertex_count("positions", rig.mesh().vertex_count())?;
        let instances = self.binding.instances.iter();
        let skinned = instances.filter(|instance| instance.skinned);
        let meshes: Vec<usize> = skinned.map(|instance| instance.mesh).collect();
        if meshes.is_empty() {
            return Err(SaveError::NoSkin);
        }
        // Before anything is changed: on an error the document stays as it was.
        let odd = |extras: &Value| !extras.is_object() && !extras.is_null();
        let mesh_with_odd_extras = |&&mesh: &&usize| odd(&self.json["meshes"][mesh]["extras"]);
        if let Some(&mesh) = meshes.iter().find(mesh_with_odd_extras) {
            return Err(SaveError::ExtrasNotAnObject { mesh });
        }
        let points = centers.points_or_places(rig.mesh());
        numbers::check_vectors(CENTER, &points)?;
        let record = Record::new(options, rig);
        let extent = rig.mesh().extent();
        let same = |a: &Vec<&[Vec3]>, b: &Vec<&[Vec3]>| {
            let mut pairs = a.iter().copied().flatten().zip(b.iter().copied().flatten());
            pairs.all(|(a, b)| a.distance(*b) <= SAME_CENTERS * extent)
        };
        let contents = self.binding.instances.iter().map(|instance| {
            let primitives = instance.primitives.iter();
            let of_primitives = primitives.map(|vertices| &points[vertices.clone()]);
            instance.skinned.then(|| of_primitives.collect())
        });
        let contents: Vec<Option<Vec<&[Vec3]>>> = contents.collect();
        // Primitives that share their vertices share the centers too.
        let mut accessors: HashMap<(String, Vec<u8>), usize> = HashMap::new();
        self.write_versions(contents, same, |document, mesh, primitives| {
            for (primitive, points) in primitives.iter().enumerate() {
                let place = of_primitive(CENTER, mesh, primitive);
                let content = Accessor::vectors(points, place)?.vertex_data();
                let accessor = *accessors
                    .entry(content.content())
                    .or_insert_with(|| document.append(content));
                document.forget_compressed(mesh, primitive);
                document.json["meshes"][mesh]["primitives"][primitive]["attributes"]
                    [CENTER_ATTRIBUTE] = json!(accessor);
            }
            record.write(&mut document.json["meshes"][mesh]);
            Ok(())
        })?;
        self.drop_unused();
        Ok(())
    }
}

/// Removes stored centers and their record from a mesh.
pub(super) fn forget_centers(mesh: &mut Value) {
    let primitives = mesh.get_mut("primitives").and_then(Value::as_array_mut);
    for primitive in primitives.into_iter().flatten() {
        if let Some(attributes) = primitive["attributes"].as_object_mut() {
            attributes.shift_remove(CENTER_ATTRIBUTE);
        }
    }
    remove_member(mesh, &["extras", OWN, RECORD]);
}
