//! What the user typed: options, paths and URLs, selections, elements.

pub(crate) mod access;
pub(crate) mod archive;
pub(crate) mod around;
pub(crate) mod data_type;
pub(crate) mod decode;
pub(crate) mod dimension;
pub(crate) mod encode;
pub(crate) mod first;
pub(crate) mod foreign;
pub(crate) mod from;
pub(crate) mod inside;
pub(crate) mod labels;
pub(crate) mod level;
pub(crate) mod memory;
mod named;
pub(crate) mod place;
pub(crate) mod scalar;
pub(crate) mod select;
pub(crate) mod several;
pub(crate) mod shape;
pub(crate) mod similar;
pub(crate) mod stores;
pub(crate) mod target;
pub(crate) mod typed;
pub(crate) mod value;
