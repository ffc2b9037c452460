#![doc = include_str!("../README.md")]

mod convert;
mod deserialize;
mod document;
mod error;
mod layout;
mod macros;
mod number;
mod object;
pub mod pointer;
mod same;
mod scan;
mod serialize;
mod source;
mod split;
mod string;
mod value;

pub use document::Document;
pub use error::{
    DeviationKind, JsonDeviation, JsonError, JsonErrorKind, JsonResult, MOST_DEVIATIONS, TextPosition,
};
pub use number::{Decimal, Number};
pub use object::{Member, Members, Object};
pub use value::{DEPTH, Elements, Value, ValueKind};
