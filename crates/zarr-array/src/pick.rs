//! Selections with lists of positions: their plan and their reading. Selections of ranges alone have the faster
//! [plan](crate::plan) and [read](crate::read).

mod plan;
mod read;
mod side;
mod write;

pub(crate) use plan::{PickCell, PickPlan};
pub(crate) use read::read;
