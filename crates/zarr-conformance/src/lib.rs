#![doc = include_str!("../README.md")]

pub mod codec;
#[cfg(feature = "implementation")]
pub mod implementation;
mod report;
pub mod store;

pub use report::{Failure, Failures};
