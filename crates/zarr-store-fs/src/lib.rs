#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg(unix)]

#[cfg(feature = "write")]
mod appear;
#[cfg(feature = "write")]
mod delete;
#[cfg(feature = "write")]
mod directory;
mod files;
mod list;
#[cfg(feature = "write")]
mod lock;
#[cfg(feature = "write")]
mod options;
mod path;
#[cfg(feature = "write")]
mod ranges;
mod read;
mod scheme;
mod store;
#[cfg(feature = "write")]
mod sweep;
#[cfg(feature = "write")]
mod temporary;
#[cfg(feature = "write")]
mod turn;
#[cfg(feature = "write")]
mod write;
#[cfg(feature = "write")]
mod writing;

pub use scheme::{SCHEMES, path_of};
pub use store::FsStore;
#[cfg(feature = "write")]
pub use zarr_store::Durability;
