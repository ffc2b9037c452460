//! The decimals of packed numbers.

/// The number of decimals of packed numbers: that of the scale and the offset, whichever has more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimals {
    /// The power of ten that makes the numbers whole.
    power: f64,
}

impl Decimals {
    /// Numbers with more decimals are not written so by people.
    const MOST: usize = 12;

    /// From this number on, arithmetic of float64 does not find the decimals: its errors come near to half of the last one.
    const LARGE: f64 = 1e14;

    /// Returns `None` if scale or offset is no short decimal, such as 1/3, or there is neither.
    pub(crate) fn of(scale: Option<f64>, offset: Option<f64>) -> Option<Self> {
        let decimals = |number: f64| number.to_string().split_once('.').map_or(0, |(_, behind)| behind.len());
        let count =
            scale.into_iter().chain(offset).map(decimals).max().filter(|count| *count <= Self::MOST)?;
        let power = 10_f64.powi(i32::try_from(count).ok()?);
        let is_small = (offset.unwrap_or(0.0) * power).abs() < Self::LARGE;
        is_small.then_some(Self { power })
    }

    /// Returns the nearest number with so many decimals. It differs from `number` by far less than half of the scale.
    pub(crate) fn round(self, number: f64) -> f64 {
        let whole = (number * self.power).round();
        // Adding 0 turns -0 into 0.
        if whole.abs() < Self::LARGE { whole / self.power + 0.0 } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_have_the_decimals_of_their_scale() {
        for (scale, offset, packed, text) in [
            (0.01, 273.15, 2258, "295.73"),
            (0.0017, 273.15, 7, "273.1619"),
            (0.125, 256.0, 193, "280.125"),
            (0.1, 0.0, 3, "0.3"),
            (1e-12, 0.0, 7, "7e-12"),
            (25.0, 1e6, -40_000, "0"),
            (0.01, 1e13, 1, "10000000000000.01"),
        ] {
            let decimals = Decimals::of(Some(scale), Some(offset));
            let number = f64::from(packed) * scale + offset;
            let shown = decimals.map_or(number, |decimals| decimals.round(number));
            assert_eq!(format!("{shown:?}").trim_end_matches(".0"), text);
        }
        assert!(Decimals::of(Some(1.0 / 3.0), None).is_none() && Decimals::of(None, None).is_none());
    }

    /// What is printed says which number is stored.
    #[test]
    fn printed_numbers_identify_the_packed_ones() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200_000 {
            let mut factor = |most: i64| {
                let decimals = random.i32(0..=14);
                let text = format!("{}e-{decimals}", random.i64(-most..=most));
                text.parse::<f64>().unwrap()
            };
            let (scale, offset) = (factor(999), factor(9_999_999));
            if scale == 0.0 {
                continue;
            }
            let packed = f64::from(random.i32(..) >> random.u32(0..31));
            let number = packed * scale + offset;
            let again = |number: f64| ((number - offset) / scale).round_ties_even();
            let Some(decimals) = Decimals::of(Some(scale), Some(offset)) else { continue };
            let text = format!("{:?}", decimals.round(number));
            if again(number) == packed {
                assert_eq!(again(text.parse().unwrap()), packed, "{packed} × {scale} + {offset}: {text}");
            }
        }
    }
}
