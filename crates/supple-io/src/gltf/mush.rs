//! A bake of direct delta mush in a file: an extension of mesh primitives, with the options and the
//! source of the bake.
//!
//! `docs/ddm-in-gltf.md` describes every field. `source` is [`MushOptions::fingerprint`] of the
//! whole character: a bake whose source differs is stale.

use super::accessor::Numbers;
use super::document::Instance;
use super::fault::Fault;
use super::file::File;
use super::packed_mush::{MushRows, PackedInfluence, PackedMush};
use super::skins::places_in_skin;
use super::store::{
    Accessor, SHORT, UNSIGNED_BYTE, UNSIGNED_SHORT, of_primitive, remove_extensions,
};
use super::{Document, SaveError, StoredState};
use crate::NotFinite;
use glam::Vec3;
use gltf_json::accessor::Type;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use supple::mush::EdgeWeights;
use supple::mush::Steps;
use supple::mush::{Mush, MushError, MushOptions, PatchPart};
use supple::{Mesh, Rig, Skeleton, Weights};

/// The extension of mesh primitives that holds a bake of direct delta mush.
pub const MUSH_EXTENSION: &str = "SUPPLE_direct_delta_mush";

/// The accessors of the extension.
const ACCESSORS: [&str; 6] = ["counts", "joints", "shares", "patches", "centers", "scales"];

/// The largest error of a vertex's sum of shares, for tools that round shares to 16 bits.
const SHARES_OFF: f32 = 1e-2;

/// A bake of direct delta mush that a file stores.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMush {
    /// The bake; none if it cannot be read completely.
    pub mush: Option<Arc<Mush>>,
    /// The options of the bake, if the file says so.
    pub options: Option<MushOptions>,
    /// Whether the bake can be used.
    pub state: StoredState,
    /// The number of bytes that it takes in the file.
    pub byte_count: u64,
}

impl StoredMush {
    /// The bake, if it fits the character.
    pub fn fitting(&self) -> Option<&Arc<Mush>> {
        let fits = self.state == StoredState::Fit;
        self.mush.as_ref().filter(|_| fits)
    }

    /// True if the bake was made with these options, up to the rounding of files.
    pub fn is_by(&self, options: &MushOptions) -> bool {
        let rounded = |options: &MushOptions| {
            let numbers = [options.lambda, options.kappa, options.alpha, options.prune];
            let [lambda, kappa, alpha, prune] = numbers.map(|number| f64::from(number as f32));
            let shares = options.alpha_by_joint().into_iter();
            let alpha_at_joints = shares
                .map(|(joint, share)| (joint, f64::from(share as f32)))
                .collect();
            MushOptions {
                lambda,
                kappa,
                alpha,
                prune,
                alpha_at_joints,
                ..options.clone()
            }
        };
        self.options.as_ref().map(rounded) == Some(rounded(options))
    }
}

/// The bake that a file stores for its character. An error in it is no reason to refuse the rest of
/// the file, since the character can be baked again.
pub(super) fn stored(file: &File<'_>, instances: &[Instance], rig: &Rig) -> Option<StoredMush> {
    let mut reading = Reading::new(file);
    for instance in instances.iter().filter(|instance| instance.skinned) {
        for (primitive, vertices) in instance.primitives.iter().enumerate() {
            reading.add(instance, primitive, vertices.len());
        }
    }
    if !reading.found {
        return None;
    }
    let options = reading.options();
    let source = reading.source().map(str::to_owned);
    let byte_count = reading.byte_count();
    let Reading {
        rows,
        fault,
        is_complete,
        ..
    } = reading;
    let mut fault = fault;
    let mut mush = None;
    if fault.is_none() && is_complete {
        match rows.into_mush(rig.skeleton().joints().len()) {
            Ok(read) => mush = Some(Arc::new(read)),
            Err(error) => fault = Some(Fault::new(MUSH_EXTENSION, error.to_string())),
        }
    }
    let fits = |options: &MushOptions, source: &str| {
        let (mesh, skeleton, weights) = (rig.mesh(), rig.skeleton(), rig.weights());
        let found = source_of(options, mesh, skeleton, weights, instances);
        found.is_ok_and(|found| source == found)
    };
    let state = match (fault, &options, &source) {
        (Some(Fault { place, problem }), ..) => StoredState::Broken { place, problem },
        _ if !is_complete => StoredState::Incomplete,
        (None, Some(options), Some(source)) if fits(options, source) => match &mush {
            Some(mush) => state_by_size(mush, rig.mesh()),
            None => StoredState::Incomplete,
        },
        (None, Some(_), Some(_)) => StoredState::Stale,
        (None, ..) => StoredState::UnknownOrigin,
    };
    Some(StoredMush {
        mush,
        options,
        state,
        byte_count,
    })
}

/// The state of a bake that belongs to its character: broken if a patch is larger than the mesh,
/// since smoothing makes none larger.
fn state_by_size(mush: &Mush, mesh: &Mesh) -> StoredState {
    let places = mesh.positions().iter();
    let size = places.map(|place| place.abs().max_element());
    // Measured from the origin, with room to spare: valid patches are within a quarter of this.
    let size = 4.0 * size.fold(0.0, f32::max);
    let oversized = (0..mush.centers().len()).find(|&vertex| {
        let is_large = |part: &PatchPart| {
            let moments = part
                .moments
                .iter()
                .fold(0.0, |most: f32, m| most.max(m.abs()));
            part.lever.abs().max_element() > size || moments.sqrt() > size
        };
        mush.centers()[vertex].abs().max_element() > size || mush.parts(vertex).iter().any(is_large)
    });
    match oversized {
        None => StoredState::Fit,
        Some(vertex) => StoredState::Broken {
            place: MUSH_EXTENSION.to_owned(),
            problem: format!("the patch of vertex {vertex} is larger than the character"),
        },
    }
}

/// The hash of the character that a bake belongs to, as files store it.
fn source_of(
    options: &MushOptions,
    mesh: &Mesh,
    skeleton: &Skeleton,
    weights: &Weights,
    instances: &[Instance],
) -> Result<String, MushError> {
    let mut places: HashMap<*const [usize], HashMap<usize, u16>> = HashMap::new();
    // The skin that numbers the joints of each vertex.
    let mut skin_of_vertex = vec![None; mesh.vertex_count()];
    for instance in instances {
        let skin = Arc::as_ptr(&instance.joint_of_skin);
        places
            .entry(skin)
            .or_insert_with(|| places_in_skin(&instance.joint_of_skin));
        for vertices in &instance.primitives {
            skin_of_vertex[vertices.clone()].fill(Some(skin));
        }
    }
    let number = |vertex: usize, joint: usize| {
        let places = skin_of_vertex[vertex].and_then(|skin| places.get(&skin));
        let place = places.and_then(|places| places.get(&joint));
        // Every skin lists the joints of its vertices.
        usize::from(place.copied().unwrap_or(u16::MAX))
    };
    let hash = options.fingerprint(mesh, skeleton, weights, number)?;
    Ok(format!("{hash:016x}"))
}

/// The rows of all primitives, while they are read.
struct Reading<'a> {
    file: &'a File<'a>,
    rows: MushRows,
    /// The extension of each primitive, with the joints of its skin.
    records: Vec<(&'a Value, Arc<[usize]>)>,
    accessors: HashSet<usize>,
    fault: Option<Fault>,
    found: bool,
    is_complete: bool,
}

impl<'a> Reading<'a> {
    fn new(file: &'a File<'a>) -> Reading<'a> {
        Reading {
            file,
            rows: MushRows {
                starts: vec![0],
                ..MushRows::default()
            },
            records: Vec::new(),
            accessors: HashSet::new(),
            fault: None,
            found: false,
            is_complete: true,
        }
    }

    fn add(&mut self, instance: &Instance, primitive: usize, vertex_count: usize) {
        let json: &'a Value = self.file.json;
        let mesh = instance.mesh;
        let extension = json["meshes"][mesh]["primitives"][primitive]
            .get("extensions")
            .and_then(|extensions| extensions.get(MUSH_EXTENSION));
        let Some(extension) = extension else {
            self.is_complete &= vertex_count == 0;
            return;
        };
        self.found = true;
        if self.fault.is_some() {
            return;
        }
        let place = format!("meshes[{mesh}].primitives[{primitive}].extensions.{MUSH_EXTENSION}");
        let joints = &instance.joint_of_skin;
        self.records.push((extension, joints.clone()));
        self.fault = self.add_rows(extension, &place, joints, vertex_count).err();
    }

    /// Everything is checked before any of it is kept.
    fn add_rows(
        &mut self,
        extension: &Value,
        place: &str,
        skin: &[usize],
        vertex_count: usize,
    ) -> Result<(), Fault> {
        let mut columns = Columns {
            file: self.file,
            extension,
            place,
            accessors: &mut self.accessors,
        };
        let counts = columns.counts(vertex_count)?;
        // No accessor holds more than fits into memory.
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let joints = columns.joints(&counts, total, skin)?;
        let shares = columns.shares(&counts, total)?;
        let patches = columns.patches(total)?;
        let centers = columns.centers(vertex_count)?;
        let scales = columns.scales(vertex_count)?;
        let rows = &mut self.rows;
        rows.joints.extend(joints);
        rows.shares.extend(shares.as_chunks::<2>().0);
        rows.patches.extend(patches.as_chunks::<9>().0);
        rows.centers.extend(centers);
        rows.scales.extend(scales.as_chunks::<4>().0);
        let mut start = rows.starts.last().copied().unwrap_or(0);
        rows.starts.extend(counts.iter().map(|&count| {
            start += count as usize;
            start
        }));
        Ok(())
    }

    /// The options that all primitives name; none if one does not name them.
    fn options(&self) -> Option<MushOptions> {
        let mut all: Option<MushOptions> = None;
        for (json, skin) in &self.records {
            let mut options = options_of(json.get("options")?, skin)?;
            if let Some(earlier) = &mut all {
                // A skin lists only some of the joints.
                earlier.alpha_at_joints.append(&mut options.alpha_at_joints);
            } else {
                all = Some(options);
            }
        }
        let mut all = all?;
        all.alpha_at_joints = all.alpha_by_joint().into_iter().collect();
        all.check().ok()?;
        Some(all)
    }

    /// The source that all primitives name; an empty text, which is no hash, if they name different
    /// ones.
    fn source(&self) -> Option<&'a str> {
        let mut sources = self.records.iter();
        let mut next = || sources.next().map(|(json, _)| json.get("source")?.as_str());
        let first = next()??;
        while let Some(source) = next() {
            if source? != first {
                return Some("");
            }
        }
        Some(first)
    }

    fn byte_count(&self) -> u64 {
        let accessors = self.accessors.iter();
        let lengths = accessors.map(|&accessor| self.file.accessors.byte_length(accessor));
        // Lengths as the file claims them, whether or not the bytes are there.
        lengths.fold(0, u64::saturating_add)
    }
}

/// The accessors of one primitive's extension.
struct Columns<'a> {
    file: &'a File<'a>,
    extension: &'a Value,
    /// The JSON path of the extension.
    place: &'a str,
    /// The accessors that were read, of all primitives.
    accessors: &'a mut HashSet<usize>,
}

impl Columns<'_> {
    /// An accessor by its name, and the JSON path of that name.
    fn accessor(&mut self, name: &str) -> Result<(usize, String), Fault> {
        let there = format!("{}.{name}", self.place);
        let index = self.extension.get(name).and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let index = index.ok_or_else(|| Fault::new(&there, "names no accessor"))?;
        self.accessors.insert(index);
        Ok((index, there))
    }

    fn floats(
        &mut self,
        name: &str,
        kind: Type,
        numbers: Numbers,
    ) -> Result<(Vec<f32>, String), Fault> {
        let (index, there) = self.accessor(name)?;
        let floats = self.file.accessors.floats(index, kind, numbers, &there)?;
        Ok((floats, there))
    }

    fn counts(&mut self, vertex_count: usize) -> Result<Vec<u32>, Fault> {
        let (index, there) = self.accessor("counts")?;
        let accessors = &self.file.accessors;
        let counts = accessors.integers(index, Type::Scalar, &there)?;
        same_count(counts.len(), vertex_count, &there, ONE_EACH)?;
        match counts.iter().position(|&count| count == 0) {
            None => Ok(counts),
            Some(vertex) => Err(Fault::new(there, format!("vertex {vertex} has no joint"))),
        }
    }

    /// As indices into the skeleton's joints; no vertex has one twice.
    fn joints(
        &mut self,
        counts: &[u32],
        total: usize,
        skin: &[usize],
    ) -> Result<Vec<usize>, Fault> {
        let (index, there) = self.accessor("joints")?;
        let accessors = &self.file.accessors;
        let numbers = accessors.integers(index, Type::Scalar, &there)?;
        same_count(numbers.len(), total, &there, AS_COUNTED)?;
        let mut joints = Vec::with_capacity(total);
        let mut numbers = numbers.into_iter();
        let mut row = Vec::new();
        for (vertex, &count) in counts.iter().enumerate() {
            row.clear();
            for number in numbers.by_ref().take(count as usize) {
                let Some(&joint) = skin.get(number as usize) else {
                    let problem = format!(
                        "vertex {vertex} names joint {number}, but the skin has {} joints",
                        skin.len()
                    );
                    return Err(Fault::new(there, problem));
                };
                row.push(joint);
            }
            joints.extend(&row);
            row.sort_unstable();
            if row.windows(2).any(|pair| pair[0] == pair[1]) {
                let problem = format!("vertex {vertex} names a joint twice");
                return Err(Fault::new(there, problem));
            }
        }
        Ok(joints)
    }

    /// ω and ψ, alternating.
    fn shares(&mut self, counts: &[u32], total: usize) -> Result<Vec<f32>, Fault> {
        let (shares, there) = self.floats("shares", Type::Vec2, Numbers::Fractions)?;
        same_count(shares.len() / 2, total, &there, AS_COUNTED)?;
        let mut pairs = shares.as_chunks::<2>().0.iter();
        for (vertex, &count) in counts.iter().enumerate() {
            let mut sums = [0.0; 2];
            for share in pairs.by_ref().take(count as usize) {
                if share.iter().any(|&share| share < 0.0) {
                    let problem = format!("vertex {vertex} has a negative share");
                    return Err(Fault::new(there, problem));
                }
                sums = [sums[0] + share[0], sums[1] + share[1]];
            }
            let is_off = |sum: f32| (sum - 1.0).abs() > SHARES_OFF;
            if let Some(&sum) = sums.iter().find(|&&sum| is_off(sum)) {
                let problem = format!("the shares of vertex {vertex} sum to {sum}");
                return Err(Fault::new(there, problem));
            }
        }
        Ok(shares)
    }

    fn patches(&mut self, total: usize) -> Result<Vec<f32>, Fault> {
        let (patches, there) = self.floats("patches", Type::Scalar, Numbers::Fractions)?;
        let wanted = total.saturating_mul(9);
        same_count(patches.len(), wanted, &there, "nine for each influence")?;
        Ok(patches)
    }

    fn centers(&mut self, vertex_count: usize) -> Result<Vec<Vec3>, Fault> {
        let (index, there) = self.accessor("centers")?;
        let centers = self.file.accessors.vec3s(index, &there)?;
        same_count(centers.len(), vertex_count, &there, ONE_EACH)?;
        Ok(centers)
    }

    fn scales(&mut self, vertex_count: usize) -> Result<Vec<f32>, Fault> {
        let (scales, there) = self.floats("scales", Type::Vec4, Numbers::AsDeclared)?;
        same_count(scales.len() / 4, vertex_count, &there, ONE_EACH)?;
        match scales.iter().position(|&scale| scale < 0.0) {
            None => Ok(scales),
            Some(at) => {
                let problem = format!("vertex {} has a negative scale", at / 4);
                Err(Fault::new(there, problem))
            }
        }
    }
}

const ONE_EACH: &str = "one for each vertex";
const AS_COUNTED: &str = "as many as the counts add up to";

fn same_count(found: usize, expected: usize, there: &str, why: &str) -> Result<(), Fault> {
    if found == expected {
        return Ok(());
    }
    let problem = format!("{found} elements, expected {expected}, {why}");
    Err(Fault::new(there, problem))
}

/// The kind that a record names.
fn named<Kind: ToString>(
    json: &Value,
    key: &str,
    kinds: impl IntoIterator<Item = Kind>,
) -> Option<Kind> {
    let name = json.get(key)?.as_str()?;
    kinds.into_iter().find(|kind| kind.to_string() == name)
}

/// The options of a primitive; none if they are not valid.
fn options_of(json: &Value, skin: &[usize]) -> Option<MushOptions> {
    let number = |key: &str| json.get(key)?.as_f64();
    let switch = |key: &str| json.get(key)?.as_bool();
    let joints = json.get("alphaAt").and_then(Value::as_array);
    let alpha_at = |at: &Value| {
        let place = usize::try_from(at.get("joint")?.as_u64()?).ok()?;
        Some((*skin.get(place)?, at.get("share")?.as_f64()?))
    };
    Some(MushOptions {
        iterations: u32::try_from(json.get("iterations")?.as_u64()?).ok()?,
        lambda: number("lambda")?,
        kappa: number("kappa")?,
        alpha: number("alpha")?,
        edge_weights: named(
            json,
            "laplacian",
            [EdgeWeights::Uniform, EdgeWeights::Cotangent],
        )?,
        steps: named(json, "smoothing", [Steps::Implicit, Steps::Explicit])?,
        radius_from_bones: switch("radiusFromBones")?,
        rigid: switch("rigid")?,
        max_influences: match json.get("maxInfluences") {
            Some(most) => Some(usize::try_from(most.as_u64()?).ok()?),
            None => None,
        },
        prune: number("prune")?,
        alpha_at_joints: joints
            .into_iter()
            .flatten()
            .map(alpha_at)
            .collect::<Option<_>>()?,
    })
}

/// The options for a primitive whose skin has the joints at these places.
fn options_json(options: &MushOptions, places: &HashMap<usize, u16>) -> Value {
    let mut json = json!({
        "iterations": options.iterations,
        "lambda": options.lambda,
        "kappa": options.kappa,
        "alpha": options.alpha,
        "laplacian": options.edge_weights.to_string(),
        "smoothing": options.steps.to_string(),
        "radiusFromBones": options.radius_from_bones,
        "rigid": options.rigid,
        "prune": options.prune,
    });
    if let Some(most) = options.max_influences {
        json["maxInfluences"] = json!(most);
    }
    let shares = options.alpha_by_joint().into_iter();
    let listed = shares.filter_map(|(joint, share)| Some((places.get(&joint)?, share)));
    let listed: Vec<Value> = listed
        .map(|(place, share)| json!({ "joint": place, "share": share }))
        .collect();
    if !listed.is_empty() {
        json["alphaAt"] = Value::Array(listed);
    }
    json
}

/// The extension of one primitive.
#[derive(Clone, Debug, PartialEq)]
struct PrimitiveRows {
    counts: Vec<u16>,
    /// As the skin numbers them.
    joints: Vec<u16>,
    influences: Vec<PackedInfluence>,
    centers: Vec<Vec3>,
    scales: Vec<[f32; 4]>,
    options: Value,
}

impl PrimitiveRows {
    /// The accessors by their names. Errors name the mesh and the primitive.
    fn accessors(
        &self,
        mesh: usize,
        primitive: usize,
    ) -> Result<[(&'static str, Accessor); 6], NotFinite> {
        let shares = self
            .influences
            .iter()
            .flat_map(|influence| influence.shares);
        let shares: Vec<u8> = shares.flat_map(u16::to_le_bytes).collect();
        let patches = self.influences.iter().flat_map(|influence| influence.patch);
        let patches: Vec<u8> = patches.flat_map(i16::to_le_bytes).collect();
        let count = self.influences.len();
        let place = of_primitive("patch center", mesh, primitive);
        let centers = Accessor::vectors(&self.centers, place)?;
        let place = of_primitive("patch scale", mesh, primitive);
        let scales = Accessor::floats("VEC4", 4, self.scales.as_flattened(), place)?;
        Ok([
            ("counts", smallest(&self.counts)),
            ("joints", smallest(&self.joints)),
            (
                "shares",
                Accessor::new("VEC2", UNSIGNED_SHORT, count, shares).normalized(),
            ),
            (
                "patches",
                Accessor::new("SCALAR", SHORT, 9 * count, patches).normalized(),
            ),
            ("centers", centers),
            ("scales", scales),
        ])
    }
}

/// Integers in the smallest type that holds them.
fn smallest(numbers: &[u16]) -> Accessor {
    if numbers.iter().all(|&number| number <= 255) {
        let bytes = numbers.iter().map(|&number| number as u8).collect();
        return Accessor::new("SCALAR", UNSIGNED_BYTE, numbers.len(), bytes);
    }
    let bytes = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    Accessor::new("SCALAR", UNSIGNED_SHORT, numbers.len(), bytes)
}

impl Document {
    /// Stores a bake of direct delta mush that was baked from `rig` with `options`; `rig` must be
    /// the character of this file. Returns the bake as it is stored, rounded to 16 bits. Only patch
    /// sizes are checked; verify the rest with [`Document::read`].
    ///
    /// The ordinary skin becomes the bake's own weights (variant v5), with at most
    /// `skin_influences` per vertex, so that programs that do not know the extension show an
    /// approximation. Nodes that share a mesh but not their rows get a mesh each.
    ///
    /// # Errors
    ///
    /// If the rig or the bake is not that of this file.
    pub fn set_mush(
        &mut self,
        rig: &Rig,
        mush: &Mush,
        options: &MushOptions,
        skin_influences: usize,
    ) -> Result<StoredMush, SaveError> {
        self.check_vertex_count("positions", rig.mesh().vertex_count())?;
        let mush = self.with_a_node_once(rig, mush)?;
        let packed = PackedMush::of(&mush);
        let kept = packed.fractions();
        let kept = kept.into_mush(rig.skeleton().joints().len())?;
        let weights = kept.weights().limited(skin_influences);
        // On an error the document stays as it was.
        let mut changed = self.clone();
        // All joints of the bake, not only those of the ordinary skin.
        changed.list_joints(rig.skeleton(), kept.weights())?;
        changed.set_weights(&weights)?;
        let instances = &changed.binding.instances;
        let source = source_of(options, rig.mesh(), rig.skeleton(), &weights, instances)?;
        let contents = instances.iter().map(|instance| {
            let rows = || rows_of(instance, &packed, options);
            instance.skinned.then(rows).transpose()
        });
        let contents: Vec<Option<Vec<PrimitiveRows>>> = contents.collect::<Result<_, _>>()?;
        // Primitives that share their vertices share the rows too.
        let mut known: HashMap<(String, Vec<u8>), usize> = HashMap::new();
        let mut byte_count = 0;
        changed.write_versions(contents, PartialEq::eq, |document, mesh, primitives| {
            for (primitive, rows) in primitives.iter().enumerate() {
                // The format has no empty accessors.
                if rows.counts.is_empty() {
                    continue;
                }
                document.forget_compressed(mesh, primitive);
                let mut extension = json!({});
                for (name, accessor) in rows.accessors(mesh, primitive)? {
                    let key = accessor.content();
                    let index = *known.entry(key).or_insert_with(|| {
                        byte_count += accessor.byte_count();
                        document.append(accessor)
                    });
                    extension[name] = json!(index);
                }
                extension["options"] = rows.options.clone();
                extension["source"] = json!(source);
                let json = &mut document.json["meshes"][mesh]["primitives"][primitive];
                if !json["extensions"].is_object() {
                    json["extensions"] = json!({});
                }
                json["extensions"][MUSH_EXTENSION] = extension;
            }
            Ok(())
        })?;
        changed.list_mush_extension();
        changed.drop_unused();
        *self = changed;
        Ok(StoredMush {
            state: state_by_size(&kept, rig.mesh()),
            mush: Some(Arc::new(kept)),
            options: Some(options.clone()),
            byte_count,
        })
    }

    /// Makes the weights of a bake (variant v5) the ordinary skin, with at most `skin_influences`
    /// per vertex, and stores nothing else of it. Removes a bake that was stored before.
    ///
    /// # Errors
    ///
    /// If the rig or the bake is not that of this file.
    pub fn set_skin_of_mush(
        &mut self,
        rig: &Rig,
        mush: &Mush,
        skin_influences: usize,
    ) -> Result<(), SaveError> {
        self.check_vertex_count("positions", rig.mesh().vertex_count())?;
        let mush = self.with_a_node_once(rig, mush)?;
        let weights = mush.weights().limited(skin_influences);
        // On an error the document stays as it was.
        let mut changed = self.clone();
        changed.list_joints(rig.skeleton(), &weights)?;
        for mesh in changed.json["meshes"].as_array_mut().into_iter().flatten() {
            forget_mush(mesh);
        }
        changed.list_mush_extension();
        changed.set_weights(&weights)?;
        *self = changed;
        Ok(())
    }

    /// The bake, with joints of one node merged where a skin can list only one of them.
    fn with_a_node_once<'m>(&self, rig: &Rig, mush: &'m Mush) -> Result<Cow<'m, Mush>, SaveError> {
        self.check_vertex_count("a bake", mush.centers().len())?;
        self.check_character(rig)?;
        let joints = rig.skeleton().joints().len();
        if mush
            .weights()
            .max_joint()
            .is_some_and(|joint| joint >= joints)
        {
            return Err(SaveError::OtherSkeleton);
        }
        let called = self.names_in_skins(rig, |vertex| {
            let influences = mush.weights().of(vertex).zip(mush.parts(vertex));
            influences.map(|(influence, part)| {
                let share = influence.weight.max(part.rotation_weight);
                (influence.joint, f64::from(share))
            })
        })?;
        if called.is_empty() {
            return Ok(Cow::Borrowed(mush));
        }
        let mut rows = MushRows {
            starts: vec![0],
            centers: mush.centers().to_vec(),
            scales: vec![[1.0; 4]; mush.centers().len()],
            ..MushRows::default()
        };
        for vertex in 0..mush.centers().len() {
            let start = rows.joints.len();
            for (influence, part) in mush.weights().of(vertex).zip(mush.parts(vertex)) {
                let joint = influence.joint;
                let joint = *called.get(&(vertex, joint)).unwrap_or(&joint);
                let at = (start..rows.joints.len()).find(|&at| rows.joints[at] == joint);
                let at = at.unwrap_or_else(|| {
                    rows.push_influence(joint);
                    rows.joints.len() - 1
                });
                rows.add_part(at, influence.weight, part);
            }
            rows.starts.push(rows.joints.len());
        }
        Ok(Cow::Owned(rows.into_mush(rig.skeleton().joints().len())?))
    }

    /// Updates the list of used extensions: the bake's is on it if a primitive has one, and is
    /// never required.
    pub(super) fn list_mush_extension(&mut self) {
        let meshes = self.json["meshes"].as_array().into_iter().flatten();
        let primitives = meshes.filter_map(|mesh| mesh.get("primitives")?.as_array());
        let mut extensions = primitives
            .flatten()
            .filter_map(|json| json.get("extensions"));
        let is_used = extensions.any(|extensions| extensions.get(MUSH_EXTENSION).is_some());
        let Some(root) = self.json.as_object_mut() else {
            return;
        };
        let is_listed = |name: &Value| name == MUSH_EXTENSION;
        let used = root.get_mut("extensionsUsed").and_then(Value::as_array_mut);
        match (used, is_used) {
            (Some(used), true) if !used.iter().any(is_listed) => used.push(json!(MUSH_EXTENSION)),
            (None, true) => {
                root.insert("extensionsUsed".to_owned(), json!([MUSH_EXTENSION]));
            }
            (Some(used), false) => {
                used.retain(|name| !is_listed(name));
                if used.is_empty() {
                    root.shift_remove("extensionsUsed");
                }
            }
            _ => {}
        }
    }
}

/// The rows of an instance's primitives, with joints as its skin numbers them.
fn rows_of(
    instance: &Instance,
    packed: &PackedMush,
    options: &MushOptions,
) -> Result<Vec<PrimitiveRows>, SaveError> {
    let places = places_in_skin(&instance.joint_of_skin);
    let options = options_json(options, &places);
    let primitives = instance.primitives.iter().map(|vertices| {
        let starts = &packed.starts[vertices.start..=vertices.end];
        let influences = &packed.influences[starts[0]..starts[starts.len() - 1]];
        let mut joints = Vec::with_capacity(influences.len());
        for vertex in vertices.clone() {
            for influence in &packed.influences[packed.starts[vertex]..packed.starts[vertex + 1]] {
                let joint = usize::from(influence.joint);
                let missing = SaveError::JointNotInSkin {
                    vertex,
                    joint,
                    node: instance.node,
                };
                joints.push(*places.get(&joint).ok_or(missing)?);
            }
        }
        // The skin's numbers are enough: instances with different skins may still share a mesh.
        let numberless = influences.iter().map(|&influence| PackedInfluence {
            joint: 0,
            ..influence
        });
        Ok(PrimitiveRows {
            counts: starts
                .windows(2)
                .map(|pair| (pair[1] - pair[0]) as u16)
                .collect(),
            joints,
            influences: numberless.collect(),
            centers: packed.centers[vertices.clone()].to_vec(),
            scales: packed.scales[vertices.clone()].to_vec(),
            options: options.clone(),
        })
    });
    primitives.collect()
}

/// Removes a stored bake from a mesh.
pub(super) fn forget_mush(mesh: &mut Value) {
    let primitives = mesh.get_mut("primitives").and_then(Value::as_array_mut);
    for primitive in primitives.into_iter().flatten() {
        remove_extensions(primitive, &[MUSH_EXTENSION]);
    }
}

/// The references of a primitive's extension to accessors.
pub(super) fn mush_accessors(primitive: &mut Value) -> impl Iterator<Item = &mut Value> {
    let extensions = primitive.get_mut("extensions");
    let extension = extensions.and_then(|extensions| extensions.get_mut(MUSH_EXTENSION));
    let members = extension
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten();
    let accessors = members.filter(|(name, _)| ACCESSORS.contains(&name.as_str()));
    accessors.map(|(_, accessor)| accessor)
}
