#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chunks;
mod config;
mod contents;
mod error;
mod file;
mod flat;
mod flex;
mod id;
mod info;
mod layout;
mod limits;
mod manifest;
mod manifests;
mod open;
mod repository;
mod revision;
mod session;
mod snapshot;

pub use contents::Contents;
pub use id::SnapshotId;
pub use info::{SnapshotInfo, VirtualChunkContainer};
pub use limits::IcechunkLimits;
pub use open::{Repository, SCHEMES};
pub use revision::Ref;
