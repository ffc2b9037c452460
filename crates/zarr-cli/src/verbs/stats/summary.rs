//! The sums of elements: extremes, mean, deviation, missing elements.

use std::sync::Mutex;
use std::thread;

use half::f16;
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::strided::Plain;

use super::histogram::Histogram;
use crate::crew;
use crate::exit::Failure;

/// The number of elements whose mean is taken at once. They stay in the cache for the second look at them.
const BLOCK: usize = 1 << 13;

/// The number of elements that a thread takes at once.
const SHARE: usize = 1 << 18;

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
    fn to_f64(self) -> f64;
    fn exact(self) -> Number;
}

macro_rules! elements {
    ($($t:ty => $variant:ident $wide:expr;)*) => {$(
        impl Element for $t {
            fn to_f64(self) -> f64 {
                Number::$variant($wide(self)).to_f64()
            }

            fn exact(self) -> Number {
                Number::$variant($wide(self))
            }
        }
    )*};
}

elements! {
    i8 => Integer i128::from;
    i16 => Integer i128::from;
    i32 => Integer i128::from;
    i64 => Integer i128::from;
    u8 => Integer i128::from;
    u16 => Integer i128::from;
    u32 => Integer i128::from;
    u64 => Integer i128::from;
    f16 => Float f64::from;
    f32 => Float f64::from;
    f64 => Float std::convert::identity;
}

impl Summary {
    /// Summarises elements on all processors. `is_missing` tells the missing ones besides NaN; `fill` is the fill value.
    pub(super) fn of<T: Element + Send + Sync>(
        elements: &[T],
        is_missing: impl Fn(T) -> bool + Sync,
        fill: Option<T>,
    ) -> Result<Self, Failure> {
        let parts: Vec<&[T]> = elements.chunks(SHARE).collect();
        let sums = Mutex::new(vec![Self::default(); parts.len()]);
        let job = |(number, part): (usize, &[T])| {
            let mut sum = Self::default();
            part.chunks(BLOCK).for_each(|block| sum.merge(Self::of_block(block, &is_missing, fill)));
            if let Some(place) = unpoisoned(sums.lock()).get_mut(number) {
                *place = sum;
            }
            Ok(())
        };
        let width = thread::available_parallelism().map_or(1, usize::from).min(parts.len());
        crew::each(width, parts.into_iter().enumerate().map(Ok), |_| 1, job)?;
        // In their order, so that the sums do not depend on the threads.
        let mut all = Self::default();
        unpoisoned(sums.into_inner()).into_iter().for_each(|sum| all.merge(sum));
        Ok(all)
    }

    fn of_block<T: Element>(elements: &[T], is_missing: impl Fn(T) -> bool, fill: Option<T>) -> Self {
        let is_equal =
            |element: &&T| fill.is_some_and(|fill| **element == fill || is_nan(**element) && is_nan(fill));
        let is_there = |element: &&T| !is_nan(**element) && !is_missing(**element);
        let there = || elements.iter().filter(is_there).copied();
        let finite = || there().map(Element::to_f64).filter(|number| number.is_finite());
        let mut extremes: Option<(T, T)> = None;
        let (mut count, mut sum, mut present) = (0_u128, 0.0, 0_u128);
        for element in there() {
            let (low, high) = extremes.unwrap_or((element, element));
            extremes = Some((
                if element < low { element } else { low },
                if element > high { element } else { high },
            ));
            present += 1;
            let number = element.to_f64();
            if number.is_finite() {
                count += 1;
                sum += number;
            }
        }
        let mean = if count > 0 { sum / count as f64 } else { 0.0 };
        let ends =
            finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), n| (low.min(n), high.max(n)));
        let mut histogram = Histogram::default();
        if count > 0 {
            histogram.add(finite(), ends.0, ends.1);
        }
        Self {
            count: elements.len() as u128,
            missing: elements.len() as u128 - present,
            infinite: present - count,
            fill: elements.iter().filter(is_equal).count() as u128,
            extremes: extremes.map(|(low, high)| (low.exact(), high.exact())),
            finite: count,
            mean,
            squares: finite().map(|number| (number - mean) * (number - mean)).sum(),
            histogram,
        }
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
        self.histogram.merge(other.histogram);
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
        let sum = Summary::of(&elements, |_| false, Some(1e6)).unwrap();
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
        let of = |elements: &[f64]| Summary::of(elements, |_| false, Some(2.5)).unwrap();
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
        let sum = Summary::of(&[u64::MAX, u64::MAX - 1, 7], |element| element == 7, Some(7)).unwrap();
        let number = |integer: u64| Number::Integer(integer.into());
        assert_eq!(sum.extremes, Some((number(u64::MAX - 1), number(u64::MAX))));
        assert_eq!((sum.missing, sum.fill), (1, 1));
        let none = Summary::of(&[f64::NAN], |_| false, Some(f64::NAN)).unwrap();
        assert_eq!((none.extremes, none.mean(), none.deviation(), none.fill), (None, None, None, 1));
        assert_eq!(Summary::of::<i8>(&[], |_| false, None).unwrap().count, 0);
    }
}
