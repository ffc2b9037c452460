//! The command as its users meet it: exit codes, what is printed, what lies on the disk afterwards.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod broken;
mod cat;
mod chunks;
mod copy;
mod explain;
mod formats;
mod harness;
mod info;
mod ls;
mod migrate;
mod shards;
mod tree;
mod usage;
mod validate;
