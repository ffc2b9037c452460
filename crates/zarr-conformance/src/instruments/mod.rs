//! Layers for tests: they count operations, fail on purpose, and make a store as slow as a network.

mod count;
mod fault;
mod latency;

pub use count::{Counting, RequestCounts};
pub use fault::{Fault, Faulty};
pub use latency::{Network, Simulated};
