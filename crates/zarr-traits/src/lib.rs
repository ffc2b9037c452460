#![doc = include_str!("../README.md")]

pub mod chain;
pub mod codec;
mod configuration;
mod dtype;
mod elementwise;
mod error;
mod fill;
mod future;
mod grid;
pub mod heap;
pub mod kernel;
mod key;
mod key_encoding;
mod limits;
pub mod location;
pub mod lock;
mod merge;
mod number;
pub mod partial;
mod pause;
mod range;
mod region;
mod registry;
mod scratch;
mod storage;
pub mod store;
pub mod trace;
mod transformer;
pub mod update;
mod version;

pub use bytes::Bytes;
pub use serde_json;
pub use zarr_strided as strided;
pub use zarr_strided::{Destination, Dims, Source, Swap};

pub use chain::{Chain, Steps};
pub use codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecEntry, CodecKind, Configuration, Context,
    EncodedSize, Note, NoteKind, Repr, too_large, with_dense,
};
pub use dtype::{DataType, DataTypeEntry, ExtensionType, Layout};
pub use elementwise::elementwise;
pub use error::{CodecError, CodecErrorKind, CodecResult, StoreError, StoreErrorKind, StoreResult};
pub use fill::FillValue;
pub use future::{BoxFuture, MaybeSend, MaybeSync, block_on, ready};
pub use grid::{BuildGrid, ChunkGrid, ChunkGridEntry, GRIDS, RectilinearGrid, RegularGrid, Run};
pub use heap::{Heap, Slot};
pub use key::{Key, Prefix, SEGMENT_MAX};
pub use key_encoding::{CoreKeyEncoding, KeyEncoding, KeyEncodingEntry};
pub use limits::Limits;
pub use location::{Access, Located, OpenScheme, Scheme, Schemes};
pub use number::{Beyond, FloatFormat, Numeric, Real, Rounding, low_bits};
pub use partial::{ChunkRead, Hints, InnerPart, Job, Known, Piece, Span};
pub use pause::pause;
pub use range::ByteRange;
pub use region::{Region, inverse, permute};
pub use registry::{Entry, ExtensionPoint, Registry, Spec, is_private, url_names};
pub use scratch::{Buffer, Scratch};
pub use storage::{Reply, Storage};
pub use store::{
    Answer, Capabilities, Delete, Dir, Drive, Head, List, ListDir, Listed, ObjectMeta, Op, Outcome, Page,
    Put, PutMode, Read, ReadBuffer, ReadVersion, Store, Stored,
};
pub use trace::{Request, Trace};
pub use transformer::{StorageTransformer, TransformerEntry};
pub use update::{ChunkUpdate, Encoded, InnerChunks, InnerOrder, Joined, Picks};
pub use version::Version;
