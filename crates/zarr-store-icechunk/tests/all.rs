//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod build;
#[path = "../../../conformance/references/cases.rs"]
mod cases;
mod contents;
mod contract;
mod fixtures;
mod hostile;
mod requests;
