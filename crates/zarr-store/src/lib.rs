#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cache;
mod consolidated;
mod count;
mod fault;
mod latency;
mod memory;
mod prefix;
mod scheme;
mod trace;
#[cfg(feature = "zip")]
pub mod zip;

pub use cache::{CacheCounts, CacheOptions, Cached};
pub use consolidated::Consolidated;
pub use count::{Counting, Counts};
pub use fault::{Fault, Faulty};
pub use latency::{Network, Simulated};
pub use memory::MemoryStore;
pub use prefix::Prefixed;
pub use scheme::SCHEMES;
pub use trace::Traced;
