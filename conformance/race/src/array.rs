//! The array that the writers share.

use anyhow::Result;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, Storage, standard};

use crate::plan::{CHUNK, INNER, SIDE};

/// How the array is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Chunks without compression, so that a value of the wrong length is also found.
    Chunk,
    /// Shards of compressed chunks, which move whenever one of them changes its length.
    Shard,
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Shard => "shard",
        }
    }
}

pub(crate) fn create(store: Storage, layout: Layout) -> Result<Array> {
    let array = ArrayMeta::builder([SIDE, SIDE], DataType::UInt32);
    let meta = match layout {
        Layout::Chunk => array.chunks([CHUNK, CHUNK]),
        Layout::Shard => {
            let zstd = Extension::new("zstd").with("level", 1).with("checksum", false);
            array.chunks([INNER, INNER]).shards([CHUNK, CHUNK]).codecs([zstd])
        }
    };
    Ok(Array::create(store, "/", meta.build()?, &standard())?)
}

pub(crate) fn open(storage: Storage) -> Result<Array> {
    Ok(Array::open(storage, "/", &standard())?)
}
