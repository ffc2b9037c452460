#![doc = include_str!("../README.md")]

mod count;
mod memory;
mod prefix;

pub use count::{Counting, Counts};
pub use memory::MemoryStore;
pub use prefix::Prefixed;
