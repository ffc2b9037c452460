#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod delete;
mod list;
mod path;
mod read;
mod store;
mod write;

pub use store::{Durability, FsStore};
