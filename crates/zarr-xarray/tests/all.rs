//! All tests of this crate as one program, which is built and linked once. The one that counts all memory of the
//! process is a program of its own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod append;
mod create;
mod datasets;
mod dead;
mod handles;
mod index;
mod kernels;
mod modes;
mod multiscale;
mod plan;
mod profiles;
mod race;
mod regions;
mod requests;
mod taken;
mod times;
mod unpacked;
mod vectors;
