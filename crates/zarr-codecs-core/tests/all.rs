//! All tests of this crate as one program, which is built and linked once. Those that measure all memory of the
//! process are a program of their own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod contract;
mod hostile;
mod model;
mod peers;
mod pure;
mod sizes;
mod spans;
#[path = "../src/testing.rs"]
mod testing;
