//! The lengths of dimensions: `8760,721,1440`, `10x10`, or `time=8784`.

use std::str::FromStr;

use crate::args::dimension::no_dimension;
use crate::exit::Failure;

/// The lengths of the dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

/// Reads a length: digits, with `_` between them, or a whole number such as `1e6`.
fn length(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let plain = text.replace('_', "");
    let digits = |text: &str| text.parse::<u64>().ok();
    let power = || {
        let (digits_of, exponent) = plain.split_once(['e', 'E'])?;
        digits(digits_of)?.checked_mul(10_u64.checked_pow(exponent.parse().ok()?)?)
    };
    let is_padded = text.starts_with('_') || text.ends_with('_');
    digits(&plain).or_else(power).filter(|_| !is_padded).ok_or_else(|| format!("{text:?} is not a length"))
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let separators: &[char] = if text.contains(',') { &[','] } else { &['x', '×'] };
        let parts = text.split(separators).filter(|_| !text.trim().is_empty());
        parts.map(length).collect::<Result<_, _>>().map(Self)
    }
}

/// The new lengths of an array: of all dimensions, or of some by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewShape {
    All(Shape),
    Named(Vec<(String, u64)>),
}

impl FromStr for NewShape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('=') {
            return text.parse().map(Self::All);
        }
        let named = |part: &str| {
            let wrong = || format!("{part:?} is not the name of a dimension with a length, such as time=24");
            let (name, new) = part.split_once('=').ok_or_else(wrong)?;
            Ok((name.trim().to_owned(), length(new)?))
        };
        text.split(',').map(named).collect::<Result<_, String>>().map(Self::Named)
    }
}

impl NewShape {
    /// Returns the lengths of an array whose dimensions have these names and lengths.
    pub(crate) fn of(&self, names: &[String], old: &[u64]) -> Result<Vec<u64>, Failure> {
        let named = match self {
            Self::All(Shape(new)) if new.len() == old.len() => return Ok(new.clone()),
            Self::All(Shape(new)) => {
                let rank = crate::out::table::count(old.len(), "dimension");
                return Err(Failure::usage(format!("the array has {rank}, not {}", new.len())));
            }
            Self::Named(named) => named,
        };
        let mut new = old.to_vec();
        for (name, length) in named {
            let at = names.iter().position(|own| own == name);
            let place = at.and_then(|at| new.get_mut(at));
            *place.ok_or_else(|| Failure::usage(no_dimension(name, names)))? = *length;
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_typed_in_the_usual_ways() {
        let shape = |text: &str| text.parse::<Shape>().ok().map(|shape| shape.0);
        for (text, wanted) in [
            ("10,10", Some(vec![10, 10])),
            ("10x20x3", Some(vec![10, 20, 3])),
            ("366×121×240", Some(vec![366, 121, 240])),
            ("1e6", Some(vec![1_000_000])),
            ("1_000, 5", Some(vec![1000, 5])),
            ("", Some(vec![])),
            ("1.5e3", None),
            ("1e99", None),
            ("_1", None),
            ("10x", None),
            ("-1", None),
            ("ten", None),
        ] {
            assert_eq!(shape(text), wanted, "{text}");
        }
    }

    #[test]
    fn some_lengths_are_given_by_name() {
        let names = ["time", "lat"].map(str::to_owned);
        let new = |text: &str| {
            text.parse::<NewShape>().unwrap().of(&names, &[5, 6]).map_err(|e| e.message().to_owned())
        };
        assert_eq!(new("time=1e3"), Ok(vec![1000, 6]));
        assert_eq!(new("lat=2,time=3"), Ok(vec![3, 2]));
        assert_eq!(new("7x8"), Ok(vec![7, 8]));
        assert!(new("7").unwrap_err().contains("the array has 2 dimensions, not 1"));
        assert!(new("latt=1").unwrap_err().contains("did you mean \"lat\"?"));
        assert!("time".parse::<NewShape>().is_err() && "time=1,2".parse::<NewShape>().is_err());
    }
}
