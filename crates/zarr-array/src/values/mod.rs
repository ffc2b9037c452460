//! Values of reads and writes: elements with a shape, and positions in them.

mod nd_vec;
mod position;

pub use nd_vec::NdVec;
pub use position::Position;
