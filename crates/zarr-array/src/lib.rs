#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cpu;
mod element;
mod error;
mod handles;
mod io;
pub mod node;
mod plan;
mod select;
mod settings;
mod values;

#[cfg(feature = "chrono")]
pub use chrono;
#[cfg(feature = "dlpack")]
pub use dlpk;
#[cfg(feature = "half")]
pub use half;
#[cfg(feature = "jiff")]
pub use jiff;
#[cfg(feature = "ndarray")]
pub use ndarray;
#[cfg(feature = "num-complex")]
pub use num_complex;
#[cfg(feature = "bytemuck")]
pub use zarr_strided::bytemuck;

pub use zarr_engine::Chain;
pub use zarr_engine::run::{Amount, Progress, Spawn, clock};
pub use zarr_meta::{self as meta, ArrayMeta, Diagnostic, Format, codecs, types as data_types};
pub use zarr_traits::{
    self as traits, DataType, Fetching, FillValue, Limits, Located, Region, Registry, Storage, block_on,
    update::InnerOrder,
};

pub use cpu::Cpu;
pub use element::any::AnyArray;
pub use element::borrowed::{ArrayMemory, ArrayValues};
pub use element::rows::Rows;
#[doc(hidden)]
pub use element::rows::{check_field, is_struct, struct_of_fields, type_of_field};
#[cfg(feature = "bytemuck")]
#[doc(hidden)]
pub use element::rows::{check_place, fits_raw, fits_struct};
pub use element::{Element, Form, SmallFloat, WriteElement, data_type_of};
pub use error::{ArrayError, ArrayErrorKind, ArrayResult};
pub use handles::array::Array;
pub use handles::block_writer::BlockWriter;
pub use handles::blocking;
pub use handles::chunks::{ChunkCheck, StorageInfo, StoredChunk};
pub use handles::create::CreateOptions;
pub use handles::explain::{Explanation, InnerChunk};
pub use handles::lazy::LazyView;
pub use handles::open::OpenOptions;
pub use handles::resize::CutElements;
pub use io::chunk_cache::{ChunkCache, ChunkCacheCounts};
pub use node::{ConsolidatedPolicy, ExistingNode};
pub use plan::chunks::{Chunk, Chunks};
pub use select::{Axis, Selection};
pub use settings::{EmptyChunks, MissingChunks, PartialWrites};
#[cfg(feature = "columns")]
pub use values::{Column, ColumnType, ColumnUnit};
pub use values::{NdVec, Position};
#[cfg(feature = "bytemuck")]
#[doc(hidden)]
pub use zarr_strided::PlainPod;
pub use zarr_strided::{Plain, View, ViewMut};

/// Returns the registry of all extensions of this crate: the core, the registered chunk grids, the data types of
/// zarr-meta and the standard codecs. It is made once, so a call costs no more than a clone.
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub fn standard() -> Registry {
    static STANDARD: std::sync::LazyLock<Registry> = std::sync::LazyLock::new(|| {
        let registry = Registry::core()
            .overriding(zarr_meta::GRIDS)
            .overriding(zarr_meta::DATA_TYPES)
            .overriding(zarr_codecs_core::CODECS)
            .overriding(&[zarr_codec_sharding::ENTRY]);
        #[cfg(feature = "zfp")]
        let registry = registry.overriding(zarr_codec_zfp::CODECS);
        registry
    });
    STANDARD.clone()
}
