#![doc = include_str!("../README.md")]

mod attribute;
mod calendar;
mod date_time;
mod error;
mod finding;
mod flags;
mod index;
mod interval;
mod iso;
pub mod kernel;
mod label;
mod number;
mod text;
mod times;
mod units;

pub use calendar::{Calendar, Date};
pub use date_time::DateTime;
pub use error::{XarrayError, XarrayErrorKind, XarrayResult};
pub use finding::{Code, Finding, Severity};
pub use flags::Flags;
pub use index::{Found, Index, IndexValues, Method};
pub use interval::{Interval, Precision};
pub use label::Label;
pub use number::{NumberType, Scalar};
pub use text::{Charset, unpadded};
pub use times::decode::{Counts, decode_spans, decode_times};
pub use times::encode::{
    Encoded, EncodedSpans, EncodedTimes, NumberKind, TimeEncoding, encode_spans, encode_times,
};
pub use times::{NOT_A_TIME, Spans, Times};
pub use units::{TimeUnit, TimeUnits, Unit};
