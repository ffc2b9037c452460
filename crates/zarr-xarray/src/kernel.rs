//! Stored elements to decoded ones and back: masking, scaling, times, booleans.
//!
//! A kernel works on elements that lie side by side in the byte order of the machine, from one slice of bytes to another one,
//! and takes no memory. What does not depend on an element is decided outside of the loop.

#[macro_use]
mod element;
mod booleans;
mod packing;
mod ticks;

pub use booleans::{decode_booleans, encode_booleans};
pub use packing::Packing;
pub use ticks::TimeCoding;
