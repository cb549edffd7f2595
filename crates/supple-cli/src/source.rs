//! Where characters come from: a file, or `@name` for a built-in one.

use crate::failure::Failure;
use crate::progress;
use std::borrow::Cow;
use std::path::Path;
use supple::Asset;
use supple::characters::{self, CharacterSpec};
use supple_io::gltf::{self, Document, Notes};

/// A character, and its file if it has one.
pub(crate) struct Source {
    pub(crate) asset: Asset,
    pub(crate) notes: Notes,
    document: Option<Document>,
}

impl Source {
    pub(crate) fn open(file: &Path) -> Result<Source, Failure> {
        match file.to_str().and_then(|file| file.strip_prefix('@')) {
            Some(spec) => Source::built_in(spec),
            None => {
                let loaded = gltf::load(file)?;
                Ok(Source {
                    asset: loaded.asset,
                    notes: loaded.notes,
                    document: Some(loaded.document),
                })
            }
        }
    }

    fn built_in(spec: &str) -> Result<Source, Failure> {
        let spec: CharacterSpec = spec
            .parse()
            .map_err(|error| Failure::usage(format!("{error}")))?;
        let spinner = progress::spinner(&format!("building @{}", spec.character.name()));
        let asset = characters::build(spec.character, spec.vertices)?;
        spinner.finish_and_clear();
        Ok(Source {
            asset,
            notes: Notes::default(),
            document: None,
        })
    }

    /// The file, or for a built-in character a new one.
    pub(crate) fn document(&self) -> Result<Cow<'_, Document>, Failure> {
        match &self.document {
            Some(document) => Ok(Cow::Borrowed(document)),
            None => Ok(Cow::Owned(Document::from_asset(&self.asset)?)),
        }
    }

    /// The file with the character's clean weights.
    pub(crate) fn into_document(self) -> Result<Document, Failure> {
        let Some(mut document) = self.document else {
            return Ok(Document::from_asset(&self.asset)?);
        };
        document.set_weights(self.asset.rig.weights())?;
        Ok(document)
    }

    /// The skeleton's joint for each joint in the order of `--palette` files.
    pub(crate) fn joints_in_file_order(&self) -> Vec<usize> {
        match &self.document {
            Some(document) => document.joints_in_file_order().to_vec(),
            None => (0..self.asset.rig.skeleton().joints().len()).collect(),
        }
    }
}
