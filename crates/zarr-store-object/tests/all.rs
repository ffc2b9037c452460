//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod bounds;
mod common;
mod conditional_puts;
mod contract;
mod in_flight;
mod listing;
mod redirects;
mod requests;
mod secrets;
mod services;
mod tls;
