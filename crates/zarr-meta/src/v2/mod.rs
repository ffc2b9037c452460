//! Documents of format 2, and code that format 1 shares with them.
//!
//! The rules are in [Zarr v2](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/format-2.md).

mod array;
mod attributes;
pub(crate) mod codecs;
pub(crate) mod complete;
mod data_type;
pub(crate) mod dtype;
pub(crate) mod fill;
mod group;
mod time;
pub(crate) mod tolerated;

pub(crate) use array::{Array, Codec, Order, SEPARATOR, order, shapes};
pub(crate) use attributes::Attributes;
pub(crate) use codecs::{Objects, Origin};
pub(crate) use dtype::Dtype;
pub(crate) use fill::Strings;
pub(crate) use group::Group;

use crate::diagnostic::Sink;
use crate::error::MetaResult;
use crate::json::Object;
use crate::v3;

/// Checks `zarr_format`.
pub(crate) fn format(members: &Object, expected: u8, sink: &mut dyn Sink) -> MetaResult<()> {
    v3::integer_format(&v3::required(members, "/zarr_format")?, expected, sink)
}
