//! Reports for people and for programs.

mod data;
mod junit;
mod page;
mod table;

/// The head of a report. The version of the suite is that of this crate.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The day, as `2026-11-22`.
    pub date: String,
}
