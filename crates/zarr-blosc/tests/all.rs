//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[allow(unsafe_code, reason = "calls C-Blosc")]
mod c_blosc;
mod frames;
mod golden;
mod hostile;
