//! Values of reads and writes: elements with a shape, and positions in them.

#[cfg(feature = "columns")]
pub(crate) mod column;
mod nd_vec;
mod position;

#[cfg(feature = "columns")]
pub use column::{Column, ColumnType, ColumnUnit};
pub use nd_vec::NdVec;
pub use position::Position;

/// The number of a time that is not a time (NaT).
#[cfg(any(feature = "chrono", feature = "columns", feature = "jiff"))]
pub(crate) const NOT_A_TIME: i64 = i64::MIN;
