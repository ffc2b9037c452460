//! All tests of this crate as one program, which is built and linked once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "tests use small numbers and panic on failure"
)]

mod border;
mod model;
mod threads;
#[cfg(feature = "ndarray")]
mod views;
