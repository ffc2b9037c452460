//! Positions of elements.

use std::fmt::Debug;

/// An integer type for positions in selections and indices.
///
/// `i32` is among them because untyped integer literals have that type, as in `[0..8, 0..41]`. A literal of 2^31 or
/// more needs a suffix: `0..4_000_000_000_u64`. In a selection a negative position counts from the end.
pub trait Position: Copy + Debug {
    /// The position as `i128`.
    fn position(self) -> i128;
}

macro_rules! positions {
    ($($integer:ty),*) => {$(
        impl Position for $integer {
            #[allow(clippy::cast_lossless, reason = "`usize` has no `From`; `i128` holds every value of these types")]
            fn position(self) -> i128 {
                self as i128
            }
        }
    )*};
}
positions!(i32, i64, u32, u64, usize);
