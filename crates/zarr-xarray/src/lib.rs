#![doc = include_str!("../README.md")]
//!
//! The rules are in [labelled datasets](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/xarray.md).
#![cfg_attr(docsrs, feature(doc_cfg))]

mod add;
mod append;
mod attribute;
mod belonging;
pub mod blocking;
mod calendar;
mod cdl;
#[cfg(feature = "columns")]
mod columns;
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
mod multiscale;
mod new_dataset;
mod new_variable;
mod number;
mod open;
mod part;
mod partitions;
mod plan;
mod positions;
mod profile;
mod region;
mod related;
mod release;
mod selectors;
mod shared;
mod stored;
mod text;
mod times;
mod tree;
mod units;
mod unpack;
mod variable;
mod view;
mod writers;

pub use append::{Append, FromOptions, InterruptedAppend, Overlap, Taken};
pub use calendar::{Calendar, Date};
pub use conventions::{CoordinateNames, DecodeOptions, Decoding, FillIsMissing, SpanDecoding, VariablePlan};
pub use dataset::Dataset;
pub use date_time::DateTime;
pub use decoded::{Decoded, DecodedType, Maskable};
pub use dimensions::{Dimensions, dimensions, visible_attributes};
pub use element_kind::ElementKind;
pub use error::{XarrayError, XarrayErrorKind, XarrayResult};
pub use fill_value::{Missing, read_fill_value, write_fill_value};
pub use finding::{Finding, FindingCode};
pub use flags::Flags;
pub use half;
pub use index::{Index, IndexValues, LabelPositions, Method};
pub use interval::{Interval, Precision};
pub use label::Label;
pub use labels::Labels;
pub use multiscale::{Multiscale, MultiscaleLevel};
pub use new_dataset::NewDataset;
pub use new_variable::{Encoding, NewVariable};
pub use number::{NumberType, Scalar};
pub use plan::DatasetPlan;
pub use positions::{Picked, Positions};
pub use profile::{Hierarchy, Profile, ProfileFinding};
pub use selectors::Selectors;
pub use text::Charset;
pub use times::decode::{StoredCounts, decode_spans, decode_times};
pub use times::encode::{
    EncodedSpans, EncodedTimes, NumberKind, StoredNumbers, TimeEncoding, encode_spans, encode_times,
};
pub use times::{NOT_A_TIME, Spans, Times};
pub use tree::DataTree;
pub use units::{TimeUnit, TimeUnits, Unit};
pub use variable::Variable;
pub use writers::writers_are_apart;
#[cfg(feature = "ndarray")]
pub use zarr_array::ndarray;
/// The async group. [`blocking::Group`] is that of programs without async.
pub use zarr_hierarchy::Group;
pub use zarr_hierarchy::{self, zarr_array};
pub use zarr_meta::multiscale::{
    AxisKind, Channel, LabelColor, MultiscaleAxis, MultiscaleFormat, OmeVersion,
};
pub use zarr_meta::{Format, Severity};
