//! All tests of this crate as one program, which is built and linked once. The one that counts all memory of the
//! process is a program of its own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod join;
mod mirror;
#[cfg(feature = "pyramid")]
mod pyramid;
mod rechunk;
mod run;
