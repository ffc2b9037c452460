#![doc = include_str!("../README.md")]

mod consolidated;
mod count;
mod memory;
mod prefix;

pub use consolidated::Consolidated;
pub use count::{Counting, Counts};
pub use memory::MemoryStore;
pub use prefix::Prefixed;
