//! Results for people and for programs.

mod html;
mod json;
mod junit;
mod table;
