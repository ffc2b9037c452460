//! Reading and writing chunks: fetch, decode, encode, store. No handle is known here.

pub(crate) mod chunk_cache;
pub(crate) mod core;
mod encoding;
pub(crate) mod fetch;
pub(crate) mod loaded;
pub(crate) mod read;
pub(crate) mod rows;
pub(crate) mod target;
pub(crate) mod versioned;
pub(crate) mod write;
