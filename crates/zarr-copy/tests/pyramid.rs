//! Levels of lower resolution.

mod bands;
mod fixtures;
mod golden;
mod images;
mod refused;
mod resume;
mod rules;
