//! The rows of `fixtures/`: what xarray, cftime and pandas gave for single functions.
//!
//! A row without a verdict, or with `same`, is what must come out. `reject` must be an error. `better` says what must come out
//! in place of it. `optional` may be an error as well.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "these are tests")]

mod align;
mod fill_value;
mod related;
mod sel;
mod tally;
mod time_decode;
mod time_encode;
mod time_text;
mod timedelta;
mod types;
