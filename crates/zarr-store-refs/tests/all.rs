//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../../conformance/references/cases.rs"]
mod cases;
mod conformance;
mod fixtures;
mod hostile;
// Their files are compressed in different ways.
#[cfg(all(feature = "gzip", feature = "snappy", feature = "zstd"))]
mod parquet;
#[cfg(all(feature = "gzip", feature = "snappy", feature = "zstd"))]
#[allow(unreachable_pub, reason = "it is a file of two programs")]
mod written;
