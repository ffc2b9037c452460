//! `-s`: selects a part of an array, as in NumPy.

mod outer;

use std::num::IntErrorKind;
use std::str::FromStr;

use crate::args::target::Target;
use crate::exit::Failure;
use crate::pick::Pick;

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
        step: i128,
    },
    List(Vec<i128>),
    Mask(Vec<bool>),
    /// The path of an array that holds a list or a mask.
    Stored(String),
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        // A comma at the end is allowed, as in a Python tuple.
        let text = text.strip_suffix(',').unwrap_or(text);
        let items = outer::split(text)?.into_iter().map(item).collect::<Result<Vec<_>, _>>()?;
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
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Item::Stored(path.to_owned()));
    }
    if let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return self::list(list);
    }
    let parts = text.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
    match parts[..] {
        [Some(index)] => Ok(Item::Index(index)),
        [start, stop] => Ok(Item::Slice { start, stop, step: 1 }),
        [_, _, Some(0)] => Err(format!("the step of {text:?} is 0")),
        [start, stop, step] => Ok(Item::Slice { start, stop, step: step.unwrap_or(1) }),
        _ => Err(format!("{text:?} is neither an index nor a slice like 0:24 or ::2")),
    }
}

/// Returns a number, or `None` where the text is empty.
fn number(part: &str) -> Result<Option<i128>, String> {
    let part = part.trim();
    if part.is_empty() {
        return Ok(None);
    }
    if part.contains(['<', '>']) {
        return Err(format!("{part:?} compares; a range of labels has a colon, as lat=48: from 48 on"));
    }
    let too_large = || format!("{part:?} is too large: the largest number is 2^64 - 1");
    match part.parse::<i128>() {
        Ok(n) if n.unsigned_abs() <= u128::from(u64::MAX) => Ok(Some(n)),
        Ok(_) => Err(too_large()),
        Err(e) => match e.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Err(too_large()),
            _ if part.starts_with(char::is_alphabetic) => {
                Err(format!("{part:?} is not an integer; labels are NAME=LABEL, as lat=48: from 48 on"))
            }
            _ => Err(format!("{part:?} is not an integer")),
        },
    }
}

/// Returns the list or mask between brackets.
fn list(inner: &str) -> Result<Item, String> {
    let inner = inner.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    let parts = || inner.split(',').map(str::trim).filter(|_| !inner.is_empty());
    let truth = |part: &str| match part {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => None,
    };
    if let Some(mask) = parts().map(truth).collect::<Option<Vec<_>>>().filter(|mask| !mask.is_empty()) {
        return Ok(Item::Mask(mask));
    }
    let index = |part: &str| match number(part) {
        Ok(Some(index)) => Ok(index),
        Err(e) if e.ends_with("2^64 - 1") => Err(e),
        _ => Err(format!("{part:?} in a list is not an integer; a list is [1,5,-1] or [true,false,true]")),
    };
    parts().map(index).collect::<Result<_, _>>().map(Item::List)
}

impl Select {
    /// Whether this is `...`, which selects all elements.
    pub(crate) fn is_all(&self) -> bool {
        self.0.iter().all(|item| *item == Item::Ellipsis)
    }

    /// Reads the lists and masks that are stored in arrays.
    pub(crate) fn loaded(&self, target: &Target) -> Result<Self, Failure> {
        let load = |item: &Item| match item {
            Item::Stored(path) => outer::read(target, path),
            other => Ok(other.clone()),
        };
        self.0.iter().map(load).collect::<Result<_, _>>().map(Self)
    }

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
    let inside = |index: i128| match u64::try_from(from_end(index)).ok().filter(|i| *i < length) {
        Some(position) => Ok(position),
        None => {
            let message = format!("index {index} is outside of dimension {dim} of length {length}");
            Err(Failure::usage(message))
        }
    };
    match item {
        Item::Index(index) => Ok(Pick::index(inside(*index)?)),
        Item::Slice { start, stop, step } => Ok(slice(*start, *stop, *step, length)),
        Item::List(indices) => {
            let positions = indices.iter().map(|index| inside(*index)).collect::<Result<Vec<_>, _>>()?;
            Ok(Pick::list(positions))
        }
        Item::Mask(mask) if mask.len() as u64 == length => {
            let places = mask.iter().zip(0..).filter(|(is_in, _)| **is_in);
            Ok(Pick::list(places.map(|(_, place)| place).collect::<Vec<_>>()))
        }
        Item::Mask(mask) => {
            let message = format!("a mask of {} does not fit dimension {dim} of length {length}", mask.len());
            Err(Failure::usage(message))
        }
        Item::Ellipsis | Item::Stored(_) => Ok(Pick::range(0..length)),
    }
}

/// Resolves a slice as Python does: ends outside of the dimension are cut.
fn slice(start: Option<i128>, stop: Option<i128>, step: i128, length: u64) -> Pick {
    let len = i128::from(length);
    // The first and the last place where a slice can begin or end; backwards it ends before the first element.
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamped = |n: i128| (if n < 0 { n + len } else { n }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(first, clamped);
    let stop = stop.map_or(last, clamped);
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = u64::try_from(distance).unwrap_or(0).div_ceil(u64::try_from(step.abs()).unwrap_or(u64::MAX));
    Pick::steps(u64::try_from(start).unwrap_or(0), count, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions in each dimension, and whether the dimension stays.
    fn picks(text: &str, shape: &[u64]) -> Option<Vec<(Vec<u64>, bool)>> {
        let picks = text.parse::<Select>().ok()?.resolve(shape).ok()?;
        Some(picks.iter().map(|p| ((0..p.count).map(|i| p.position(i)).collect(), p.keep)).collect())
    }

    #[test]
    fn selections_mean_the_same_as_in_numpy() {
        let all = |len: u64| ((0..len).collect::<Vec<_>>(), true);
        let list = |positions: &[u64]| (positions.to_vec(), true);
        let one = |position: u64| (vec![position], false);
        for (text, wanted) in [
            ("", vec![all(10), all(20)]),
            (":", vec![all(10), all(20)]),
            ("...", vec![all(10), all(20)]),
            ("0:24,:", vec![all(10), all(20)]),
            ("2:5, ::3", vec![list(&[2, 3, 4]), list(&[0, 3, 6, 9, 12, 15, 18])]),
            ("-3:,-1", vec![list(&[7, 8, 9]), one(19)]),
            ("..., 5", vec![all(10), one(5)]),
            ("5, ...", vec![one(5), all(20)]),
            ("5,...,5", vec![one(5), one(5)]),
            ("7:3,-100:2", vec![list(&[]), list(&[0, 1])]),
            ("1::100,18446744073709551615:", vec![list(&[1]), list(&[])]),
            ("3,", vec![one(3), all(20)]),
            // Backwards.
            ("::-3,3::-2", vec![list(&[9, 6, 3, 0]), list(&[3, 1])]),
            ("100:6:-1,-18:-100:-1", vec![list(&[9, 8, 7]), list(&[2, 1, 0])]),
            ("2:5:-1,:17:-18446744073709551615", vec![list(&[]), list(&[19])]),
            ("-100::-1,:-3:-1", vec![list(&[]), list(&[19, 18])]),
            // Lists and masks.
            ("[1,2]", vec![list(&[1, 2]), all(20)]),
            ("[3, -1, 3,], [0]", vec![list(&[3, 9, 3]), list(&[0])]),
            ("[],...,[ 5 ]", vec![list(&[]), list(&[5])]),
            ("[true,False,false,false,false,false,false,false,True,false],1", vec![list(&[0, 8]), one(1)]),
        ] {
            assert_eq!(picks(text, &[10, 20]).as_deref(), Some(&wanted[..]), "{text}");
        }
        assert_eq!(picks("", &[]), Some(vec![]));
        let half = "::2".parse::<Select>().unwrap().resolve(&[u64::MAX]).unwrap();
        assert_eq!((half[0].count, half[0].position(1)), (1 << 63, 2));
        let back = "::-2".parse::<Select>().unwrap().resolve(&[u64::MAX]).unwrap();
        assert_eq!((back[0].count, back[0].position(1 << 62)), (1 << 63, (1 << 63) - 2));
    }

    #[test]
    fn wrong_selections_are_refused() {
        for bad in [
            "10",
            "-11",
            ":,:,:",
            "a",
            "1:2:0",
            "1:2:3:4",
            ",",
            "...,...",
            "1,,2",
            "18446744073709551616",
            "[10]",
            "[1:2]",
            "[2:5, ::3]",
            "[1,2",
            "1,2]",
            "[[1],2]",
            "[1,,2]",
            "[1,true]",
            "[true,false]",
            "[1][2]",
        ] {
            assert_eq!(picks(bad, &[10, 20]), None, "{bad}");
        }
        assert_eq!(picks("0", &[]), None);
    }
}
