//! The command as its users meet it: exit codes, what is printed, what lies on the disk afterwards.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod archives;
mod around;
mod attrs;
mod broken;
#[cfg(all(feature = "s3", feature = "http"))]
mod bucket;
mod cat;
mod checksum;
mod chunks;
mod consolidate;
mod conventions;
mod copy;
mod create;
mod dataset;
mod decoded;
mod diff;
mod doctor;
mod du;
mod explain;
mod first_sight;
mod formats;
mod from;
mod harness;
#[cfg(feature = "serve")]
mod hostile;
mod info;
mod join;
mod kills;
mod labels;
mod ls;
mod members;
mod messages;
mod migrate;
mod moved;
mod mv;
mod older;
mod pyramid;
mod references;
mod reports;
mod rm;
mod rules;
mod secrets;
#[cfg(feature = "serve")]
mod serve;
#[cfg(all(feature = "s3", feature = "http"))]
mod services;
mod set;
mod several;
mod shards;
mod stats;
mod strangers;
mod sweep;
mod sync;
#[cfg(any(feature = "arrow", feature = "image"))]
mod tables;
mod taken;
#[cfg(feature = "http")]
mod tls;
mod tree;
mod uneven;
mod url;
mod usage;
mod validate;
mod validate_data;
#[cfg(feature = "page")]
mod view;
mod weather;

fn program() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_BIN_EXE_zarr"))
}
