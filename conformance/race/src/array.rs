//! The arrays that writers share.

use anyhow::Result;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, Storage, standard};

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

/// The shapes of an array, of its chunks or shards, and of the inner chunks of shards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes {
    pub(crate) array: [u64; 2],
    pub(crate) chunk: [u64; 2],
    pub(crate) inner: [u64; 2],
}

pub(crate) fn create(store: Storage, layout: Layout, data_type: DataType, shapes: Shapes) -> Result<Array> {
    let array = ArrayMeta::builder(shapes.array, data_type);
    let meta = match layout {
        Layout::Chunk => array.chunks(shapes.chunk),
        Layout::Shard => {
            let zstd = Extension::new("zstd").with("level", 1).with("checksum", false);
            array.chunks(shapes.inner).shards(shapes.chunk).codecs([zstd])
        }
    };
    Ok(Array::create(store, "/", meta.build()?, &standard())?)
}

pub(crate) fn open(storage: Storage) -> Result<Array> {
    Ok(Array::open(storage, "/", &standard())?)
}
