#![doc = include_str!("../README.md")]

pub mod chain;
pub mod codec;
mod configuration;
mod dtype;
mod error;
mod fill;
mod future;
mod grid;
pub mod heap;
mod key;
mod key_encoding;
mod limits;
pub mod lock;
pub mod partial;
mod range;
mod region;
mod registry;
mod scratch;
mod storage;
pub mod store;
mod transformer;
pub mod update;
mod version;

pub use bytes::Bytes;
pub use serde_json;
pub use zarr_strided as strided;
pub use zarr_strided::{Destination, Dims, Source, Swap};

pub use chain::Chain;
pub use codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecEntry, CodecKind, Configuration, Context,
    EncodedSize, Note, NoteKind, Repr, too_large,
};
pub use dtype::{DataType, DataTypeEntry, ExtensionType, Layout};
pub use error::{CodecError, CodecErrorKind, CodecResult, StoreError, StoreErrorKind, StoreResult};
pub use fill::FillValue;
pub use future::{BoxFuture, MaybeSend, MaybeSync, block_on, ready};
pub use grid::{BuildGrid, ChunkGrid, ChunkGridEntry, RegularGrid};
pub use heap::{Heap, Slot};
pub use key::{Key, Prefix, SEGMENT_MAX};
pub use key_encoding::{CoreKeyEncoding, KeyEncoding, KeyEncodingEntry};
pub use limits::Limits;
pub use partial::{ChunkRead, Hints, InnerPart, Job, Known, Piece, Span};
pub use range::ByteRange;
pub use region::{Region, inverse, permute};
pub use registry::{Entry, Registry, Spec, is_private};
pub use scratch::{Buffer, Scratch};
pub use storage::Storage;
pub use store::{
    Capabilities, Dir, Drive, Filled, If, ListStore, Outcome, Page, Put, ReadStore, Reply, Stat, WriteStore,
};
pub use transformer::{StorageTransformer, TransformerEntry};
pub use update::{ChunkUpdate, Encoded, InnerChunks, InnerOrder, Joined, Picks};
pub use version::Version;
