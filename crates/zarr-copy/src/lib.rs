#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod blocking;
mod blocks;
mod change;
mod choice;
mod codecs;
mod copy;
mod destination;
mod digest;
mod document;
mod draft;
mod elements;
mod error;
mod filter;
mod indices;
mod join;
mod lengths;
pub mod marker;
mod memory;
mod mirror;
mod notes;
mod objects;
mod part;
mod pause;
mod plan;
#[cfg(feature = "pyramid")]
pub mod pyramid;
mod rules;
mod run;
mod size;
mod told;
mod twice;
mod units;
mod work;

pub use zarr_hierarchy::{self, objects::Moved};

pub use change::Shards;
pub use codecs::Codecs;
pub use copy::Copy;
pub use destination::{CopyDestination, DestinationState};
pub use error::{CopyError, CopyErrorKind, CopyResult};
pub use join::{Share, SharedCopy};
pub use lengths::Lengths;
pub use mirror::{Mirror, Mirrored, Mirroring};
pub use plan::{CopyNode, CopyPlan};
pub use rules::{ChunkChoice, Rule};
pub use run::{CopyProgress, Event, RunOptions};
pub use size::Size;
pub use told::{Done, Estimate};
