#![doc = include_str!("../README.md")]
#![cfg(any(test, all(target_arch = "wasm32", target_os = "unknown")))]
#![cfg_attr(
    not(all(target_arch = "wasm32", target_os = "unknown")),
    allow(dead_code, reason = "elsewhere there are only tests, which use a part")
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod name;
mod window;

// Everything below calls JavaScript. The modules above are tested on any machine.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod body;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod detached;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod read;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod send;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod store;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod timer;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use store::{Credentials, FetchStore};
