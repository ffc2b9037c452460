//! Results for people and for programs.

mod data;
mod junit;
mod page;
mod table;

/// When and by what a report was made.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The version of the suite.
    pub version: String,
    /// The day, as `2026-11-22`.
    pub date: String,
}
