#![doc = include_str!("../README.md")]
//!
//! The rules are in [sharding](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/sharding.md).

mod codec;
mod index;
mod inner;
mod open;
mod read;
mod shard;
mod update;

use zarr_traits::codec::CodecKind;
use zarr_traits::extension::{CodecEntry, Entry};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(NAME, CodecKind::ArrayBytes, open::build));

const NAME: &str = "sharding_indexed";
