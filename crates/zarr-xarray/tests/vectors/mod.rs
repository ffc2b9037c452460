//! The rows of `fixtures/`: answers of xarray, cftime and pandas for single functions.
//!
//! A row without a verdict, or with `same`, has the expected result. `reject` expects an error. `better` gives the
//! expected result in `ours`. `optional` may also be an error.

#![allow(clippy::cast_possible_truncation, reason = "these are tests")]

mod align;
mod fill_value;
mod related;
mod sel;
pub(crate) mod tally;
mod time_decode;
mod time_encode;
mod time_text;
mod timedelta;
mod types;
