//! What is printed: tables, JSON, elements, pictures, progress.

pub(crate) mod column;
pub(crate) mod json;
pub(crate) mod lengths;
pub(crate) mod nested;
pub(crate) mod npy;
pub(crate) mod number;
pub(crate) mod output;
#[cfg(feature = "image")]
pub(crate) mod picture;
pub(crate) mod progress;
pub(crate) mod render;
pub(crate) mod screen;
pub(crate) mod stdout;
pub(crate) mod table;
