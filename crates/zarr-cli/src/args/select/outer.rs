//! Lists of a selection: where they are in its text, and those that are stored in arrays.

use zarr_array::traits::number::{NumberType, with_integer};

use super::Item;
use crate::args::target::Target;
use crate::exit::Failure;

/// The largest number of elements of a stored list or mask.
const MOST: u64 = 1 << 27;

/// Splits a selection at the commas that are not between brackets.
pub(super) fn split(text: &str) -> Result<Vec<&str>, String> {
    let unbalanced = || format!("the brackets of {text:?} do not fit together");
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' if is_inside => return Err(format!("{text:?} has a list in a list")),
            '[' => is_inside = true,
            ']' if !is_inside => return Err(unbalanced()),
            ']' => is_inside = false,
            ',' if !is_inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if is_inside { Err(unbalanced()) } else { Ok(parts) }
}

/// Reads a list or a mask from the array at `path`: relative to the group of the target, or with a slash in front to the
/// root of the store.
pub(super) fn read(target: &Target, path: &str) -> Result<Item, Failure> {
    let group = target.path.rsplit_once('/').map_or("", |(group, _)| group);
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{group}/{path}") };
    let array = target.open(&path).map_err(|e| target.fail(e))?;
    let wrong = |message: String| Err(target.fail(Failure::usage(format!("array {path:?}: {message}"))));
    match array.shape() {
        [length] if *length <= MOST => {}
        [_] => return wrong("it is too long for a list of a selection".to_owned()),
        shape => return wrong(format!("a list of a selection has one dimension, not {}", shape.len())),
    }
    let fail = |e| target.fail(Failure::from(e));
    let other =
        || wrong(format!("a list of a selection holds integers or booleans, not {}", array.data_type()));
    Ok(match array.data_type().number() {
        Some(NumberType::Bool) => Item::Mask(array.read::<bool>(..).map_err(fail)?.into_vec()),
        Some(number) => with_integer!(
            number,
            T => Item::List(array.read::<T>(..).map_err(fail)?.into_iter().map(i128::from).collect()),
            return other()
        ),
        None => return other(),
    })
}
