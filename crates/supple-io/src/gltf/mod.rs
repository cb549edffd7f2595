//! glTF 2.0 in and out.
//!
//! [`load`] gives the character ([`supple::Asset`]) and the [`Document`] that it came from. The
//! document keeps the file's JSON and buffers; writing changes only what was changed on purpose.
//!
//! A *character* is every node that has a mesh and a skin, in node order, primitives in order.
//! Skins that bind the same node by the same matrix share its joint. Meshes without a skin are
//! props, which follow their node. In a file without any skin, every mesh node becomes a joint that
//! carries its own mesh.
//!
//! | to write | use |
//! | --- | --- |
//! | a character that did not come from a file | [`Document::from_asset`] |
//! | other weights | [`Document::set_weights`], [`Document::set_binding`] |
//! | the nodes in a pose | [`Document::set_pose`] |
//! | the deformed surface as a static mesh | [`Document::posed`] |
//! | the deformed surface over time, as morph targets | [`Document::morph_sequence`] |
//! | centers of rotation | [`Document::set_centers`] |
//! | a bake of direct delta mush | [`Document::set_mush`], [`Document::set_skin_of_mush`] |
//! | a twist joint | [`Document::add_twist_joint`] |
//! | point handles instead of bones | [`Document::with_point_handles`] |
//!
//! Then [`Document::to_glb`] or [`Document::to_gltf`] gives the bytes of the file, and
//! [`Document::read`] the changed character without writing it. A change that fails leaves the
//! document as it was.

mod accessor;
#[cfg(feature = "bind")]
mod bind_groups;
mod binding;
mod build;
mod centers;
mod clips;
mod compact;
mod container;
mod document;
mod elements;
mod extras;
mod fault;
mod file;
#[cfg(feature = "bind")]
mod handles;
mod joints;
mod load;
mod morph_sequence;
mod mush;
mod mush_errors;
mod notes;
mod packed_mush;
mod pose;
mod primitives;
mod read;
mod save;
mod save_error;
mod shape;
mod skins;
mod store;
mod stored;
mod surface;
mod tree;
mod twist;
mod weights;

pub use centers::{CENTER_ATTRIBUTE, StoredCenters};
pub use document::Document;
#[cfg(feature = "bind")]
pub use handles::BadEdge;
pub use load::{Loaded, from_slice, load};
pub use morph_sequence::MorphSequence;
pub use mush::{MUSH_EXTENSION, StoredMush};
pub use mush_errors::MushErrors;
pub use notes::Notes;
pub use save_error::SaveError;
pub use stored::StoredState;
