//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod build;
mod fixtures;
mod hostile;
mod requests;
