//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;
mod contract;
mod hostile;
mod model;
mod rules;
mod update;
