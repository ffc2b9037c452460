//! All tests of this crate as one program, which is built and linked once. The one that counts all memory of the
//! process is a program of its own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod append;
mod command;
mod common;
mod faults;
mod modes;
mod server;
mod services;
mod stores;

// The harness of the command's own tests looks for it here.
use command::program::program;
