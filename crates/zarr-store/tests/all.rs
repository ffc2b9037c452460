//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod conformance;
#[cfg(feature = "zip")]
mod zip;
