#![doc = include_str!("../README.md")]
//!
//! The rules are in [labelled datasets](https://github.com/zarr-rs/zarr/blob/main/docs/specification/xarray.md).

mod add;
mod append;
#[cfg(feature = "arrow")]
mod arrow;
mod attribute;
pub mod blocking;
mod calendar;
mod conventions;
mod coordinates;
mod dataset;
mod date_time;
mod decoded;
mod dimensions;
mod element_kind;
mod encode;
mod error;
mod fill_value;
mod finding;
mod flags;
mod handle;
mod index;
mod interval;
mod iso;
pub mod kernel;
mod label;
mod labels;
mod new_dataset;
mod new_variable;
mod number;
mod open;
mod part;
mod partitions;
mod plan;
mod positions;
mod region;
mod related;
mod release;
mod stored;
mod text;
mod times;
mod tree;
mod units;
mod unpack;
mod variable;
mod view;
mod writers;

pub use append::Append;
pub use calendar::{Calendar, Date};
pub use conventions::{CoordinateNames, DecodeOptions, Decoding, FillIsMissing, SpanDecoding, VariablePlan};
pub use dataset::Dataset;
pub use date_time::DateTime;
pub use decoded::{Decoded, DecodedType, Maskable};
pub use dimensions::{Dimensions, dimensions, lengths, visible_attributes, without_netcdf};
pub use element_kind::ElementKind;
pub use error::{XarrayError, XarrayErrorKind, XarrayResult};
pub use fill_value::{Missing, read_fill_value, write_fill_value};
pub use finding::{Code, Finding};
pub use flags::Flags;
pub use index::{Found, Index, IndexValues, Method};
pub use interval::{Interval, Precision};
pub use label::Label;
pub use labels::Labels;
pub use new_dataset::NewDataset;
pub use new_variable::{Encoding, NewVariable};
pub use number::{NumberType, Scalar};
pub use plan::DatasetPlan;
pub use positions::Positions;
pub use related::{RELATED, RelatedNames, related_names};
pub use text::{Charset, unpadded};
pub use times::decode::{Counts, decode_spans, decode_times};
pub use times::encode::{
    Encoded, EncodedSpans, EncodedTimes, NumberKind, TimeEncoding, encode_spans, encode_times,
};
pub use times::{NOT_A_TIME, Spans, Times};
pub use tree::DataTree;
pub use units::{TimeUnit, TimeUnits, Unit};
pub use variable::Variable;
pub use writers::writers_are_apart;
pub use zarr_hierarchy::{self, Group, zarr_array};
pub use zarr_meta::{Format, Severity};
