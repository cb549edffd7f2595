//! The container of a file: GLB chunks, JSON text, and the buffers that it names.

use super::elements::section;
use super::fault::Fault;
use super::shape;
use crate::read::read_regular;
use crate::text::{quoted, shortened};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub(super) const MAGIC: &[u8; 4] = b"glTF";
pub(super) const CHUNK_JSON: u32 = 0x4E4F_534A;
pub(super) const CHUNK_BIN: u32 = 0x004E_4942;

/// The content of a buffer; several buffers may be one file.
type Bytes = Arc<Vec<u8>>;

/// A file's JSON and its buffers, each at least as long as it claims.
pub(super) struct Container {
    pub(super) json: Value,
    pub(super) buffers: Vec<Bytes>,
    pub(super) extra_chunks: Vec<(u32, Vec<u8>)>,
    /// The bytes of the file and of every other file that it names, each counted once.
    pub(super) byte_count: u64,
}

/// Opens a `.glb`, which its first four bytes identify, or a `.gltf`.
pub(super) fn open(bytes: &[u8], folder: Option<&Path>) -> Result<Container, Fault> {
    let mut chunks = Chunks::default();
    let text = if bytes.starts_with(MAGIC) {
        chunks = split_glb(bytes)?;
        chunks.json
    } else {
        bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
    };
    let json: Value = serde_json::from_slice(text).map_err(|error| {
        let place = format!("JSON line {} column {}", error.line(), error.column());
        let hint = if bytes.len() < 12 || !text.starts_with(b"{") {
            " (this does not look like a glTF file)"
        } else {
            ""
        };
        Fault::new(place, format!("{}{hint}", without_position(&error)))
    })?;
    shape::check(&json)?;
    match json.pointer("/asset/version").and_then(Value::as_str) {
        Some(version) if version.starts_with("2.") || version == "2" => {}
        Some(version) => {
            let version = shortened(version);
            let problem = format!("glTF {version} is not supported, only 2.x");
            return Err(Fault::new("asset.version", problem));
        }
        None => return Err(Fault::new("asset.version", "missing: not a glTF 2.0 file")),
    }
    let (buffers, external) = read_buffers(&json, chunks.bin, folder)?;
    Ok(Container {
        json,
        buffers,
        extra_chunks: chunks.extra,
        byte_count: (bytes.len() as u64).saturating_add(external),
    })
}

/// The message of serde_json without " at line …", which is reported separately.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[derive(Default)]
struct Chunks<'a> {
    json: &'a [u8],
    bin: Option<&'a [u8]>,
    extra: Vec<(u32, Vec<u8>)>,
}

/// Splits a GLB into its chunks, checking each length against the bytes that are there.
fn split_glb(bytes: &[u8]) -> Result<Chunks<'_>, Fault> {
    let word = |at: usize| -> Result<u32, Fault> {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        let missing = || Fault::new(format!("byte {at}"), "the file ends inside a header");
        Ok(u32::from_le_bytes(word.ok_or_else(missing)?))
    };
    let version = word(4)?;
    if version != 2 {
        let problem = format!("GLB version {version} is not supported, only 2");
        return Err(Fault::new("byte 4", problem));
    }
    let length = word(8)? as usize;
    if length > bytes.len() {
        let problem = format!(
            "the header claims {length} bytes, but the file has {}: it was cut off",
            bytes.len()
        );
        return Err(Fault::new("byte 8", problem));
    }
    let mut chunks = Chunks::default();
    let mut at = 12;
    let mut index = 0;
    while at < length {
        let claimed = word(at)? as usize;
        let kind = word(at + 4)?;
        let start = at + 8;
        let Some(content) = start
            .checked_add(claimed)
            .and_then(|end| bytes[..length].get(start..end))
        else {
            let problem = format!(
                "chunk {index} claims {claimed} bytes, but {} are left",
                length.saturating_sub(start)
            );
            return Err(Fault::new(format!("byte {at}"), problem));
        };
        match (index, kind) {
            (0, CHUNK_JSON) => chunks.json = content,
            (0, _) => {
                return Err(Fault::new(
                    format!("byte {}", at + 4),
                    "the first chunk is not JSON",
                ));
            }
            (1, CHUNK_BIN) => chunks.bin = Some(content),
            _ => chunks.extra.push((kind, content.to_vec())),
        }
        at = start + claimed;
        index += 1;
    }
    if index == 0 {
        return Err(Fault::new("byte 12", "there is no JSON chunk"));
    }
    Ok(chunks)
}

/// The content of every buffer, and how many bytes came from other files.
fn read_buffers(
    json: &Value,
    bin: Option<&[u8]>,
    folder: Option<&Path>,
) -> Result<(Vec<Bytes>, u64), Fault> {
    let buffers = section::<gltf_json::Buffer>(json, "buffers")?;
    // Several buffers may name the same file; it is read once.
    let mut files: HashMap<PathBuf, Bytes> = HashMap::new();
    let mut result = Vec::with_capacity(buffers.len());
    for (index, buffer) in buffers.iter().enumerate() {
        let place = format!("buffers[{index}]");
        let content = match &buffer.uri {
            None if index == 0 && bin.is_some() => Arc::new(bin.unwrap_or_default().to_vec()),
            None => {
                return Err(Fault::new(
                    place,
                    "no URI, and the file has no BIN chunk for it",
                ));
            }
            Some(uri) if is_data_uri(uri) => {
                Arc::new(decode_data_uri(uri).map_err(|problem| Fault::new(&place, problem))?)
            }
            Some(uri) => {
                let path =
                    resolve_uri(uri, folder).map_err(|problem| Fault::new(&place, problem))?;
                match files.get(&path) {
                    Some(content) => content.clone(),
                    None => {
                        let content = read_regular(&path).map_err(|error| {
                            Fault::new(&place, format!("{}: {error}", quoted(uri)))
                        })?;
                        let content = Arc::new(content);
                        files.insert(path, content.clone());
                        content
                    }
                }
            }
        };
        if buffer.byte_length.0 > content.len() as u64 {
            let problem = format!(
                "claims {} bytes, but {} are there",
                buffer.byte_length.0,
                content.len()
            );
            return Err(Fault::new(format!("{place}.byteLength"), problem));
        }
        result.push(content);
    }
    let external = files.values().map(|content| content.len() as u64);
    Ok((result, external.fold(0, u64::saturating_add)))
}

pub(super) fn is_data_uri(uri: &str) -> bool {
    uri.get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

fn decode_data_uri(uri: &str) -> Result<Vec<u8>, String> {
    let (header, payload) = uri.split_once(',').ok_or("a data URI without a comma")?;
    let last = header.rsplit_once(';').map(|(_, parameter)| parameter);
    if !last.is_some_and(|last| last.eq_ignore_ascii_case("base64")) {
        return Err("a data URI that is not base64".to_owned());
    }
    STANDARD
        .decode(payload)
        .map_err(|error| format!("a data URI with bad base64: {error}"))
}

/// A relative URI as a path that exists inside the file's own folder, links followed.
pub(super) fn resolve_uri(uri: &str, folder: Option<&Path>) -> Result<PathBuf, String> {
    let decoded = percent_encoding::percent_decode_str(uri)
        .decode_utf8()
        .map_err(|_| format!("{} is not UTF-8", quoted(uri)))?;
    let scheme = decoded.split(['/', '\\']).next().unwrap_or_default();
    if scheme.contains(':') {
        return Err(format!(
            "{} is an address; only files beside this one are read",
            quoted(uri)
        ));
    }
    let relative = Path::new(decoded.as_ref());
    let stays_inside = !decoded.contains(['\\', '\0'])
        && relative
            .components()
            .all(|component| matches!(component, Component::Normal(_) | Component::CurDir));
    let outside = || format!("{} leaves the file's own folder", quoted(uri));
    if decoded.is_empty() || !stays_inside {
        return Err(outside());
    }
    let no_folder = || format!("{} cannot be read without a folder", quoted(uri));
    let folder = folder.ok_or_else(no_folder)?;
    let canonical = |path: &Path| {
        path.canonicalize()
            .map_err(|error| format!("{}: {error}", quoted(uri)))
    };
    let path = canonical(&folder.join(relative))?;
    if !path.starts_with(canonical(folder)?) {
        return Err(outside());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_that_leave_the_folder_or_the_machine_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("out.bin"), b"x").unwrap();
        std::fs::write(folder.path().join("in/a b.bin"), b"x").unwrap();
        let inside = folder.path().join("in");
        assert!(resolve_uri("a%20b.bin", Some(&inside)).is_ok());
        assert!(resolve_uri("./a b.bin", Some(&inside)).is_ok());
        for bad in [
            "../out.bin",
            "%2e%2e/out.bin",
            "/etc/passwd",
            "file:///etc/passwd",
            "https://example.org/a.bin",
            "C:\\a.bin",
            "c:/a.bin",
            "..\\out.bin",
            "a\0b",
            "",
        ] {
            let error = resolve_uri(bad, Some(&inside)).unwrap_err();
            assert!(
                error.contains("leaves the file's own folder") || error.contains("is an address"),
                "{bad}: {error}"
            );
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("out.bin"), inside.join("link.bin"))
                .unwrap();
            let error = resolve_uri("link.bin", Some(&inside)).unwrap_err();
            assert!(error.contains("leaves the file's own folder"));
        }
    }
}
