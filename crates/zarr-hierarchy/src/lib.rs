#![doc = include_str!("../README.md")]
//!
//! The rules are in [hierarchies](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/hierarchy.md).
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes;
pub mod blocking;
mod child;
mod children;
mod consolidate;
mod copy;
mod create;
mod create_nodes;
mod erase;
mod error;
mod group;
mod handle;
pub mod migrate;
pub mod objects;
mod open;
mod options;
mod overlap;
mod transaction;
mod walk;

pub use zarr_array::{
    self, ArrayErrorKind as HierarchyErrorKind, ConsolidatedPolicy, CreateOptions, ExistingNode, Format,
    meta::consolidated::Difference,
    meta::{ArrayMeta, GroupMeta, NodeMeta},
};

pub use child::{Child, ChildState, Node, NodeKind};
pub use consolidate::{Report, UnresolvedArrays};
pub use copy::{CopyOptions, CopyReport, copy};
pub use erase::{EraseOptions, erase};
pub use error::{HierarchyError, HierarchyResult};
pub use group::Group;
pub use options::{Formats, GroupOptions, ImplicitGroups, UseConsolidated};
pub use transaction::{CommitError, Transaction};
pub use walk::Walk;

#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub use zarr_array::standard;
