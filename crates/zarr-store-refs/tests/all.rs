//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../../conformance/references/cases.rs"]
mod cases;
mod fixtures;
mod hostile;
