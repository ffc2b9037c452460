//! The handles on an array, async and blocking, and all that they offer.

pub(crate) mod array;
pub(crate) mod block_writer;
pub mod blocking;
pub(crate) mod chunks;
#[cfg(feature = "columns")]
mod columns;
mod common;
pub(crate) mod create;
mod each;
pub(crate) mod explain;
pub(crate) mod lazy;
mod many;
mod metadata;
pub(crate) mod open;
mod outside;
mod recode;
pub(crate) mod resize;
mod rows;
