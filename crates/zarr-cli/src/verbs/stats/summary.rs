//! The sums of elements: extremes, mean, deviation, missing elements.

use half::f16;
use zarr_array::traits::strided::Plain;

use super::histogram::Histogram;

/// The number of elements whose mean is taken at once. They stay in the cache for the second look at them.
const BLOCK: usize = 1 << 12;

/// The number of elements that are counted before their counts are added to larger ones.
const SHARE: usize = 1 << 20;

/// The statistics of some elements.
#[derive(Debug, Clone, Default)]
pub(super) struct Summary {
    /// All elements.
    pub(super) count: u128,
    /// NaN, or the values that mean a missing element.
    pub(super) missing: u128,
    /// Infinities: they count in the extremes, and not in mean, deviation and histogram.
    pub(super) infinite: u128,
    /// Elements that equal the fill value.
    pub(super) fill: u128,
    /// The smallest and the largest element.
    pub(super) extremes: Option<(Number, Number)>,
    finite: u128,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
    pub(super) histogram: Histogram,
}

/// An exact number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

/// The types of elements that have statistics.
pub(super) trait Element: Plain + PartialOrd {
    /// Whether a number may be NaN or infinite.
    const IS_FLOAT: bool;
    /// Whether `f64` has all numbers of this type.
    const IS_NARROW: bool;

    fn to_f64(self) -> f64;
    fn exact(self) -> Number;
}

macro_rules! elements {
    ($($t:ty => $variant:ident $wide:expr, $to_f64:expr, $is_float:literal $is_narrow:literal;)*) => {$(
        impl Element for $t {
            const IS_FLOAT: bool = $is_float;
            const IS_NARROW: bool = $is_narrow;

            fn to_f64(self) -> f64 {
                $to_f64(self)
            }

            fn exact(self) -> Number {
                Number::$variant($wide(self))
            }
        }
    )*};
}

elements! {
    i8 => Integer i128::from, f64::from, false true;
    i16 => Integer i128::from, f64::from, false true;
    i32 => Integer i128::from, f64::from, false true;
    i64 => Integer i128::from, |n: i64| n as f64, false false;
    u8 => Integer i128::from, f64::from, false true;
    u16 => Integer i128::from, f64::from, false true;
    u32 => Integer i128::from, f64::from, false true;
    u64 => Integer i128::from, |n: u64| n as f64, false false;
    f16 => Float f64::from, f64::from, true true;
    f32 => Float f64::from, f64::from, true true;
    f64 => Float std::convert::identity, std::convert::identity, true true;
}

/// The sums of finite numbers in a block.
struct Sums {
    low: f64,
    high: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    /// Returns `None` without numbers.
    ///
    /// The loops have several sums side by side, which the compiler puts into the registers for vectors. So a sum has an
    /// error of at most 2^-43 of the sum of the absolute values.
    fn of(numbers: &[f64]) -> Option<Self> {
        const LANES: usize = 8;
        let (rows, rest) = numbers.as_chunks::<LANES>();
        let (mut lows, mut highs) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut sums = [0.0; LANES];
        for row in rows {
            for (lane, number) in row.iter().enumerate() {
                sums[lane] += number;
                lows[lane] = if *number < lows[lane] { *number } else { lows[lane] };
                highs[lane] = if *number > highs[lane] { *number } else { highs[lane] };
            }
        }
        let sum = sums.iter().sum::<f64>() + rest.iter().sum::<f64>();
        let low = lows.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
        let high = highs.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = sum / numbers.len() as f64;
        let mut squares = [0.0; LANES];
        for row in rows {
            for (lane, number) in row.iter().enumerate() {
                squares[lane] += (number - mean) * (number - mean);
            }
        }
        let rest = rest.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>();
        let squares = squares.iter().sum::<f64>() + rest;
        (!numbers.is_empty()).then_some(Self { low, high, mean, squares })
    }
}

impl Summary {
    /// Summarises elements. `is_missing` tells the missing ones besides NaN; `fill` is the fill value.
    #[cfg(test)]
    pub(super) fn of<T: Element>(elements: &[T], is_missing: impl Fn(T) -> bool, fill: Option<T>) -> Self {
        Self::of_loaded(elements, |element| *element, is_missing, fill)
    }

    /// Changes the extremes that are floats.
    pub(super) fn round_extremes(&mut self, round: impl Fn(f64) -> f64) {
        let rounded = |number| match number {
            Number::Float(float) => Number::Float(round(float)),
            whole => whole,
        };
        self.extremes = self.extremes.map(|(low, high)| (rounded(low), rounded(high)));
    }

    /// Summarises elements that `load` returns.
    pub(super) fn of_loaded<E, T: Element>(
        elements: &[E],
        load: impl Fn(&E) -> T,
        is_missing: impl Fn(T) -> bool,
        fill: Option<T>,
    ) -> Self {
        let mut sum = Self::default();
        let mut counted = Histogram::<u32>::default();
        let mut numbers = [0.0; BLOCK];
        for share in elements.chunks(SHARE) {
            for block in share.chunks(BLOCK) {
                sum.add_block(block, &load, &is_missing, fill, &mut numbers, &mut counted);
            }
            sum.histogram.merge(&counted);
            counted.clear();
        }
        sum
    }

    /// Adds a block, whose numbers are put into `numbers` and counted in `counted`.
    fn add_block<E, T: Element>(
        &mut self,
        block: &[E],
        load: &impl Fn(&E) -> T,
        is_missing: &impl Fn(T) -> bool,
        fill: Option<T>,
        numbers: &mut [f64; BLOCK],
        counted: &mut Histogram<u32>,
    ) {
        let mut equal = 0_u32;
        match fill {
            Some(fill) if is_nan(fill) => block.iter().for_each(|e| equal += u32::from(is_nan(load(e)))),
            Some(fill) => block.iter().for_each(|e| equal += u32::from(load(e) == fill)),
            None => {}
        }
        numbers.iter_mut().zip(block).for_each(|(number, element)| *number = load(element).to_f64());
        let numbers = &mut numbers[..block.len()];
        let is_whole = !T::IS_FLOAT || numbers.iter().fold(true, |all, number| all & number.is_finite());
        let is_whole = is_whole && !block.iter().fold(false, |any, element| any | is_missing(load(element)));
        let (mut present, mut extremes) = (block.len(), None);
        let mut finite = block.len();
        if !is_whole {
            (present, finite) = (0, 0);
            for element in block.iter().map(load) {
                if is_nan(element) || is_missing(element) {
                    continue;
                }
                present += 1;
                extremes = Some(widened(extremes, element));
                let number = element.to_f64();
                if number.is_finite() {
                    numbers[finite] = number;
                    finite += 1;
                }
            }
        } else if !T::IS_NARROW {
            extremes =
                block.iter().map(load).fold(None, |extremes, element| Some(widened(extremes, element)));
        }
        let sums = Sums::of(&numbers[..finite]);
        let exact = |number: f64| match T::IS_FLOAT {
            true => Number::Float(number),
            #[expect(clippy::cast_possible_truncation, reason = "it was a whole number")]
            false => Number::Integer(number as i128),
        };
        let extremes = match (extremes, &sums) {
            (Some((low, high)), _) => Some((low.exact(), high.exact())),
            (None, Some(sums)) if is_whole => Some((exact(sums.low), exact(sums.high))),
            _ => None,
        };
        if let Some(sums) = &sums {
            counted.add(&numbers[..finite], sums.low, sums.high);
        }
        self.merge(Self {
            count: block.len() as u128,
            missing: (block.len() - present) as u128,
            infinite: (present - finite) as u128,
            fill: equal.into(),
            extremes,
            finite: finite as u128,
            mean: sums.as_ref().map_or(0.0, |sums| sums.mean),
            squares: sums.map_or(0.0, |sums| sums.squares),
            histogram: Histogram::default(),
        });
    }

    /// Returns what is known of `times` elements that equal this one, or of `times` repetitions of these.
    pub(super) fn times(mut self, times: u128) -> Self {
        for count in
            [&mut self.count, &mut self.missing, &mut self.infinite, &mut self.fill, &mut self.finite]
        {
            *count *= times;
        }
        self.squares *= times as f64;
        self.histogram.times(times);
        self
    }

    /// Adds what is known of other elements.
    pub(super) fn merge(&mut self, other: Self) {
        let (own, more) = (self.finite as f64, other.finite as f64);
        if other.finite > 0 {
            let distance = other.mean - self.mean;
            let all = own + more;
            self.mean += distance * (more / all);
            self.squares += other.squares + distance * distance * (own * more / all);
        }
        self.finite += other.finite;
        self.count += other.count;
        self.missing += other.missing;
        self.infinite += other.infinite;
        self.fill += other.fill;
        self.extremes = match (self.extremes, other.extremes) {
            (Some((low, high)), Some((least, most))) => {
                Some((if least < low { least } else { low }, if most > high { most } else { high }))
            }
            (own, other) => own.or(other),
        };
        self.histogram.merge(&other.histogram);
    }

    /// The mean of the finite elements.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.mean)
    }

    /// The standard deviation of the finite elements, of all of them (`ddof=0` in NumPy).
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.finite > 0).then(|| (self.squares / self.finite as f64).sqrt())
    }
}

/// Returns the smallest and the largest of some elements and another one.
fn widened<T: PartialOrd + Copy>(extremes: Option<(T, T)>, element: T) -> (T, T) {
    let (low, high) = extremes.unwrap_or((element, element));
    (if element < low { element } else { low }, if element > high { element } else { high })
}

#[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
fn is_nan<T: PartialOrd>(element: T) -> bool {
    element != element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_elements() {
        let elements: Vec<f32> = (0..1_000_003_u32)
            .map(|n| match n % 1000 {
                0 => f32::NAN,
                1 => f32::INFINITY,
                _ => (n % 1013) as f32 + 1e6,
            })
            .collect();
        let sum = Summary::of(&elements, |_| false, Some(1e6));
        let finite: Vec<f64> = elements.iter().copied().filter(|n| n.is_finite()).map(f64::from).collect();
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        let squares = finite.iter().map(|n| (n - mean).powi(2)).sum::<f64>();
        assert_eq!((sum.count, sum.missing, sum.infinite), (1_000_003, 1001, 1001));
        assert_eq!(sum.extremes, Some((Number::Float(1e6), Number::Float(f64::INFINITY))));
        assert_eq!(sum.fill, finite.iter().filter(|n| **n == 1e6).count() as u128);
        assert!((sum.mean().unwrap() - mean).abs() < 1e-6);
        assert!((sum.deviation().unwrap() - (squares / finite.len() as f64).sqrt()).abs() < 1e-6);
        assert_eq!(sum.histogram.bins(8).iter().map(|bin| bin.count).sum::<u128>(), finite.len() as u128);
    }

    #[test]
    fn repeated_elements_are_summed_as_if_each_was_there() {
        let of = |elements: &[f64]| Summary::of(elements, |_| false, Some(2.5));
        let mut sum = of(&[1.0, 4.0]);
        sum.merge(of(&[2.5]).times(1000));
        sum.merge(of(&[f64::NAN]).times(3));
        let wanted = of(&[vec![1.0, 4.0], vec![2.5; 1000], vec![f64::NAN; 3]].concat());
        let counts = |sum: &Summary| [sum.count, sum.missing, sum.infinite, sum.fill, sum.finite];
        assert_eq!(counts(&sum), counts(&wanted));
        assert_eq!((sum.extremes, sum.histogram.bins(9)), (wanted.extremes, wanted.histogram.bins(9)));
        assert!((sum.mean - wanted.mean).abs() < 1e-12 && (sum.squares - wanted.squares).abs() < 1e-9);
        sum.merge(of(&[7.0]).times(1 << 126));
        assert!((sum.mean - 7.0).abs() < 1e-12 && sum.deviation().unwrap() < 1e-9, "{sum:?}");
    }

    #[test]
    fn large_integers_are_exact_and_no_elements_have_no_mean() {
        let sum = Summary::of(&[u64::MAX, u64::MAX - 1, 7], |element| element == 7, Some(7));
        let number = |integer: u64| Number::Integer(integer.into());
        assert_eq!(sum.extremes, Some((number(u64::MAX - 1), number(u64::MAX))));
        assert_eq!((sum.missing, sum.fill), (1, 1));
        let none = Summary::of(&[f64::NAN], |_| false, Some(f64::NAN));
        assert_eq!((none.extremes, none.mean(), none.deviation(), none.fill), (None, None, None, 1));
        assert_eq!(Summary::of::<i8>(&[], |_| false, None).count, 0);
    }
}
