//! Extensions by name: how one is registered, found and built. **For authors of codecs, data types, chunk grids, chunk
//! key encodings and storage transformers.**
//!
//! A metadata document names an extension and has its configuration: a [`Spec`]. An [`Entry`] has the names of an
//! extension and the function that builds it from its [`Configuration`]. A [`Registry`](crate::Registry) holds the entries. The
//! traits of the extensions are in other modules, which do not know this one.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_traits::extension::{ChunkGridEntry, Entry};
//! use zarr_traits::{CodecError, Registry, RegularGrid};
//!
//! const EVERY_HUNDRED: Entry = Entry::ChunkGrid(ChunkGridEntry::new("example.hundred", |_, shape, _| {
//!     Ok(Arc::new(RegularGrid::new(vec![100; shape.len()])?))
//! }));
//! let registry = Registry::core().with(&[EVERY_HUNDRED])?;
//! # Ok::<(), CodecError>(())
//! ```

mod configuration;
pub mod core;
mod entry;
mod nested;
mod note;
pub(crate) mod registry;
mod spec;

pub use self::configuration::Configuration;
pub use self::entry::NamedEntry;
pub use self::note::{Note, NoteKind};
pub use self::registry::{
    BuildCodec, BuildCodecShared, ChunkGridEntry, CodecEntry, Context, DataTypeEntry, Entry, EntryOf,
    KeyEncodingEntry, TransformerEntry,
};
pub use self::spec::{Spec, is_private, url_names};
pub use crate::point::ExtensionPoint;
