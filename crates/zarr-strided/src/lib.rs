#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// This crate moves bytes through raw pointers: threads share one output whose parts are disjoint by construction. Safe
// references cannot express that for interleaved strided memory.
#![allow(unsafe_code)]

mod axes;
mod copy;
mod cuts;
mod destination;
mod dims;
mod error;
mod fill;
mod input;
mod lane;
mod layout;
mod list;
mod output;
mod places;
mod plain;
#[cfg(feature = "bytemuck")]
mod pod;
mod rows;
mod runs;
mod source;
mod swap;
mod transpose;
mod view;

#[cfg(feature = "bytemuck")]
pub use bytemuck;
#[cfg(feature = "half")]
pub use half;
#[cfg(feature = "ndarray")]
pub use ndarray;
#[cfg(feature = "num-complex")]
pub use num_complex;

pub use cuts::{Cut, CutPiece, Cuts, Tiles};
pub use destination::Destination;
pub use dims::Dims;
pub use error::StridedError;
pub use input::Input;
pub use layout::{byte_len, to_usize};
pub use output::Output;
pub use plain::{Plain, bytes_of, bytes_of_mut, zero, zeroed};
#[cfg(feature = "bytemuck")]
pub use pod::PlainPod;
pub use runs::Runs;
pub use source::Source;
pub use swap::{Swap, swap_in_place};
pub use view::{View, ViewMut};
