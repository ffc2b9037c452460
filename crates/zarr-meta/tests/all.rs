//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod building;
mod codec_lists;
mod common;
mod consolidated;
mod documents;
mod editing;
mod extension_types;
mod extensions;
mod fill_values;
mod foreign_codecs;
mod grids_and_keys;
mod members;
mod multiscales;
mod nodes;
mod rectilinear;
mod texts;
mod v1;
mod v2_arrays;
mod v2_codecs;
mod v2_dtypes;
mod v2_hostile;
mod v2_raising;
