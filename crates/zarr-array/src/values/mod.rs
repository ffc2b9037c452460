//! Values of reads and writes: elements with a shape, and positions in them.

#[cfg(feature = "columns")]
pub(crate) mod column;
mod nd_vec;
mod position;

#[cfg(feature = "columns")]
pub use column::{Column, ColumnType, ColumnUnit};
pub use nd_vec::NdVec;
pub use position::Position;
