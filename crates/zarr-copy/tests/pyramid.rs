//! Levels of lower resolution.

mod bands;
mod fixtures;
mod golden;
mod images;
mod join;
mod refused;
mod resume;
mod rules;
