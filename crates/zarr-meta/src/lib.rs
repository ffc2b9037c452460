#![doc = include_str!("../README.md")]

mod builder;
mod builder2;
mod code;
pub mod codecs;
pub mod consolidated;
pub mod diagnostic;
mod documents;
mod error;
pub mod fill;
mod forms;
mod group;
pub mod json;
pub mod known;
mod lower;
mod members2;
mod model;
mod names;
mod node;
pub mod path;
mod raise;
mod rectilinear;
mod resolve;
mod same;
mod shapes;
pub mod types;
mod v1;
mod v2;
pub mod v3;
pub mod xarray;

pub use zarr_traits::{DataType, FillValue, Limits, Registry};

pub use builder::ArrayBuilder;
pub use builder2::ArrayBuilder2;
pub use consolidated::is_document;
pub use diagnostic::{Code, Diagnostic, Ignore, Severity, Sink, Strict};
pub use documents::{DocumentName, Documents, Format};
pub use error::{MetaError, MetaErrorKind, MetaResult, TextPosition};
pub use fill::Fill;
pub use group::GroupMeta;
pub use members2::Members2;
pub use model::ArrayMeta;
pub use node::NodeMeta;
pub use rectilinear::{GRIDS, RectilinearGrid};
pub use resolve::Resolved;
pub use types::DATA_TYPES;
pub use v2::dtype::data_type_of_dtype;
