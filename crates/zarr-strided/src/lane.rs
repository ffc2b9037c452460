//! Lanes of sixteen bytes in registers, and the transpose of squares of lanes.

#[cfg(not(target_arch = "x86_64"))]
use portable::{high, low};
#[cfg(target_arch = "x86_64")]
use x86::{high, low};

/// The bytes in memory order.
pub(crate) type Lane = [u8; 16];

/// Transposes a square of `16 / N` lanes, each with as many items of `N` bytes.
///
/// Zipping the first half of the lanes with the second half is one step of a perfect shuffle. After log2(side) steps
/// every item is in its place.
#[inline(always)]
pub(crate) fn transpose<const N: usize>(square: &mut [Lane]) {
    let half = square.len() / 2;
    let mut side = 1;
    while side < square.len() {
        let mut next = [Lane::default(); 16];
        for k in 0..half {
            next[2 * k] = low::<N>(square[k], square[k + half]);
            next[2 * k + 1] = high::<N>(square[k], square[k + half]);
        }
        square.copy_from_slice(&next[..square.len()]);
        side *= 2;
    }
}

/// The instructions that zip the low or the high halves of two registers. Every x86-64 processor has them.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::Lane;

    /// Item 0 of `a`, item 0 of `b`, item 1 of `a`, and so on through the first halves.
    #[inline(always)]
    pub(super) fn low<const N: usize>(a: Lane, b: Lane) -> Lane {
        // SAFETY: a register has the bits of sixteen bytes; the instructions are in the baseline.
        unsafe {
            let (a, b) = (transmute::<Lane, __m128i>(a), transmute::<Lane, __m128i>(b));
            transmute(match N {
                1 => _mm_unpacklo_epi8(a, b),
                2 => _mm_unpacklo_epi16(a, b),
                _ => _mm_unpacklo_epi32(a, b),
            })
        }
    }

    /// The same through the second halves.
    #[inline(always)]
    pub(super) fn high<const N: usize>(a: Lane, b: Lane) -> Lane {
        // SAFETY: as in `low`.
        unsafe {
            let (a, b) = (transmute::<Lane, __m128i>(a), transmute::<Lane, __m128i>(b));
            transmute(match N {
                1 => _mm_unpackhi_epi8(a, b),
                2 => _mm_unpackhi_epi16(a, b),
                _ => _mm_unpackhi_epi32(a, b),
            })
        }
    }
}

/// The same without special instructions.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::Lane;

    pub(super) fn low<const N: usize>(a: Lane, b: Lane) -> Lane {
        zip::<N>(&a[..8], &b[..8])
    }

    pub(super) fn high<const N: usize>(a: Lane, b: Lane) -> Lane {
        zip::<N>(&a[8..], &b[8..])
    }

    #[inline(always)]
    fn zip<const N: usize>(a: &[u8], b: &[u8]) -> Lane {
        std::array::from_fn(|i| {
            let (item, byte) = (i / N, i % N);
            let from = if item % 2 == 0 { a } else { b };
            from[item / 2 * N + byte]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_zip_like_the_portable_code() {
        let a: Lane = *b"abcdefghijklmnop";
        let b: Lane = *b"ABCDEFGHIJKLMNOP";
        assert_eq!((low::<1>(a, b), high::<1>(a, b)), (portable::low::<1>(a, b), portable::high::<1>(a, b)));
        assert_eq!((low::<2>(a, b), high::<2>(a, b)), (portable::low::<2>(a, b), portable::high::<2>(a, b)));
        assert_eq!((low::<4>(a, b), high::<4>(a, b)), (portable::low::<4>(a, b), portable::high::<4>(a, b)));
    }
}
