//! Levels of lower resolution.

mod bands;
mod fixtures;
mod golden;
mod refused;
mod resume;
mod rules;
