#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arrow-59")]
pub mod arrow_59;
#[cfg(feature = "arrow-60")]
pub mod arrow_60;

#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
mod held;
