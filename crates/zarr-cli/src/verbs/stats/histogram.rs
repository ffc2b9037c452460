//! A histogram of numbers whose range is not known in advance.
//!
//! Each bin is as wide as a power of two and begins at a multiple of that. A number outside of the bins makes them wider,
//! so that two or more become one; no count is ever divided. So the counts are exact after one pass in fixed memory.

use std::ops::AddAssign;

/// The largest number of bins that are kept. Fewer are shown.
const MOST: i64 = 1 << 12;

/// Widths are at least the smallest number above zero.
const NARROWEST: i32 = -1074;

/// The type of counts: a small one for the elements that are counted in a row, so that all counts stay in the cache.
pub(super) trait Count: Copy + Default + AddAssign + PartialEq + From<u8> {}

impl Count for u32 {}
impl Count for u128 {}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram<C = u128> {
    /// The binary logarithm of the width; `None` without numbers.
    exponent: Option<i32>,
    /// The number of the first bin: bin 3 begins at three times the width.
    first: i64,
    /// The counts of bins that follow each other. Those at both ends are not zero.
    counts: Vec<C>,
}

/// A bin: the numbers from `from` up to, but not including, `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: u128,
}

impl<C: Count> Histogram<C> {
    /// Counts finite numbers, of which these are the smallest and the largest one.
    pub(super) fn add(&mut self, numbers: &[f64], smallest: f64, largest: f64) {
        let exponent = self.widen(smallest, largest);
        self.cover(bin(smallest, exponent), bin(largest, exponent));
        let (first, [one, two]) = (self.first, factors(exponent));
        for number in numbers {
            let place = usize::try_from(floor(number * one * two) - first);
            if let Some(count) = place.ok().and_then(|place| self.counts.get_mut(place)) {
                *count += C::from(1);
            }
        }
    }

    /// Removes all counts, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.exponent = None;
        self.counts.clear();
    }

    /// Adds the counts of another histogram.
    pub(super) fn merge<D: Count + Into<C>>(&mut self, other: &Histogram<D>) {
        let (Some(exponent), Some((first, last))) = (other.exponent, other.ends()) else { return };
        let own = self.widen(start(first, exponent), start(last, exponent)).max(exponent);
        self.widen_to(own);
        let by = own - exponent;
        self.cover(shifted(first, by), shifted(last, by));
        for (number, count) in (first..).zip(&other.counts) {
            let place = usize::try_from(shifted(number, by) - self.first);
            if let Some(sum) = place.ok().and_then(|place| self.counts.get_mut(place)) {
                *sum += (*count).into();
            }
        }
    }

    /// Returns the numbers of the first and of the last bin.
    fn ends(&self) -> Option<(i64, i64)> {
        let length = i64::try_from(self.counts.len()).ok().filter(|length| *length > 0)?;
        Some((self.first, self.first + length - 1))
    }

    /// Adds empty bins up to these two.
    fn cover(&mut self, low: i64, high: i64) {
        let (first, last) = self.ends().unwrap_or((low, low - 1));
        let before = usize::try_from(first - low).unwrap_or(0);
        if before > 0 {
            self.counts.splice(..0, std::iter::repeat_n(C::default(), before));
        }
        let after = usize::try_from(high - last).unwrap_or(0);
        self.counts.resize(self.counts.len() + after, C::default());
        self.first = first.min(low);
    }

    /// Makes the bins so wide that few reach from the smallest to the largest number, and to those that are counted.
    /// Returns the binary logarithm of the width.
    fn widen(&mut self, smallest: f64, largest: f64) -> i32 {
        let from = self.exponent.unwrap_or_else(|| least(smallest, largest));
        let mut exponent = from;
        while exponent < 1023 {
            let [one, two] = factors(exponent);
            let (mut low, mut high) = ((smallest * one * two).floor(), (largest * one * two).floor());
            if let Some((first, last)) = self.ends() {
                low = low.min(shifted(first, exponent - from) as f64);
                high = high.max(shifted(last, exponent - from) as f64);
            }
            if high - low < MOST as f64 && low.abs().max(high.abs()) < 2.0_f64.powi(53) {
                break;
            }
            exponent += 1;
        }
        self.widen_to(exponent);
        exponent
    }

    fn widen_to(&mut self, exponent: i32) {
        let by = exponent - self.exponent.unwrap_or(exponent);
        if let Some((first, last)) = self.ends().filter(|_| by > 0) {
            let counts = std::mem::take(&mut self.counts);
            self.cover(shifted(first, by), shifted(last, by));
            for (number, count) in (first..).zip(counts) {
                let place = usize::try_from(shifted(number, by) - self.first);
                if let Some(sum) = place.ok().and_then(|place| self.counts.get_mut(place)) {
                    *sum += count;
                }
            }
        }
        self.exponent = Some(exponent);
    }
}

impl Histogram {
    /// Multiplies all counts.
    pub(super) fn times(&mut self, times: u128) {
        self.counts.iter_mut().for_each(|count| *count *= times);
    }

    /// Returns at most `most` bins of equal width that follow each other, from the first to the last counted one; at least
    /// two if there are numbers on both sides of 0, where a bin begins in any case.
    pub(super) fn bins(&self, most: usize) -> Vec<Bin> {
        let Some(exponent) = self.exponent.filter(|_| most > 0) else { return Vec::new() };
        let mut shown = self.clone();
        let most = i64::try_from(most.max(2)).unwrap_or(MOST);
        let mut width = exponent;
        while let Some((first, last)) = shown.ends()
            && last - first >= most
        {
            width += 1;
            shown.widen_to(width);
        }
        let bin = |(bin, count): (i64, &u128)| Bin {
            from: start(bin, width),
            to: start(bin + 1, width),
            count: *count,
        };
        (shown.first..).zip(&shown.counts).map(bin).collect()
    }
}

/// Returns a width that is not too large for numbers from `smallest` to `largest`: no smaller one has few bins between
/// them, with exact numbers.
fn least(smallest: f64, largest: f64) -> i32 {
    let logarithm = |number: f64| match ((number.to_bits() >> 52) & 0x7ff) as i32 {
        0 => NARROWEST,
        exponent => exponent - 1023,
    };
    let span = largest - smallest;
    let by_span = if span.is_finite() { logarithm(span) } else { 1023 } - 13;
    let by_size = logarithm(smallest.abs().max(largest.abs())) - 53;
    by_span.max(by_size).max(NARROWEST)
}

/// Returns two factors that make a number one in units of a width. One of them is 1, unless a power of two is out of
/// range.
fn factors(exponent: i32) -> [f64; 2] {
    match exponent {
        -1023..=1022 => [2.0_f64.powi(-exponent), 1.0],
        _ => [2.0_f64.powi(-(exponent / 2)), 2.0_f64.powi(-(exponent - exponent / 2))],
    }
}

/// Returns the largest whole number that is not above a number of less than 2^53. Takes less time than the function of the
/// system, which processors without SSE4.1 call.
#[expect(clippy::cast_possible_truncation, reason = "bins are so wide that their numbers are below 2^53")]
fn floor(number: f64) -> i64 {
    let whole = number as i64;
    whole - i64::from(whole as f64 > number)
}

fn bin(number: f64, exponent: i32) -> i64 {
    let [one, two] = factors(exponent);
    floor(number * one * two)
}

fn start(bin: i64, exponent: i32) -> f64 {
    let half = exponent / 2;
    bin as f64 * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
}

/// Returns the bin that holds a bin when the bins are 2^`by` times as wide.
fn shifted(bin: i64, by: i32) -> i64 {
    bin >> by.clamp(0, 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> Histogram {
        let mut histogram = Histogram::<u128>::default();
        for number in numbers {
            histogram.add(&[*number], *number, *number);
        }
        histogram
    }

    fn ends(numbers: &[f64]) -> (f64, f64) {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        (low, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    #[test]
    fn every_number_is_in_its_bin_in_any_order() {
        let mut random = fastrand::Rng::with_seed(3);
        for scale in [1.0, 1e-300, 1e300, 1e-5] {
            for offset in [0.0, 1e3, -7.0] {
                let numbers: Vec<f64> = (0..5000).map(|_| (random.f64() - 0.3 + offset) * scale).collect();
                let (low, high) = ends(&numbers);
                let mut whole = Histogram::<u128>::default();
                whole.add(&numbers, low, high);
                let mut parts = of(&numbers[..70]);
                parts.merge(&of(&numbers[70..]));
                for histogram in [whole, of(&numbers), parts] {
                    let bins = histogram.bins(40);
                    assert!((11..=40).contains(&bins.len()), "{}", bins.len());
                    assert!(bins[0].from <= low && high < bins[bins.len() - 1].to);
                    for Bin { from, to, count } in bins {
                        let inside = numbers.iter().filter(|n| (from..to).contains(*n)).count();
                        assert_eq!(count, inside as u128, "{from} {to}");
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_numbers_are_counted() {
        for numbers in [&[0.0][..], &[-0.0, f64::MIN_POSITIVE / 4.0], &[f64::MAX, f64::MIN], &[1e300, 1e-300]]
        {
            let bins = of(numbers).bins(10);
            assert_eq!(bins.iter().map(|bin| bin.count).sum::<u128>(), numbers.len() as u128, "{numbers:?}");
        }
        assert_eq!(Histogram::<u128>::default().bins(10), []);
        assert_eq!([0, 1, 2].map(|most| of(&[-3.0, 2e9]).bins(most).len()), [0, 2, 2]);
        let one = of(&[5.0, 5.0]).bins(10);
        assert!(one.len() == 1 && one[0].from <= 5.0 && 5.0 < one[0].to && one[0].count == 2);
    }
}
