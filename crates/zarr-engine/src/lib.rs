#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chain;
mod lock;
mod merge;
mod piece;
#[cfg(feature = "run")]
pub mod run;

pub use chain::{Chain, OptionalCodecs};
pub use lock::{Gate, KeyGuard, Permit, gate, lock};
pub use merge::{merge, within};
pub use piece::run_piece;
