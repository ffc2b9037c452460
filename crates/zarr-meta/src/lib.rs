#![doc = include_str!("../README.md")]

mod builder;
mod code;
pub mod consolidated;
pub mod diagnostic;
mod error;
pub mod fill;
pub mod json;
mod model;
mod names;
pub mod path;
mod resolve;
pub mod v3;

pub use zarr_traits::{DataType, FillValue, Limits, Registry};

pub use builder::ArrayBuilder;
pub use diagnostic::{Code, Diagnostic, Ignore, Severity, Sink, Strict};
pub use error::{MetaError, MetaErrorKind, MetaResult, Position};
pub use fill::Fill;
pub use model::ArrayMeta;
pub use resolve::Resolved;
