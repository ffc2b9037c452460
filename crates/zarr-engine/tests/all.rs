//! The tests of this crate, one module for each topic.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod chain;
#[cfg(feature = "run")]
mod run;
