//! Levels of lower resolution.

mod fixtures;
mod golden;
mod refused;
mod resume;
mod rules;
