//! The extensions of the core specification that need no other crate.

use std::sync::Arc;

use crate::error::{CodecError, CodecResult};
use crate::grid::{ChunkGrid, RegularGrid};
use crate::key_encoding::CoreKeyEncoding;

use super::configuration::Configuration;
use super::note::NoteKind;
use super::registry::{ChunkGridEntry, Context, Entry, KeyEncodingEntry, Registry};

/// The chunk grid `regular`.
pub const REGULAR: ChunkGridEntry = ChunkGridEntry::new("regular", build_regular);

/// The chunk key encoding `default`.
pub const DEFAULT: KeyEncodingEntry = KeyEncodingEntry::new("default", |configuration, _| {
    Ok(Arc::new(CoreKeyEncoding::default_with(separator(configuration, '/')?)))
});

/// The chunk key encoding `v2`.
pub const V2: KeyEncodingEntry = KeyEncodingEntry::new("v2", |configuration, _| {
    Ok(Arc::new(CoreKeyEncoding::v2_with(separator(configuration, '.')?)))
});

impl Registry {
    /// Returns the extensions of the core specification that need no other crate: the `regular` grid and the `default`
    /// and `v2` chunk key encodings. The core data types are always known.
    pub fn core() -> Self {
        Self::empty().overriding(&[
            Entry::ChunkGrid(REGULAR),
            Entry::KeyEncoding(DEFAULT),
            Entry::KeyEncoding(V2),
        ])
    }
}

fn build_regular(
    configuration: &mut Configuration<'_>,
    shape: &[u64],
    _: &Context<'_>,
) -> CodecResult<Arc<dyn ChunkGrid>> {
    let mut chunk = configuration.lengths("chunk_shape")?;
    if chunk.len() != shape.len() {
        return Err(CodecError::configuration(format!(
            "chunk_shape has {} dimensions, the array has {}",
            chunk.len(),
            shape.len()
        )));
    }
    for (dim, (chunk, length)) in chunk.iter_mut().zip(shape).enumerate() {
        // Zarr v3 core 3.0 allowed 0 for an empty dimension, and zarr-python wrote it.
        if *chunk == 0 && *length == 0 {
            configuration.note_as(
                NoteKind::ZeroChunk,
                "chunk_shape",
                format!("chunk_shape[{dim}] is 0, read as 1"),
            );
            *chunk = 1;
        }
    }
    Ok(Arc::new(RegularGrid::new(chunk)?))
}

fn separator(configuration: &mut Configuration<'_>, default: char) -> CodecResult<char> {
    match configuration.optional_string("separator")?.as_deref() {
        None => Ok(default),
        Some("/") => Ok('/'),
        Some(".") => Ok('.'),
        Some(other) => {
            Err(CodecError::configuration(format!("separator is {other:?}, it must be \"/\" or \".\"")))
        }
    }
}
