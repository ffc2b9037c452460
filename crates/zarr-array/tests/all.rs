//! All tests of this crate as one program, which is built and linked once. Those that count all memory of the process
//! are a program of their own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod blocks;
mod chunk_cache;
mod chunks;
#[cfg(feature = "columns")]
mod columns;
mod common;
mod concurrency;
mod counts;
mod counts_sharded;
#[cfg(feature = "dlpack")]
mod dlpack;
mod elements;
#[cfg(feature = "zfp")]
mod extensions;
mod formats;
mod hostile;
mod hostile_sharded;
mod huge_shards;
mod interleaved;
mod layers;
mod lazy;
mod lists;
mod making;
mod many;
#[cfg(feature = "zfp")]
mod matrix;
#[cfg(feature = "bytemuck")]
mod outside;
mod pod;
mod pools;
mod progress;
mod recoded;
mod rectilinear;
mod released;
mod round_trip;
mod rows;
mod shapes;
mod sharded;
mod strings;
mod structs;
mod third_party;
mod times;
mod transformers;
mod zip;
