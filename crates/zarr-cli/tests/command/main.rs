//! The command as its users meet it: exit codes, what is printed, what lies on the disk afterwards.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod cat;
mod chunks;
mod copy;
mod explain;
mod formats;
mod harness;
mod info;
mod shards;
mod usage;
mod validate;
