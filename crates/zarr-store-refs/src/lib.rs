#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod document;
mod error;
mod expression;
mod generate;
mod inflate;
mod limits;
mod open;
mod parquet;
mod records;
mod table;
mod template;

pub use limits::RefsLimits;
pub use open::{Refs, SCHEMES};
