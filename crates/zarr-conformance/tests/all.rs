//! All tests of this crate as one program, which is built and linked once. The one that counts allocations is a
//! program of its own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[cfg(all(unix, feature = "implementation"))]
mod implementation;
mod instruments;
#[allow(unreachable_pub, reason = "the store is written as by a third party")]
mod plain;
#[cfg(all(unix, feature = "run"))]
mod program;
mod store_flaws;
