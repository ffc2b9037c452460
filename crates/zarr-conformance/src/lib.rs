#![doc = include_str!("../README.md")]

pub mod codec;
mod report;
pub mod store;

pub use report::{Failure, Failures};
