//! Numbers of bytes as text.

use std::fmt;
use std::str::FromStr;

/// A number of bytes. As text `512MiB`, `2GB` or `100`; displayed with the units of 1,024.
///
/// ```
/// use zarr_copy::Size;
/// assert_eq!("512MiB".parse(), Ok(Size(512 << 20)));
/// assert_eq!("2GB".parse(), Ok(Size(2_000_000_000)));
/// assert_eq!(Size(1536).to_string(), "1.50 KiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u128);

impl Size {
    /// Returns the number of bytes, at most `u64::MAX`.
    pub fn bytes(self) -> u64 {
        self.0.try_into().unwrap_or(u64::MAX)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a number of bytes, such as 512MiB or 2GB");
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..end].parse().map_err(|_| wrong())?;
        let unit = text[end..].trim_start().to_ascii_lowercase();
        let power = |base: u128, letter: &str| {
            let power = ["k", "m", "g", "t", "p"].iter().position(|known| *known == letter)?;
            base.checked_pow(u32::try_from(power).ok()? + 1)
        };
        let factor = match unit.strip_suffix('b').unwrap_or(&unit) {
            "" => Some(1),
            letters => match letters.strip_suffix('i') {
                Some(letter) => power(1024, letter),
                // `512M` has no unit of bytes; programs with this spelling mean 1,024.
                None if !unit.ends_with('b') => power(1024, letters),
                None => power(1000, letters),
            },
        };
        factor.map(|factor| Self(u128::from(number) * factor)).ok_or_else(wrong)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        match self.0 {
            1 => return f.write_str("1 byte"),
            ..1024 => return write!(f, "{} bytes", self.0),
            // Below, the products do not overflow.
            _ if self.0 >= 1024 << 60 => return f.write_str("1024 EiB or more"),
            _ => {}
        }
        let mut unit = 1024;
        for name in UNITS {
            // Three digits, rounded; what is rounded up to 1024 has the next unit.
            let rounded = |tenth: u128| (self.0 * tenth + unit / 2) / unit;
            match [rounded(100), rounded(10), rounded(1)] {
                [n @ ..1000, ..] => return write!(f, "{}.{:02} {name}", n / 100, n % 100),
                [_, n @ ..1000, _] => return write!(f, "{}.{} {name}", n / 10, n % 10),
                [_, _, n] if n < 1024 || name == "EiB" => return write!(f, "{n} {name}"),
                _ => unit *= 1024,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_decimal_or_binary() {
        for (text, bytes) in [
            ("0", 0),
            ("100", 100),
            ("100 B", 100),
            ("1kB", 1000),
            ("1 KiB", 1024),
            ("3k", 3072),
            ("512MiB", 512 << 20),
            ("2gb", 2_000_000_000),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for bad in ["", "MiB", "1.5GB", "-1", "1xB", "1iB", "99999999999999999999"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn few_digits_are_shown() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1536, "1.50 KiB"),
            (29_041, "28.4 KiB"),
            (10_234, "9.99 KiB"),
            (10_235, "10.0 KiB"),
            (102_348, "99.9 KiB"),
            (102_349, "100 KiB"),
            ((1 << 20) - 513, "1023 KiB"),
            ((1 << 20) - 512, "1.00 MiB"),
            (31 << 20, "31.0 MiB"),
            (200 << 30, "200 GiB"),
            ((1024 << 60) - 1, "1024 EiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), shown);
        }
        assert_eq!(Size(u128::MAX).to_string(), "1024 EiB or more");
    }
}
