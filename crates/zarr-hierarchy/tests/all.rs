//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod broken;
mod common;
mod create_nodes;
mod directory;
mod golden;
mod migrate;
mod replace;
mod requests;
mod rules_f;
mod transaction;
