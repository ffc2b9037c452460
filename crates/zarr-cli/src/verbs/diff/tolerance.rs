//! When two elements are equal, and how far they are apart.

use zarr_array::DataType;
use zarr_array::traits::number::Numeric;

/// Which differences of numbers do not count.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct Tolerance {
    /// Numbers are equal if they differ by at most ATOL + RTOL × |B|. Without tolerances all bits are compared, so that
    /// 0.0 and -0.0 differ.
    #[arg(long, value_name = "RTOL", default_value_t = 0.0, value_parser = not_negative)]
    rtol: f64,
    /// See `--rtol`.
    #[arg(long, value_name = "ATOL", default_value_t = 0.0, value_parser = not_negative)]
    atol: f64,
    /// NaN differs from NaN. By default all NaN are equal.
    #[arg(long)]
    pub(super) nan_differs: bool,
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected a number that is 0 or more".to_owned())
}

/// How far two elements are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Apart {
    Equal,
    /// The absolute and the relative difference of numbers, infinite where one is not finite.
    Numbers(f64, f64),
    Other,
}

/// Compares elements of one data type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judge {
    numeric: Option<Numeric>,
    tolerance: Tolerance,
}

impl Judge {
    pub(super) fn new(data_type: &DataType, tolerance: Tolerance) -> Self {
        Self { numeric: data_type.numeric(), tolerance }
    }

    /// Whether elements with equal bytes may differ.
    pub(super) fn looks_at_equal_bytes(&self) -> bool {
        let has_nan = matches!(self.numeric, Some(Numeric::Float(_) | Numeric::Complex(_)));
        self.tolerance.nan_differs && has_nan
    }

    /// Compares two elements in the byte order of this machine.
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Apart {
        if a == b && !self.looks_at_equal_bytes() {
            return Apart::Equal;
        }
        let Some(numeric) = self.numeric else { return Apart::Other };
        let size = numeric.size().max(1);
        // A complex number has two components.
        let parts = a.chunks_exact(size).zip(b.chunks_exact(size));
        parts
            .map(|(a, b)| self.part(numeric, numeric.load(a), numeric.load(b)))
            .fold(Apart::Equal, Apart::max)
    }

    fn part(&self, numeric: Numeric, a: u64, b: u64) -> Apart {
        let Tolerance { rtol, atol, nan_differs } = self.tolerance;
        if a == b && !nan_differs {
            return Apart::Equal;
        }
        let (x, y, absolute) = match numeric {
            Numeric::Float(format) | Numeric::Complex(format) => {
                let (x, y) = (format.to_f64(a), format.to_f64(b));
                (x, y, (x - y).abs())
            }
            _ => {
                let (x, y) = (numeric.integer(a).unwrap_or(0), numeric.integer(b).unwrap_or(0));
                (float(x), float(y), float(x - y).abs())
            }
        };
        let has_tolerance = rtol > 0.0 || atol > 0.0;
        let is_equal = match (x.is_nan(), y.is_nan()) {
            (true, true) => !nan_differs,
            (true, false) | (false, true) => false,
            _ => a == b || (has_tolerance && (x == y || absolute <= atol + rtol * y.abs() && y.is_finite())),
        };
        if is_equal {
            return Apart::Equal;
        }
        let finite = |number: f64| if number.is_nan() { f64::INFINITY } else { number };
        let relative = if absolute == 0.0 { 0.0 } else { absolute / y.abs() };
        Apart::Numbers(finite(absolute), finite(relative))
    }
}

impl Apart {
    fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::Numbers(a, r), Self::Numbers(b, s)) => Self::Numbers(a.max(b), r.max(s)),
            (Self::Equal, other) => other,
            (one, _) => one,
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "differences are shown as floats")]
fn float(integer: i128) -> f64 {
    integer as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_within_the_tolerance() {
        let judge =
            |rtol, atol, nan_differs| Judge::new(&DataType::Float64, Tolerance { rtol, atol, nan_differs });
        let (exact, near) = (judge(0.0, 0.0, false), judge(0.1, 0.5, false));
        let compare = |judge: &Judge, a: f64, b: f64| judge.compare(&a.to_ne_bytes(), &b.to_ne_bytes());
        let other_nan = f64::from_bits(f64::NAN.to_bits() | 1);
        let infinite = Apart::Numbers(f64::INFINITY, f64::INFINITY);
        for (judge, a, b, wanted) in [
            (exact, 1.0, 1.0, Apart::Equal),
            (exact, 0.0, -0.0, Apart::Numbers(0.0, 0.0)),
            (near, 0.0, -0.0, Apart::Equal),
            (exact, 3.0, 2.0, Apart::Numbers(1.0, 0.5)),
            (near, 10.0, 11.5, Apart::Equal),
            (near, 10.0, 12.0, Apart::Numbers(2.0, 2.0 / 12.0)),
            (exact, f64::NAN, other_nan, Apart::Equal),
            (near, f64::NAN, 1.0, infinite),
            (near, 1.0, f64::INFINITY, infinite),
            (near, f64::INFINITY, f64::INFINITY, Apart::Equal),
            (judge(0.0, 0.0, true), f64::NAN, f64::NAN, infinite),
            (judge(0.0, 0.0, true), 1.0, 1.0, Apart::Equal),
        ] {
            assert_eq!(compare(&judge, a, b), wanted, "{a} {b}");
        }
        let whole = Judge::new(&DataType::UInt64, Tolerance::default());
        assert_eq!(
            whole.compare(&u64::MAX.to_ne_bytes(), &(u64::MAX - 1).to_ne_bytes()),
            Apart::Numbers(1.0, 1.0 / float(i128::from(u64::MAX) - 1))
        );
        let text = Judge::new(&DataType::String, Tolerance::default());
        assert_eq!([text.compare(b"a", b"b"), text.compare(b"a", b"a")], [Apart::Other, Apart::Equal]);
    }
}
