//! A document as the bytes of a self-contained file.

use super::container::{self, CHUNK_BIN, CHUNK_JSON, MAGIC};
use super::store::remove_extensions;
use super::{Document, SaveError};
use crate::read::read_regular;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compression of buffer views, of which Supple reads and writes the uncompressed copy.
const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

impl Document {
    /// Writes the document as a `.glb`, with one buffer and embedded images.
    ///
    /// # Errors
    ///
    /// If the file would be larger than a `.glb` can be.
    pub fn to_glb(&self) -> Result<Vec<u8>, SaveError> {
        let (mut json, bin) = self.self_contained();
        if !bin.is_empty() {
            json["buffers"][0]["byteLength"] = json!(bin.len());
        }
        let text = json.to_string().into_bytes();
        let mut chunks = vec![(CHUNK_JSON, padded(text, b' '))];
        if !bin.is_empty() {
            chunks.push((CHUNK_BIN, padded(bin, 0)));
        }
        let extra = self.extra_chunks.iter().cloned();
        chunks.extend(extra.map(|(kind, content)| (kind, padded(content, 0))));
        let length = 12
            + chunks
                .iter()
                .map(|(_, content)| 8 + content.len() as u64)
                .sum::<u64>();
        let length = u32::try_from(length).map_err(|_| SaveError::TooLarge(length))?;
        let mut out = Vec::with_capacity(length as usize);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&2u32.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        for (kind, content) in chunks {
            out.extend_from_slice(&(content.len() as u32).to_le_bytes());
            out.extend_from_slice(&kind.to_le_bytes());
            out.extend_from_slice(&content);
        }
        Ok(out)
    }

    /// Writes the document as a `.gltf` that needs no other file: the buffer is a data URI, and
    /// images are embedded.
    pub fn to_gltf(&self) -> Vec<u8> {
        let (mut json, bin) = self.self_contained();
        if !bin.is_empty() {
            json["buffers"][0]["byteLength"] = json!(bin.len());
            let encoded = STANDARD.encode(bin);
            json["buffers"][0]["uri"] =
                json!(format!("data:application/octet-stream;base64,{encoded}"));
        }
        format!("{json:#}\n").into_bytes()
    }

    /// The JSON and one buffer that need no other file, if all images can be found.
    fn self_contained(&self) -> (Value, Vec<u8>) {
        let mut whole = self.clone();
        whole.embed_images();
        let mut bin: Vec<u8> = Vec::new();
        // Buffers that name the same file share its bytes, here too.
        let mut start_of: HashMap<*const Vec<u8>, u64> = HashMap::new();
        let mut starts = Vec::with_capacity(whole.buffers.len());
        for buffer in &whole.buffers {
            let start = *start_of.entry(Arc::as_ptr(buffer)).or_insert_with(|| {
                bin.resize(bin.len().next_multiple_of(4), 0);
                let start = bin.len() as u64;
                bin.extend_from_slice(buffer);
                start
            });
            starts.push(start);
        }
        let mut json = whole.json;
        let views = json["bufferViews"].as_array_mut();
        for view in views.into_iter().flatten() {
            // The uncompressed data was read; compressed copies would point to the wrong buffer.
            remove_extensions(view, &MESHOPT);
            let buffer = view["buffer"].as_u64().unwrap_or(0) as usize;
            let start = starts.get(buffer).copied().unwrap_or(0);
            let offset = view["byteOffset"]
                .as_u64()
                .unwrap_or(0)
                .saturating_add(start);
            view["buffer"] = json!(0);
            if offset > 0 {
                view["byteOffset"] = json!(offset);
            }
        }
        if let Some(buffers) = json["buffers"].as_array_mut() {
            buffers.truncate(1);
            for first in buffers {
                remove_extensions(first, &MESHOPT);
                if let Some(first) = first.as_object_mut() {
                    first.shift_remove("uri");
                }
            }
        }
        let is_listed = |key: &str| json[key].as_array().is_some_and(|list| !list.is_empty());
        if bin.is_empty() && is_listed("buffers") && is_listed("bufferViews") {
            // Empty views still name a buffer, so that it cannot be left out.
            bin.resize(4, 0);
        }
        // Indexing a missing key for writing leaves null behind.
        if let Some(root) = json.as_object_mut() {
            root.retain(|_, value| !value.is_null());
            if bin.is_empty() {
                root.shift_remove("buffers");
            }
        }
        (json, bin)
    }

    /// Embeds image files that lie beside the original, since the new file may lie elsewhere.
    ///
    /// Returns the addresses of images that stay links: those that are missing, lie outside of the
    /// original's folder, or have an unknown type.
    pub fn embed_images(&mut self) -> Vec<String> {
        let mut links = Vec::new();
        let count = self.json["images"].as_array().map_or(0, Vec::len);
        // Several images may name the same file; it is embedded once.
        let mut view_of: HashMap<PathBuf, usize> = HashMap::new();
        for index in 0..count {
            let uri = self.json["images"][index]["uri"].as_str();
            let Some(uri) = uri
                .filter(|uri| !container::is_data_uri(uri))
                .map(str::to_owned)
            else {
                continue;
            };
            let given = self.json["images"][index]["mimeType"].as_str();
            let mime = given.or_else(|| image_type(&uri)).map(str::to_owned);
            let path = container::resolve_uri(&uri, self.folder.as_deref());
            let (Some(mime), Ok(path)) = (mime, path) else {
                links.push(uri);
                continue;
            };
            let view = match view_of.get(&path) {
                Some(&view) => view,
                None => {
                    let Ok(bytes) = read_regular(&path) else {
                        links.push(uri);
                        continue;
                    };
                    let view = self.append_bytes(&bytes, None);
                    view_of.insert(path, view);
                    view
                }
            };
            if let Some(image) = self.json["images"][index].as_object_mut() {
                image.shift_remove("uri");
                image.insert("mimeType".to_owned(), json!(mime));
                image.insert("bufferView".to_owned(), json!(view));
            }
        }
        links
    }
}

fn image_type(uri: &str) -> Option<&'static str> {
    let extension = Path::new(uri).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ktx2" => "image/ktx2",
        _ => return None,
    })
}

fn padded(mut bytes: Vec<u8>, with: u8) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), with);
    bytes
}
