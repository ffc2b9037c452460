#![doc = include_str!("../README.md")]

pub mod cause;
pub mod codec;
mod dtype;
mod error;
pub mod extension;
mod fill;
mod future;
mod grid;
pub mod heap;
pub mod kernel;
mod key;
mod key_encoding;
mod limits;
pub mod lock;
pub mod partial;
mod point;
mod range;
mod region;
mod scratch;
mod storage;
pub mod store;
mod transformer;
pub mod update;
mod version;

pub use bytes::Bytes;
pub use zarr_json::{self as json, json};
pub use zarr_number as number;
pub use zarr_strided as strided;

pub use dtype::{DataType, ExtensionType, Layout};
pub use error::{CodecError, CodecErrorKind, CodecResult, StoreError, StoreErrorKind, StoreResult};
pub use extension::registry::Registry;
pub use fill::FillValue;
pub use future::{BoxFuture, block_on};
pub use grid::{ChunkGrid, ChunkRun, RegularGrid};
pub use key::{Key, Prefix};
pub use key_encoding::{CoreKeyEncoding, KeyEncoding};
pub use limits::Limits;
pub use range::{ByteRange, Fetching, Span};
pub use region::Region;
pub use scratch::{Buffer, Scratch};
pub use storage::{Located, Reply, Storage, StoreId};
pub use transformer::StorageTransformer;
pub use version::Version;
