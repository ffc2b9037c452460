//! Kernels: stored elements to decoded elements and back, with masking, scaling, times and booleans.
//!
//! A kernel reads contiguous elements in the byte order of the machine from one slice of bytes and writes them to
//! another. It does not allocate. Decisions that do not depend on an element are made outside of the loop.

mod booleans;
mod element;
mod packing;
mod ticks;

pub use booleans::{decode_booleans, encode_booleans};
pub use packing::Packing;
pub use ticks::TimeCoding;
