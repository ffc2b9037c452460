//! `-s`: selects a part of an array, as in Python.

use std::num::IntErrorKind;
use std::str::FromStr;

use zarr_array::{Axis, Selection};

use crate::exit::Failure;
use crate::labels::Chosen;

/// The option of the verbs that work on a part of an array.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Part {
    /// The part of the array, as Python slices: one entry per dimension; an index drops its dimension. Or labels of
    /// coordinates: `time=2020-01:2020-02,lat=~41.3,level@0`.
    #[arg(
        short,
        long,
        value_name = "SELECTION",
        default_value = "...",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) select: Chosen,
}

/// A selection as given, before the shape is known: one entry per dimension, such as `0:24,:,5`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Select(Vec<Item>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    /// Stands for all dimensions that have no entry.
    Ellipsis,
    Index(i128),
    Slice {
        start: Option<i128>,
        stop: Option<i128>,
        step: u64,
    },
}

/// The selected elements of one dimension: `count` elements, every `step`-th one from `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    pub(crate) start: u64,
    pub(crate) count: u64,
    pub(crate) step: u64,
    /// Whether the result has this dimension; an index drops it.
    pub(crate) keep: bool,
}

impl Pick {
    /// Returns the position in the array of element `i` of the result.
    pub(crate) fn position(&self, i: u64) -> u64 {
        self.start + i * self.step
    }

    /// Returns the selected range. The dimension is kept even for one element.
    fn axis(&self) -> Axis {
        let end = self.count.checked_sub(1).map_or(self.start, |last| self.position(last) + 1);
        Axis::step(self.start..end, self.step)
    }
}

/// Returns the selection of the picked elements.
pub(crate) fn selection(picks: impl IntoIterator<Item = Pick>) -> Selection {
    Selection::new(picks.into_iter().map(|pick| pick.axis()).collect())
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inner = text.trim();
        let inner = inner.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(inner).trim();
        if inner.is_empty() {
            return Ok(Self::default());
        }
        // A comma at the end is allowed, as in a Python tuple.
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        let items = inner.split(',').map(item).collect::<Result<Vec<_>, _>>()?;
        if items.iter().filter(|i| **i == Item::Ellipsis).count() > 1 {
            return Err("only one `...` is allowed".to_owned());
        }
        Ok(Self(items))
    }
}

fn item(text: &str) -> Result<Item, String> {
    let text = text.trim();
    if text == "..." {
        return Ok(Item::Ellipsis);
    }
    let number = |part: &str| -> Result<Option<i128>, String> {
        let part = part.trim();
        if part.is_empty() {
            return Ok(None);
        }
        let too_large = || format!("{part:?} is too large: the largest number is 2^64 - 1");
        match part.parse::<i128>() {
            Ok(n) if n.unsigned_abs() <= u128::from(u64::MAX) => Ok(Some(n)),
            Ok(_) => Err(too_large()),
            Err(e) => match e.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Err(too_large()),
                _ => Err(format!("{part:?} is not an integer")),
            },
        }
    };
    let parts = text.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
    match parts[..] {
        [Some(index)] => Ok(Item::Index(index)),
        [start, stop] => Ok(Item::Slice { start, stop, step: 1 }),
        [start, stop, step] => match u64::try_from(step.unwrap_or(1)) {
            Ok(step @ 1..) => Ok(Item::Slice { start, stop, step }),
            _ => Err(format!("the step of {text:?} must be at least 1")),
        },
        _ => Err(format!("{text:?} is neither an index nor a slice like 0:24 or ::2")),
    }
}

impl Select {
    /// Resolves the selection for an array of `shape`. Slices are cut at the ends; an index must be inside.
    pub(crate) fn resolve(&self, shape: &[u64]) -> Result<Vec<Pick>, Failure> {
        let named = self.0.iter().filter(|i| **i != Item::Ellipsis).count();
        let Some(missing) = shape.len().checked_sub(named) else {
            let message = format!("the selection has {named} dimensions, the array has {}", shape.len());
            return Err(Failure::usage(message));
        };
        let whole = Item::Slice { start: None, stop: None, step: 1 };
        let at = self.0.iter().position(|i| *i == Item::Ellipsis).unwrap_or(self.0.len());
        let before = self.0[..at].iter();
        let after = self.0[at..].iter().filter(|i| **i != Item::Ellipsis);
        let items = before.chain(std::iter::repeat_n(&whole, missing)).chain(after);
        items.zip(shape).enumerate().map(|(dim, (item, length))| pick(item, dim, *length)).collect()
    }
}

fn pick(item: &Item, dim: usize, length: u64) -> Result<Pick, Failure> {
    let len = i128::from(length);
    let from_end = |n: i128| if n < 0 { n + len } else { n };
    // Between 0 and the length, so that both conversions succeed.
    let clamped = |n: i128| u64::try_from(from_end(n).clamp(0, len)).unwrap_or(0);
    match *item {
        Item::Index(index) => match u64::try_from(from_end(index)).ok().filter(|i| *i < length) {
            Some(start) => Ok(Pick { start, count: 1, step: 1, keep: false }),
            None => {
                let message = format!("index {index} is outside of dimension {dim} of length {length}");
                Err(Failure::usage(message))
            }
        },
        Item::Slice { start, stop, step } => {
            let start = start.map_or(0, clamped);
            let stop = stop.map_or(length, clamped);
            Ok(Pick { start, count: stop.saturating_sub(start).div_ceil(step), step, keep: true })
        }
        Item::Ellipsis => Ok(Pick { start: 0, count: length, step: 1, keep: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(text: &str, shape: &[u64]) -> Option<Vec<(u64, u64, u64, bool)>> {
        let picks = text.parse::<Select>().ok()?.resolve(shape).ok()?;
        Some(picks.into_iter().map(|p| (p.start, p.count, p.step, p.keep)).collect())
    }

    #[test]
    fn slices_mean_the_same_as_in_python() {
        let all = |len| (0, len, 1, true);
        for (text, wanted) in [
            ("", vec![all(10), all(20)]),
            (":", vec![all(10), all(20)]),
            ("...", vec![all(10), all(20)]),
            ("0:24,:", vec![all(10), all(20)]),
            ("[2:5, ::3]", vec![(2, 3, 1, true), (0, 7, 3, true)]),
            ("-3:,-1", vec![(7, 3, 1, true), (19, 1, 1, false)]),
            ("..., 5", vec![all(10), (5, 1, 1, false)]),
            ("5, ...", vec![(5, 1, 1, false), all(20)]),
            ("5,...,5", vec![(5, 1, 1, false), (5, 1, 1, false)]),
            ("7:3,-100:2", vec![(7, 0, 1, true), (0, 2, 1, true)]),
            ("1::100,18446744073709551615:", vec![(1, 1, 100, true), (20, 0, 1, true)]),
            ("3,", vec![(3, 1, 1, false), all(20)]),
        ] {
            assert_eq!(picks(text, &[10, 20]).as_deref(), Some(&wanted[..]), "{text}");
        }
        assert_eq!(picks("", &[]), Some(vec![]));
        assert_eq!(picks("::2", &[u64::MAX]), Some(vec![(0, 1 << 63, 2, true)]));
    }

    #[test]
    fn wrong_selections_are_refused() {
        for bad in [
            "10",
            "-11",
            ":,:,:",
            "a",
            "1:2:0",
            "::-1",
            "1:2:3:4",
            ",",
            "...,...",
            "1,,2",
            "18446744073709551616",
        ] {
            assert_eq!(picks(bad, &[10, 20]), None, "{bad}");
        }
        assert_eq!(picks("0", &[]), None);
    }
}
