//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod arrays;
mod tables;
mod versions;
