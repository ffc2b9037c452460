#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod ahead;
mod array;
#[cfg(feature = "arrow")]
mod arrow;
mod back_off;
mod block_writer;
pub mod blocking;
mod chunk_cache;
mod chunks;
pub mod clock;
mod core;
mod cpu;
mod create;
mod decode;
mod direct;
mod element;
mod encoding;
mod error;
mod explain;
mod feed;
mod fetch;
mod handle;
mod lazy;
mod loaded;
mod many;
mod memory;
mod metadata;
pub mod node;
mod open;
mod opened;
mod outside;
mod pick;
mod plan;
mod progress;
mod read;
mod recode;
mod resize;
mod rows;
mod select;
mod target;
mod values;
mod versioned;
mod write;

pub use zarr_meta::{self as meta, ArrayMeta, Diagnostic, Format, codecs, types as data_types};
pub use zarr_traits::{
    self as traits, DataType, Fetching, FillValue, Limits, Region, Registry, Storage, block_on,
    update::InnerOrder,
};

pub use array::Array;
pub use block_writer::BlockWriter;
pub use chunk_cache::ChunkCache;
pub use chunks::{Chunk, ChunkCheck, Chunks, StorageInfo, StoredChunk};
pub use core::{EmptyChunks, MissingChunks, PartialWrites};
pub use cpu::{Cpu, Job, Spawn};
pub use create::CreateOptions;
pub use element::{Element, Form, SmallFloat, WriteElement, data_type_of};
pub use error::{ArrayError, ArrayErrorKind, ArrayResult};
pub use explain::{Explanation, InnerChunk};
pub use lazy::LazyView;
pub use memory::{ArrayMemory, ArrayValues};
pub use node::{Consolidated, ExistingNode};
pub use open::OpenOptions;
pub use progress::{Amount, Progress};
pub use resize::CutElements;
pub use rows::Rows;
#[doc(hidden)]
pub use rows::{check_field, is_struct, struct_of_fields, type_of_field};
#[cfg(feature = "bytemuck")]
#[doc(hidden)]
pub use rows::{check_place, fits_raw, fits_struct};
pub use select::{Axis, Position, Selection};
pub use values::{AnyArray, NdVec};
#[cfg(feature = "bytemuck")]
#[doc(hidden)]
pub use zarr_strided::PlainPod;
pub use zarr_strided::{Plain, View, ViewMut};

/// Returns a registry of all extensions of this crate: the core, the registered chunk grids, the data types of
/// zarr-meta and the standard codecs.
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub fn standard() -> Registry {
    let registry = Registry::core()
        .overriding(zarr_meta::GRIDS)
        .overriding(zarr_meta::DATA_TYPES)
        .overriding(zarr_codecs_core::CODECS)
        .overriding(&[zarr_codec_sharding::ENTRY]);
    #[cfg(feature = "zfp")]
    let registry = registry.overriding(zarr_codec_zfp::CODECS);
    registry
}
