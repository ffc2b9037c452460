//! The array that is raced for.

use std::path::Path;

use anyhow::Result;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, standard};
use zarr_store_fs::FsStore;

use crate::Layout;
use crate::plan::SIDE;

/// Makes an array of four chunks, or of four shards with 16 inner chunks each.
pub(crate) fn create(directory: &Path, layout: Layout) -> Result<Array> {
    let meta = ArrayMeta::builder([SIDE, SIDE], DataType::Int64)
        .fill(0)
        .codecs([Extension::new("zstd").with("level", 1).with("checksum", false)]);
    let half = SIDE / 2;
    let meta = match layout {
        Layout::Chunk => meta.chunks([half, half]),
        Layout::Shard => meta.chunks([half / 4, half / 4]).shards([half, half]),
    };
    Ok(Array::create(FsStore::create(directory)?, "/", meta.build()?, &standard())?)
}

/// Opens it as a process of its own does.
pub(crate) fn open(directory: &Path) -> Result<Array> {
    Ok(Array::open(FsStore::open(directory)?, "/", &standard())?)
}
