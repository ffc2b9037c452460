//! Byte order: reversing the bytes of each unit.

/// A reversal of bytes during a copy: in each unit of 2, 4, 8 or 16 bytes, or none.
///
/// A unit is a number; an element may hold several (a complex number has two). The element size must be a multiple of
/// the unit.
///
/// ```
/// use zarr_strided::Swap;
///
/// assert_eq!(Swap::units(1), Some(Swap::NONE));
/// assert_eq!(Swap::units(4).map(Swap::unit), Some(4));
/// assert_eq!(Swap::units(3), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Swap(Unit);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Unit {
    #[default]
    One = 1,
    Two = 2,
    Four = 4,
    Eight = 8,
    Sixteen = 16,
}

impl Swap {
    /// No bytes are reversed.
    pub const NONE: Swap = Swap(Unit::One);

    /// Returns the reversal of each unit of `n` bytes, or `None` if `n` is not 1, 2, 4, 8 or 16.
    pub const fn units(n: usize) -> Option<Swap> {
        match n {
            1 => Some(Swap(Unit::One)),
            2 => Some(Swap(Unit::Two)),
            4 => Some(Swap(Unit::Four)),
            8 => Some(Swap(Unit::Eight)),
            16 => Some(Swap(Unit::Sixteen)),
            _ => None,
        }
    }

    /// Whether no bytes are reversed.
    pub const fn is_none(self) -> bool {
        matches!(self.0, Unit::One)
    }

    /// The bytes of a unit: 1, 2, 4, 8 or 16.
    pub const fn unit(self) -> usize {
        self.0 as usize
    }
}

/// Reverses each unit of `bytes` in place. Bytes after the last whole unit do not change.
///
/// ```
/// use zarr_strided::{Swap, swap_in_place};
///
/// let mut bytes = [1, 2, 3, 4];
/// swap_in_place(&mut bytes, Swap::units(2).unwrap());
/// assert_eq!(bytes, [2, 1, 4, 3]);
/// ```
pub fn swap_in_place(bytes: &mut [u8], swap: Swap) {
    #[inline(always)]
    fn each<const U: usize>(bytes: &mut [u8]) {
        for unit in bytes.as_chunks_mut::<U>().0 {
            *unit = reversed(*unit);
        }
    }
    wide(|| match swap.0 {
        Unit::One => {}
        Unit::Two => each::<2>(bytes),
        Unit::Four => each::<4>(bytes),
        Unit::Eight => each::<8>(bytes),
        Unit::Sixteen => each::<16>(bytes),
    });
}

/// Writes the reversed units of `src` to `dst`, which has the same length.
pub(crate) fn swap_copy(dst: &mut [u8], src: &[u8], swap: Swap) {
    #[inline(always)]
    fn each<const U: usize>(dst: &mut [u8], src: &[u8]) {
        for (to, from) in dst.as_chunks_mut::<U>().0.iter_mut().zip(src.as_chunks::<U>().0) {
            *to = reversed(*from);
        }
    }
    wide(|| match swap.0 {
        Unit::One => dst.copy_from_slice(src),
        Unit::Two => each::<2>(dst, src),
        Unit::Four => each::<4>(dst, src),
        Unit::Eight => each::<8>(dst, src),
        Unit::Sixteen => each::<16>(dst, src),
    });
}

/// Reverses the bytes through an integer of the same size: the compiler can vectorise the swap of many integers, but
/// not the reversal of many arrays.
#[inline(always)]
pub(crate) fn reversed<const U: usize>(mut unit: [u8; U]) -> [u8; U] {
    if let Some(bytes) = as_size::<U, 2>(&mut unit) {
        *bytes = u16::from_ne_bytes(*bytes).swap_bytes().to_ne_bytes();
    } else if let Some(bytes) = as_size::<U, 4>(&mut unit) {
        *bytes = u32::from_ne_bytes(*bytes).swap_bytes().to_ne_bytes();
    } else if let Some(bytes) = as_size::<U, 8>(&mut unit) {
        *bytes = u64::from_ne_bytes(*bytes).swap_bytes().to_ne_bytes();
    } else if let Some(bytes) = as_size::<U, 16>(&mut unit) {
        *bytes = u128::from_ne_bytes(*bytes).swap_bytes().to_ne_bytes();
    }
    unit
}

#[inline(always)]
fn as_size<const U: usize, const N: usize>(unit: &mut [u8; U]) -> Option<&mut [u8; N]> {
    if U == N { unit.first_chunk_mut() } else { None }
}

/// Runs a loop that the compiler vectorises, with AVX2 if this machine has it: it shuffles 32 bytes at a time, which
/// the baseline of x86-64 cannot.
#[inline(always)]
fn wide(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2(work: impl FnOnce()) {
            work();
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: this machine has AVX2.
            return unsafe { avx2(work) };
        }
    }
    work();
}
