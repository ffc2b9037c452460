//! A dimension, by its name or its number.

use std::convert::Infallible;
use std::str::FromStr;

use zarr_array::blocking::Array;
use zarr_xarray::dimensions;

use crate::args::similar::did_you_mean;
use crate::exit::Failure;

/// A dimension as it is typed. A negative number counts from the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dimension {
    Number(i64),
    Name(String),
}

impl FromStr for Dimension {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

/// Returns the names of the dimensions of an array; empty if it has none.
pub(crate) fn names(array: &Array) -> Vec<String> {
    dimensions(array.metadata()).map(|dimensions| dimensions.names).unwrap_or_default()
}

impl Dimension {
    /// Returns the number of the dimension in an array.
    pub(crate) fn find(&self, array: &Array) -> Result<usize, Failure> {
        self.among(&names(array), array.shape().len())
    }

    fn among(&self, names: &[String], rank: usize) -> Result<usize, Failure> {
        let found = match self {
            Self::Number(number) => {
                let counted =
                    if *number < 0 { number.checked_add_unsigned(rank as u64) } else { Some(*number) };
                counted.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < rank)
            }
            Self::Name(name) => names.iter().position(|own| own == name),
        };
        found.ok_or_else(|| {
            let of = match self {
                Self::Number(number) => format!("dimension {number}: the array has {rank} dimensions"),
                Self::Name(name) => no_dimension(name, names),
            };
            Failure::usage(of)
        })
    }
}

/// The message for a name that none of the dimensions has.
pub(crate) fn no_dimension(name: &str, names: &[String]) -> String {
    if names.iter().all(String::is_empty) {
        return format!("there is no dimension {name:?}: the dimensions have no names, use numbers");
    }
    let hint = did_you_mean(name, names.iter().cloned());
    let hint = hint.unwrap_or_else(|| format!("; its dimensions are {}", names.join(", ")));
    format!("there is no dimension {name:?}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dimension_is_found_by_its_name_and_by_its_number() {
        let names = ["time", "lat", "lon"].map(str::to_owned);
        let found = |text: &str| text.parse::<Dimension>().unwrap().among(&names, 3);
        for (text, wanted) in [("time", 0), ("lon", 2), ("1", 1), ("-1", 2), ("-3", 0)] {
            assert_eq!(found(text).unwrap(), wanted, "{text}");
        }
        for (text, part) in [
            ("latt", "did you mean \"lat\"?"),
            ("depth", "its dimensions are time, lat, lon"),
            ("3", "the array has 3 dimensions"),
            ("-4", "the array has 3 dimensions"),
            ("-9223372036854775808", "the array has 3 dimensions"),
        ] {
            let e = found(text).unwrap_err();
            assert!(e.message().contains(part), "{}", e.message());
        }
        let e = Dimension::Name("x".to_owned()).among(&[], 1).unwrap_err();
        assert!(e.message().contains("have no names"), "{}", e.message());
    }
}
