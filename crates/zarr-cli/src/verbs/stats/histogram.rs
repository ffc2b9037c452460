//! A histogram of numbers whose range is not known in advance.
//!
//! Each bin is as wide as a power of two and begins at a multiple of that. A number outside of the bins makes them wider,
//! so that two or more become one; no count is ever divided. So the counts are exact after one pass in fixed memory.

use std::collections::BTreeMap;

/// The largest number of bins that are kept. Fewer are shown.
const MOST: i64 = 1 << 12;

/// Widths are at least the smallest number above zero.
const NARROWEST: i32 = -1074;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram {
    /// The binary logarithm of the width; `None` without numbers.
    exponent: Option<i32>,
    /// The counts by the number of the bin: bin 3 begins at three times the width.
    counts: BTreeMap<i64, u128>,
}

/// A bin: the numbers from `from` up to, but not including, `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: u128,
}

impl Histogram {
    /// Counts finite numbers between two.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = f64>, smallest: f64, largest: f64) {
        self.widen(smallest, largest);
        let Some(exponent) = self.exponent else { return };
        // Most numbers are in few bins, so runs are counted together.
        let mut run = (0, 0);
        for number in numbers {
            let bin = bin(number, exponent);
            if bin != run.0 {
                self.count(run);
                run = (bin, 0);
            }
            run.1 += 1;
        }
        self.count(run);
    }

    fn count(&mut self, (bin, count): (i64, u128)) {
        if count > 0 {
            *self.counts.entry(bin).or_default() += count;
        }
    }

    /// Multiplies all counts.
    pub(super) fn times(&mut self, times: u128) {
        self.counts.values_mut().for_each(|count| *count *= times);
    }

    /// Adds the counts of another histogram.
    pub(super) fn merge(&mut self, mut other: Self) {
        let Some(exponent) = other.exponent else { return };
        let ends = other.counts.keys().next().zip(other.counts.keys().next_back());
        let Some((first, last)) = ends.map(|(first, last)| (start(*first, exponent), start(*last, exponent)))
        else {
            return;
        };
        self.widen(first, last);
        let own = self.exponent.unwrap_or(exponent).max(exponent);
        self.widen_to(own);
        other.widen_to(own);
        other.counts.into_iter().for_each(|counted| self.count(counted));
    }

    /// Makes the bins so wide that few reach from the smallest to the largest number, and to those that are counted.
    fn widen(&mut self, smallest: f64, largest: f64) {
        let mut exponent = self.exponent.unwrap_or(NARROWEST);
        let counted = |exponent: i32| {
            let from = self.exponent.unwrap_or(exponent);
            let ends = self.counts.keys().next().zip(self.counts.keys().next_back());
            ends.map(|(first, last)| (shifted(*first, exponent - from), shifted(*last, exponent - from)))
        };
        while exponent < 1023 {
            let (mut low, mut high) = (scaled(smallest, exponent).floor(), scaled(largest, exponent).floor());
            if let Some((first, last)) = counted(exponent) {
                (low, high) = (low.min(first as f64), high.max(last as f64));
            }
            if high - low < MOST as f64 && low.abs().max(high.abs()) < 2.0_f64.powi(53) {
                break;
            }
            exponent += 1;
        }
        self.widen_to(exponent);
    }

    fn widen_to(&mut self, exponent: i32) {
        let by = exponent - self.exponent.unwrap_or(exponent);
        if by > 0 {
            let counts = std::mem::take(&mut self.counts);
            counts.into_iter().for_each(|(bin, count)| self.count((shifted(bin, by), count)));
        }
        self.exponent = Some(exponent);
    }

    /// Returns at most `most` bins of equal width that follow each other, from the first to the last counted one; at least
    /// two if there are numbers on both sides of 0, where a bin begins in any case.
    pub(super) fn bins(&self, most: usize) -> Vec<Bin> {
        let Some(exponent) = self.exponent.filter(|_| most > 0) else { return Vec::new() };
        let mut shown = self.clone();
        let most = i64::try_from(most.max(2)).unwrap_or(MOST);
        let span =
            |of: &Self| of.counts.keys().next().zip(of.counts.keys().next_back()).map(|(a, b)| (*a, *b));
        let mut width = exponent;
        while let Some((first, last)) = span(&shown)
            && last - first >= most
        {
            width += 1;
            shown.widen_to(width);
        }
        let Some((first, last)) = span(&shown) else { return Vec::new() };
        let bin = |bin: i64| Bin {
            from: start(bin, width),
            to: start(bin + 1, width),
            count: shown.counts.get(&bin).copied().unwrap_or(0),
        };
        (first..=last).map(bin).collect()
    }
}

/// Returns a number in units of a width.
fn scaled(number: f64, exponent: i32) -> f64 {
    // Two steps, because a power of two may be out of range.
    let half = exponent / 2;
    number / 2.0_f64.powi(half) / 2.0_f64.powi(exponent - half)
}

#[expect(clippy::cast_possible_truncation, reason = "bins are so wide that their numbers are below 2^53")]
fn bin(number: f64, exponent: i32) -> i64 {
    scaled(number, exponent).floor() as i64
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
        let mut histogram = Histogram::default();
        for number in numbers {
            histogram.add([*number].into_iter(), *number, *number);
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
                let mut whole = Histogram::default();
                whole.add(numbers.iter().copied(), low, high);
                let mut parts = of(&numbers[..70]);
                parts.merge(of(&numbers[70..]));
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
        assert_eq!(Histogram::default().bins(10), []);
        assert_eq!([0, 1, 2].map(|most| of(&[-3.0, 2e9]).bins(most).len()), [0, 2, 2]);
        let one = of(&[5.0, 5.0]).bins(10);
        assert!(one.len() == 1 && one[0].from <= 5.0 && 5.0 < one[0].to && one[0].count == 2);
    }
}
