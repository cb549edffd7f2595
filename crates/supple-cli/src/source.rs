//! Characters from files, or built-in ones as `@name`.

use crate::args::character::parse_character;
use crate::console;
use crate::failure::Failure;
use crate::output::extension;
use crate::progress;
use crate::wording::{self, weight_flaws};
use std::borrow::Cow;
use std::path::Path;
use supple::Asset;
use supple::bind::BindReport;
use supple::characters;
use supple::twist::TwistDriver;
use supple_io::gltf::{self, BadEdge, Document, Loaded, Notes, StoredCenters, StoredMush};
use supple_io::text::quoted;

/// A character, and its file if it has one.
pub(crate) struct Source {
    pub(crate) asset: Asset,
    pub(crate) notes: Notes,
    pub(crate) stored_centers: Option<StoredCenters>,
    pub(crate) stored_mush: Option<StoredMush>,
    document: Option<Document>,
}

/// Formats of characters that are not glTF.
const OTHER_FORMATS: [&str; 10] = [
    "obj", "fbx", "dae", "blend", "usd", "usda", "usdc", "usdz", "ply", "stl",
];

/// Says what to do with a file in another format, before its bytes make no sense as glTF.
fn refuse_other_formats(file: &Path) -> Result<(), Failure> {
    let ending = extension(file);
    if !OTHER_FORMATS.contains(&ending.as_str()) {
        return Ok(());
    }
    let message = format!(
        "{} is not glTF, the format that Supple reads",
        quoted(&file.to_string_lossy())
    );
    let hint = match ending.as_str() {
        "obj" | "ply" | "stl" => {
            "this format holds no skeleton: load it in a 3D program, add one, and export .glb"
        }
        _ => "export it as .glb, for example from Blender: File > Export > glTF 2.0",
    };
    Err(Failure::new(message).hint(hint))
}

impl Source {
    pub(crate) fn open(file: &Path) -> Result<Source, Failure> {
        match file.to_str().and_then(|file| file.strip_prefix('@')) {
            Some(spec) => Source::built_in(spec),
            None => {
                refuse_other_formats(file)?;
                Ok(Source::loaded(gltf::load(file)?))
            }
        }
    }

    fn loaded(loaded: Loaded) -> Source {
        Source {
            asset: loaded.asset,
            notes: loaded.notes,
            stored_centers: loaded.stored_centers,
            stored_mush: loaded.stored_mush,
            document: Some(loaded.document),
        }
    }

    fn built_in(spec: &str) -> Result<Source, Failure> {
        let (character, vertices) = parse_character(spec).map_err(Failure::usage)?;
        let spinner = progress::spinner(&format!("building @{}", character.name()));
        let asset = characters::build(character, vertices)?;
        spinner.finish_and_clear();
        Ok(Source {
            asset,
            notes: Notes::default(),
            stored_centers: None,
            stored_mush: None,
            document: None,
        })
    }

    /// Pseudo-edges between joints, if the file has point handles.
    pub(crate) fn pseudo_edges(&self) -> Vec<[usize; 2]> {
        let document = self.document.as_ref();
        document.map_or_else(Vec::new, Document::pseudo_edges)
    }

    /// Invalid pseudo-edges of the file.
    pub(crate) fn bad_pseudo_edges(&self) -> Vec<BadEdge> {
        let document = self.document.as_ref();
        document.map_or_else(Vec::new, Document::bad_pseudo_edges)
    }

    /// The document of the file, or a new one for a built-in character.
    pub(crate) fn document(&self) -> Result<Cow<'_, Document>, Failure> {
        match &self.document {
            Some(document) => Ok(Cow::Borrowed(document)),
            None => Ok(Cow::Owned(Document::from_asset(&self.asset)?)),
        }
    }

    /// The character and its document. Built-in characters are rounded as in a file, so that bakes
    /// fit what is written.
    pub(crate) fn with_document(self) -> Result<(Source, Document), Failure> {
        if let Some(document) = &self.document {
            let document = document.clone();
            return Ok((self, document));
        }
        let loaded = Document::from_asset(&self.asset)?.read(&self.asset.name)?;
        let document = loaded.document.clone();
        Ok((Source::loaded(loaded), document))
    }

    /// The document with repaired weights.
    pub(crate) fn into_document(self) -> Result<Document, Failure> {
        let Some(mut document) = self.document else {
            return Ok(Document::from_asset(&self.asset)?);
        };
        document.set_weights(self.asset.rig.weights())?;
        Ok(document)
    }

    /// The name of a joint, or its number in the order of the file.
    pub(crate) fn joint_label(&self, joint: usize) -> String {
        let order = self.joints_in_file_order();
        wording::joint_label(self.asset.rig.skeleton(), &order, joint)
    }

    /// The names of joints, the first dozen of them.
    pub(crate) fn named(&self, joints: &[usize]) -> String {
        const MOST: usize = 12;
        let shown = joints.iter().take(MOST);
        let mut names: Vec<String> = shown.map(|&joint| self.joint_label(joint)).collect();
        if joints.len() > MOST {
            names.push(format!("and {} more", joints.len() - MOST));
        }
        names.join(", ")
    }

    /// A message about joints whose bind matrix cannot be inverted.
    pub(crate) fn bound_flat(&self, joints: &[usize]) -> String {
        format!(
            "{} with a bind matrix that cannot be inverted: {}",
            wording::many(joints.len(), "joint"),
            self.named(joints)
        )
    }

    /// The mesh that a vertex belongs to, if there are several.
    pub(crate) fn mesh_of(&self, vertex: usize) -> Option<&str> {
        let parts = &self.asset.parts;
        let several = parts.iter().any(|part| part.name != parts[0].name);
        let mut parts = parts.iter().filter(|_| several);
        let part = parts.find(|part| part.vertices.contains(&vertex));
        part.map(|part| part.name.as_str())
    }

    /// A note about pieces that follow others, as they have no bone or handle of their own.
    pub(crate) fn note_on_followers(&self, report: &BindReport, holder: &str) -> Option<String> {
        let first = report.followers.first()?.vertex;
        let of_mesh = self.mesh_of(first);
        let of_mesh = of_mesh.map(|name| format!(" of mesh {}", quoted(name)));
        Some(format!(
            "note: {} of {} without a {holder} follow the nearest others \
             (the first has vertex {first}{})",
            report.followers.len(),
            wording::many(report.pieces, "piece"),
            of_mesh.unwrap_or_default(),
        ))
    }

    /// True if the file has no weights, so that every vertex is bound to the root of its skin or to
    /// its own node.
    pub(crate) fn has_no_weights(&self) -> bool {
        let vertices = self.asset.rig.mesh().vertex_count();
        self.notes.unskinned || self.notes.weights.without_weights == vertices
    }

    /// Notes about stored bakes that no longer fit once the weights of the file change.
    pub(crate) fn notes_on_stale_bakes(&self) -> Vec<String> {
        let baked = [
            (self.stored_centers.is_some(), "centers of rotation", "cor"),
            (
                self.stored_mush.is_some(),
                "data of direct delta mush",
                "ddm",
            ),
        ];
        let baked = baked.into_iter().filter(|(stored, ..)| *stored);
        let note = |(_, what, method)| {
            format!(
                "note: the {what} in the file no longer fit its weights; \
                 'supple bake -m {method}' stores new ones"
            )
        };
        baked.map(note).collect()
    }

    /// Warns about faulty weights that are kept in the written file.
    pub(crate) fn warn_of_kept_weights(&self) {
        let vertices = self.asset.rig.mesh().vertex_count();
        let flaws = weight_flaws(&self.notes.weights, vertices);
        if flaws.is_empty() {
            return;
        }
        let found: Vec<String> = flaws.into_iter().map(|flaw| flaw.found).collect();
        console::eprint(&format!(
            "warning: faulty weights are kept as they are: {}; 'supple convert' repairs them",
            found.join(", ")
        ));
    }

    /// The nodes of twist joints added by `supple twist`.
    pub(crate) fn twist_joints(&self) -> Vec<usize> {
        let document = self.document.as_ref();
        document.map(Document::twist_joints).unwrap_or_default()
    }

    /// The nodes and drivers of twist joints added by `supple twist`.
    pub(crate) fn twist_drivers(&self) -> Vec<(usize, TwistDriver)> {
        let document = self.document.as_ref();
        document.map(Document::twist_drivers).unwrap_or_default()
    }

    /// The skeleton's joint for each joint in the order of `--palette` files.
    pub(crate) fn joints_in_file_order(&self) -> Vec<usize> {
        match &self.document {
            Some(document) => document.joints_in_file_order().to_vec(),
            None => (0..self.asset.rig.skeleton().joints().len()).collect(),
        }
    }
}
