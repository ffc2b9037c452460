#![doc = include_str!("../README.md")]

mod codec;
mod index;
mod inner;
mod open;
mod read;
mod update;

use zarr_traits::{CodecEntry, CodecKind, Entry};

/// The row of this codec in a registry.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry { name: NAME, aliases: &[], kind: CodecKind::ArrayBytes, build: open::build });

const NAME: &str = "sharding_indexed";
