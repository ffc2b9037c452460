#![doc = include_str!("../README.md")]
#![cfg(unix)]

mod delete;
mod list;
mod lock;
mod path;
mod read;
mod scheme;
mod store;
mod sweep;
mod temporary;
mod turn;
mod write;

pub use scheme::{SCHEMES, path_of};
pub use store::{Durability, FsStore};
