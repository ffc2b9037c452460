#![doc = include_str!("../README.md")]

mod calendar;
mod date_time;
mod error;

pub use calendar::{Calendar, Date};
pub use date_time::DateTime;
pub use error::{XarrayError, XarrayErrorKind, XarrayResult};
