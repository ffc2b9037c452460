//! Means of the numbers of Rust, row by row, in loops that a compiler makes vector instructions of.

use super::boxes::Boxes;
use super::number::{Number, Of};

/// A format whose elements are added row by row.
pub(super) trait Summed: Number {
    type Sum: Copy + Default;

    /// The largest number of elements whose sum fits.
    const MOST: usize;

    fn plus(sum: Self::Sum, value: Self::Value) -> Self::Sum;

    /// Returns the mean of `count` elements.
    fn mean_of(sum: Self::Sum, count: usize) -> Self::Value;

    /// Writes the means of `count` elements each.
    fn means(self, sums: &[Self::Sum], count: usize, to: &mut [Self::Raw]) {
        for (raw, sum) in to.iter_mut().zip(sums) {
            *raw = self.store(Self::mean_of(*sum, count));
        }
    }
}

macro_rules! summed {
    ($($type:ident in $sum:ident,)*) => {$(
        impl Summed for Of<$type> {
            type Sum = $sum;

            // Half of what would fit, so that the rounding fits as well.
            const MOST: usize = 1 << ($sum::BITS - $type::BITS - 2) % usize::BITS;

            #[inline]
            fn plus(sum: $sum, value: $type) -> $sum {
                sum + $sum::from(value)
            }

            #[inline]
            fn mean_of(sum: $sum, count: usize) -> $type {
                // `MOST` fits.
                let count = $sum::try_from(count).unwrap_or($sum::MAX);
                let (quotient, twice) = (sum.div_euclid(count), 2 * sum.rem_euclid(count));
                let up = twice > count || twice == count && quotient & 1 == 1;
                narrow!(quotient + $sum::from(up), $type)
            }

            fn means(self, sums: &[$sum], count: usize, to: &mut [Self::Raw]) {
                let pairs = to.iter_mut().zip(sums);
                if !count.is_power_of_two() || count == 1 {
                    return pairs.for_each(|(raw, sum)| *raw = self.store(Self::mean_of(*sum, count)));
                }
                let shift = count.trailing_zeros();
                // Half of the count, less one for an even quotient: a half goes up only to an even number.
                let half = (1 << (shift - 1)) - 1;
                for (raw, sum) in pairs {
                    let mean = (sum + half + ((sum >> shift) & 1)) >> shift;
                    *raw = self.store(narrow!(mean, $type));
                }
            }
        }
    )*};
}

/// Returns the low bits: a mean lies between the elements, so that they are all.
macro_rules! narrow {
    ($mean:expr, $type:ty) => {{
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean lies between the elements"
        )]
        let mean = $mean as $type;
        mean
    }};
}

summed! {
    u8 in i32,
    i8 in i32,
    u16 in i32,
    i16 in i32,
    u32 in i64,
    i32 in i64,
    u64 in i128,
    i64 in i128,
}

macro_rules! summed_floats {
    ($($type:ident)*) => {$(
        impl Summed for Of<$type> {
            type Sum = f64;

            const MOST: usize = usize::MAX;

            #[inline]
            fn plus(sum: f64, value: $type) -> f64 {
                sum + f64::from(value)
            }

            #[inline]
            fn mean_of(sum: f64, count: usize) -> $type {
                narrow!(sum / count as f64, $type)
            }
        }
    )*};
}

summed_floats!(f32 f64);

/// Takes the means of elements of which none is missing.
pub(super) fn of_all<N: Summed>(number: N, boxes: &Boxes, from: &[u8], to: &mut [u8]) {
    let (from, to) = (N::raws(from), N::raws_mut(to));
    let (factor, row) = (boxes.factor(), boxes.row());
    let mut sums = vec![N::Sum::default(); boxes.row_of_result()];
    boxes.each_row(|first, rows| {
        sums.fill(N::Sum::default());
        for start in rows {
            add(number, factor, &from[*start..start + row], &mut sums);
        }
        let (whole, part) = (row / factor, row % factor);
        let to = &mut to[first..first + sums.len()];
        number.means(&sums[..whole], rows.len() * factor, &mut to[..whole]);
        number.means(&sums[whole..], rows.len() * part, &mut to[whole..]);
    });
}

/// Adds each `factor` elements of a row to a sum.
fn add<N: Summed>(number: N, factor: usize, row: &[N::Raw], sums: &mut [N::Sum]) {
    let value = |raw: &N::Raw| number.load(*raw);
    if factor == 2 {
        let (pairs, rest) = row.as_chunks::<2>();
        for (sum, [one, other]) in sums.iter_mut().zip(pairs) {
            *sum = N::plus(N::plus(*sum, value(one)), value(other));
        }
        if let ([last], Some(sum)) = (rest, sums.last_mut()) {
            *sum = N::plus(*sum, value(last));
        }
        return;
    }
    for (sum, raws) in sums.iter_mut().zip(row.chunks(factor)) {
        *sum = raws.iter().fold(*sum, |sum, raw| N::plus(sum, value(raw)));
    }
}

/// Takes the means of the elements that are not missing: floats, and integers with missing values.
pub(super) fn of_present<N: Summed>(
    number: N,
    missing: &[N::Value],
    boxes: &Boxes,
    from: &[u8],
    to: &mut [u8],
) {
    match missing {
        [] => counted(number, |value| !number.is_nan(value), boxes, from, to),
        [one] => counted(number, |value| !number.is_nan(value) && value != *one, boxes, from, to),
        _ => {
            counted(number, |value| !number.is_nan(value) && !missing.contains(&value), boxes, from, to);
        }
    }
}

fn counted<N: Summed>(
    number: N,
    is_present: impl Fn(N::Value) -> bool,
    boxes: &Boxes,
    from: &[u8],
    to: &mut [u8],
) {
    let (from, to) = (N::raws(from), N::raws_mut(to));
    let (factor, row) = (boxes.factor(), boxes.row());
    let mut sums = vec![(N::Sum::default(), 0_u32); boxes.row_of_result()];
    let add = |sum: &mut (N::Sum, u32), raw: &N::Raw| {
        let value = number.load(*raw);
        let is_present = is_present(value);
        sum.0 = if is_present { N::plus(sum.0, value) } else { sum.0 };
        sum.1 += u32::from(is_present);
    };
    boxes.each_row(|first, rows| {
        sums.fill((N::Sum::default(), 0));
        for start in rows {
            let row = &from[*start..start + row];
            if factor == 2 {
                let (pairs, rest) = row.as_chunks::<2>();
                for (sum, [one, other]) in sums.iter_mut().zip(pairs) {
                    add(sum, one);
                    add(sum, other);
                }
                if let ([last], Some(sum)) = (rest, sums.last_mut()) {
                    add(sum, last);
                }
            } else {
                for (sum, raws) in sums.iter_mut().zip(row.chunks(factor)) {
                    raws.iter().for_each(|raw| add(sum, raw));
                }
            }
        }
        for (at, (raw, (sum, count))) in to[first..].iter_mut().zip(&sums).enumerate() {
            *raw = match count {
                0 => from[rows[0] + at * factor],
                count => number.store(N::mean_of(*sum, *count as usize)),
            };
        }
    });
}
