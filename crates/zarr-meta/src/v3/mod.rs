//! Documents of format 3, versions 3.0 and 3.1: their content, not its meaning.
//!
//! An [`ArrayDocument`] is complete and well-formed: every member is present and of the right kind, and no unknown
//! member must be understood. Its data type, chunk grid, codecs and fill value are *not* interpreted; that is
//! [resolving](crate::ArrayMeta::resolve). So an array of an unknown data type can still be listed, described, given
//! new attributes and written back.
//!
//! The rules are in [metadata documents](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/core.md).

mod array;
mod document;
mod extension;
mod group;
mod lint;
mod members;
mod node;
pub mod sharding;

pub use array::ArrayDocument;
pub use document::NodeDocument;
pub use extension::Extension;
pub use group::GroupDocument;
pub(crate) use lint::attributes as lint_attributes;
pub(crate) use members::{lengths, required, writable};
pub(crate) use node::integer_format;
