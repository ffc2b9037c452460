//! Lanes of 16 bytes, and the permutation that all shuffles consist of.

use wide::u8x16;

/// The bytes of a lane.
pub(crate) const LANE: usize = 16;

/// Several lanes.
pub(crate) trait Lanes: Sized {
    /// Interleaves the first half of all bytes with the second half.
    ///
    /// Seen as a number in binary, the place of each byte is rotated left by one bit.
    fn riffle(self) -> Self;

    /// Repeats [`riffle`](Self::riffle) the given number of times.
    #[inline(always)]
    fn riffled(mut self, times: u32) -> Self {
        for _ in 0..times {
            self = self.riffle();
        }
        self
    }
}

/// Implements [`Lanes`] for an array, from the lanes of its first half and of its second half. Written out, the lanes
/// stay in registers.
macro_rules! lanes {
    ($($first:ident)* | $($second:ident)*) => {
        impl Lanes for [u8x16; [$(stringify!($first), stringify!($second)),*].len()] {
            #[inline(always)]
            fn riffle(self) -> Self {
                let [$($first,)* $($second),*] = self;
                [$(u8x16::unpack_low($first, $second), u8x16::unpack_high($first, $second)),*]
            }
        }
    };
}

lanes!(a | b);
lanes!(a b | c d);
lanes!(a b c d | e f g h);
lanes!(a b c d e f g h | i j k l m n o p);

impl Lanes for [u8x16; 1] {
    /// A single stream of bytes needs no order.
    #[inline(always)]
    fn riffle(self) -> Self {
        self
    }
}

/// Returns 16 bytes as a lane.
#[inline(always)]
pub(crate) fn load(bytes: &[u8; LANE]) -> u8x16 {
    u8x16::new(*bytes)
}
