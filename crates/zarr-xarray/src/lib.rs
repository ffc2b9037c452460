#![doc = include_str!("../README.md")]
//!
//! The rules are in [labelled datasets](https://github.com/zarr-rs/zarr/blob/main/docs/specification/xarray.md).

mod attribute;
mod calendar;
mod conventions;
mod coordinates;
mod date_time;
mod dimensions;
mod element_kind;
mod error;
mod fill_value;
mod finding;
mod flags;
mod index;
mod interval;
mod iso;
pub mod kernel;
mod label;
mod number;
mod plan;
mod related;
mod text;
mod times;
mod units;
mod writers;

pub use calendar::{Calendar, Date};
pub use conventions::{CoordinateNames, DecodeOptions, Decoding, FillIsMissing, SpanDecoding, VariablePlan};
pub use date_time::DateTime;
pub use dimensions::{Dimensions, dimensions, lengths, visible_attributes, without_netcdf};
pub use element_kind::ElementKind;
pub use error::{XarrayError, XarrayErrorKind, XarrayResult};
pub use fill_value::{Missing, read_fill_value, write_fill_value};
pub use finding::{Code, Finding};
pub use flags::Flags;
pub use index::{Found, Index, IndexValues, Method};
pub use interval::{Interval, Precision};
pub use label::Label;
pub use number::{NumberType, Scalar};
pub use plan::DatasetPlan;
pub use related::{RELATED, RelatedNames, related_names};
pub use text::{Charset, unpadded};
pub use times::decode::{Counts, decode_spans, decode_times};
pub use times::encode::{
    Encoded, EncodedSpans, EncodedTimes, NumberKind, TimeEncoding, encode_spans, encode_times,
};
pub use times::{NOT_A_TIME, Spans, Times};
pub use units::{TimeUnit, TimeUnits, Unit};
pub use writers::writers_are_apart;
pub use zarr_meta::Severity;
