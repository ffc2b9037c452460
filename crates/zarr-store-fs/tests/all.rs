//! All tests of this crate as one program, which is built and linked once. That of the store without the feature
//! `write` is a program of its own.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls;
#[cfg(unix)]
mod conformance;
#[cfg(target_os = "linux")]
mod locks;
#[cfg(target_os = "linux")]
mod oddities;
#[cfg(target_os = "linux")]
mod open_files;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod ranges;
#[cfg(target_os = "linux")]
mod writing;
