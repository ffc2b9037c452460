//! The factors of a pyramid, and the dimensions that become shorter by default.

use std::fmt;
use std::str::FromStr;

/// By which factor each dimension becomes shorter from one level to the next. As text `y=2,x=2`, or a factor for each
/// dimension: `1,2,2`.
///
/// ```
/// use zarr_copy::pyramid::Factors;
/// let named = Factors::Named(vec![("y".to_owned(), 2), ("x".to_owned(), 3)]);
/// assert_eq!("y=2,x=3".parse(), Ok(named));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Factors {
    /// The factors of dimensions with these names. Other dimensions keep their lengths.
    Named(Vec<(String, u64)>),
    /// The factor of each dimension.
    Each(Vec<u64>),
}

impl Factors {
    /// Returns the factor of each dimension of an array whose dimensions have these names.
    pub(crate) fn of(&self, names: &[Option<String>]) -> Result<Vec<u64>, String> {
        let factors = match self {
            Self::Each(factors) if factors.len() == names.len() => factors.clone(),
            Self::Each(factors) => {
                return Err(format!(
                    "there are {} factors, but the array has rank {}",
                    factors.len(),
                    names.len()
                ));
            }
            Self::Named(named) => {
                let mut factors = vec![1; names.len()];
                for (name, factor) in named {
                    let at = names.iter().position(|known| known.as_ref() == Some(name));
                    let Some(at) = at else {
                        return Err(format!("there is no dimension {name:?}: there are {}", listed(names)));
                    };
                    factors[at] = *factor;
                }
                factors
            }
        };
        if factors.contains(&0) {
            return Err("a factor is 0".to_owned());
        }
        match factors.iter().all(|factor| *factor == 1) {
            true => Err("all factors are 1".to_owned()),
            false => Ok(factors),
        }
    }
}

fn listed(names: &[Option<String>]) -> String {
    let shown =
        |name: &Option<String>| name.as_ref().map_or("one without a name".to_owned(), |n| format!("{n:?}"));
    names.iter().map(shown).collect::<Vec<_>>().join(", ")
}

impl FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} are not factors, such as y=2,x=2");
        let factor = |text: &str| text.trim().parse().ok().filter(|factor| (1..=1 << 16).contains(factor));
        if !text.contains('=') {
            return text.split(',').map(factor).collect::<Option<_>>().map(Self::Each).ok_or_else(wrong);
        }
        let named = |part: &str| {
            let (name, number) = part.split_once('=')?;
            Some((name.trim().to_owned(), factor(number)?))
        };
        text.split(',').map(named).collect::<Option<_>>().map(Self::Named).ok_or_else(wrong)
    }
}

/// Writes the factors as the user gives them.
impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = match self {
            Self::Named(named) => named.iter().map(|(name, factor)| format!("{name}={factor}")).collect(),
            Self::Each(factors) => factors.iter().map(u64::to_string).collect(),
        };
        f.write_str(&parts.join(","))
    }
}

/// The two dimensions that become shorter by default, and whether this is only a guess.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plane {
    pub(crate) dims: [usize; 2],
    pub(crate) is_guess: bool,
}

/// Finds the two dimensions of an image: the last two that `is_space` says, those of `spatial`, those with usual names, or
/// the last two. Returns `None` below rank 2.
pub(crate) fn plane(
    names: &[Option<String>],
    is_space: &[bool],
    spatial: Option<&[String]>,
) -> Option<Plane> {
    const USUAL: [[&str; 2]; 4] = [["y", "x"], ["lat", "lon"], ["latitude", "longitude"], ["Y", "X"]];
    let last = names.len().checked_sub(2)?;
    let known = |dims| Some(Plane { dims, is_guess: false });
    let spaces: Vec<usize> = (0..is_space.len().min(names.len())).filter(|dim| is_space[*dim]).collect();
    if let [.., one, other] = spaces[..] {
        return known([one, other]);
    }
    let find = |name: &str| names.iter().position(|known| known.as_deref() == Some(name));
    if let Some([one, other]) = spatial
        && let (Some(one), Some(other)) = (find(one), find(other))
    {
        return known([one, other]);
    }
    for [one, other] in USUAL {
        if let (Some(one), Some(other)) = (find(one), find(other)) {
            return known([one, other]);
        }
    }
    Some(Plane { dims: [last, last + 1], is_guess: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Option<String>> {
        text.split(' ').map(|name| (name != "-").then(|| name.to_owned())).collect()
    }

    #[test]
    fn factors_are_named_or_one_for_each_dimension() {
        let of = |text: &str| text.parse::<Factors>().unwrap().of(&names("z y x"));
        assert_eq!(of("y=2, x=3"), Ok(vec![1, 2, 3]));
        assert_eq!(of("1,2,2"), Ok(vec![1, 2, 2]));
        for bad in ["t=2", "2,2", "1,1,1", "z=1"] {
            assert!(of(bad).is_err(), "{bad}");
        }
        for bad in ["", "y", "y=0", "y=2,x", "-1", "y=100000"] {
            assert!(bad.parse::<Factors>().is_err(), "{bad}");
        }
        assert_eq!("y=2,x=3".parse::<Factors>().unwrap().to_string(), "y=2,x=3");
    }

    #[test]
    fn an_image_lies_in_its_last_two_dimensions_of_space() {
        let found = |text: &str, is_space: &[bool], spatial: Option<&[String]>| {
            plane(&names(text), is_space, spatial).map(|plane| (plane.dims, plane.is_guess))
        };
        let spatial = ["lat".to_owned(), "lon".to_owned()];
        for (text, is_space, spatial, wanted) in [
            ("t c z y x", &[false, false, true, true, true][..], None, ([3, 4], false)),
            ("lat lon band", &[], Some(&spatial[..]), ([0, 1], false)),
            ("x y", &[], None, ([1, 0], false)),
            ("time lat lon", &[], None, ([1, 2], false)),
            ("- - -", &[], None, ([1, 2], true)),
        ] {
            assert_eq!(found(text, is_space, spatial), Some(wanted), "{text}");
        }
        assert_eq!(found("x", &[true], None), None);
    }
}
