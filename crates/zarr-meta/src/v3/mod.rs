//! Documents of Zarr version 3, 3.0 and 3.1 alike: what is said, not yet what it means.
//!
//! An [`ArrayDocument`] is complete and has the right shape: every member is there, of the right kind, and nothing that
//! must be understood is unknown. Its data type, chunk grid, codecs and fill value are *not* looked at; that is
//! [resolving](crate::ArrayMeta::resolve). So an array of a type that nobody knows can still be listed, described,
//! given new attributes and written back (checklist 0.3.5, D4).

mod array;
mod extension;
mod group;
mod lint;
mod node;
pub mod sharding;

pub use array::ArrayDocument;
pub use extension::Extension;
pub use group::GroupDocument;
pub(crate) use lint::attributes as lint_attributes;
pub use node::NodeDocument;
pub(crate) use node::{integer_format, lengths, required, writable};
