//! Flags: numbers that stand for words, as categories or as bits.
//!
//! Specification: CF 1.12, section 3.5, "Flags".

use zarr_meta::json::{Object, Value};

use crate::attribute::number;
use crate::error::{XarrayError, XarrayResult};

/// The words of the attribute `flag_meanings`, and the numbers that stand for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags(Vec<Flag>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Flag {
    meaning: String,
    /// The bits in `flag_masks`; `None` for all bits.
    mask: Option<i128>,
    /// The number in `flag_values`; `None` for any bit of the mask.
    value: Option<i128>,
}

impl Flags {
    /// Returns the flags of a variable with these attributes, or `None` without `flag_meanings`.
    ///
    /// # Errors
    /// `Invalid` if both `flag_values` and `flag_masks` are missing, if the number of integers differs from the number
    /// of meanings, or if an attribute has another type.
    pub fn of(attributes: &Object) -> XarrayResult<Option<Self>> {
        let Some(meanings) = attributes.get("flag_meanings") else { return Ok(None) };
        let meanings = meanings
            .to_text()
            .map_err(|_| XarrayError::invalid(format!("flag_meanings is {meanings}, not a text")))?;
        let meanings: Vec<&str> = meanings.split_whitespace().collect();
        let masks = integers(attributes, "flag_masks", meanings.len())?;
        let values = integers(attributes, "flag_values", meanings.len())?;
        if masks.is_none() && values.is_none() {
            return Err(XarrayError::invalid("flag_meanings needs flag_values or flag_masks"));
        }
        let at =
            |list: &Option<Vec<i128>>, place: usize| list.as_ref().and_then(|list| list.get(place).copied());
        let flag = |(place, meaning): (usize, &&str)| Flag {
            meaning: (*meaning).to_owned(),
            mask: at(&masks, place),
            value: at(&values, place),
        };
        Ok(Some(Self(meanings.iter().enumerate().map(flag).collect())))
    }

    /// Returns all words in order.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|flag| &*flag.meaning)
    }

    /// Returns the words that a number stands for. With masks there may be several.
    pub fn meanings(&self, number: i128) -> impl Iterator<Item = &str> {
        let applies = move |flag: &&Flag| match (flag.mask, flag.value) {
            (None, value) => value == Some(number),
            (Some(mask), None) => number & mask != 0,
            (Some(mask), Some(value)) => number & mask == value,
        };
        self.0.iter().filter(applies).map(|flag| &*flag.meaning)
    }
}

/// Reads an attribute that is a list of integers or a single integer.
fn integers(attributes: &Object, name: &str, count: usize) -> XarrayResult<Option<Vec<i128>>> {
    let Some(value) = attributes.get(name) else { return Ok(None) };
    let integer = |value: Value| number(&value)?.to_integer();
    let list: Option<Vec<i128>> = match value.elements() {
        Some(elements) => elements.map(integer).collect(),
        None => integer(value.clone()).map(|integer| vec![integer]),
    };
    let list = list.filter(|list| list.len() == count);
    let wrong = || XarrayError::invalid(format!("{name} is {value}, expected {count} integers"));
    list.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(attributes: &str) -> XarrayResult<Option<Flags>> {
        Flags::of(&Value::parse(attributes).unwrap().as_object().unwrap())
    }

    #[test]
    fn numbers_mean_words() {
        let categories = r#"{"flag_values": [0, 1, 2], "flag_meanings": "clear cloud  snow"}"#;
        let bits = r#"{"flag_masks": [1, 2, 4], "flag_meanings": "low battery error"}"#;
        let fields =
            r#"{"flag_masks": [1, 6, 6], "flag_values": [1, 2, 4], "flag_meanings": "on slow fast"}"#;
        for (attributes, number, words) in [
            (categories, 1, &["cloud"][..]),
            (categories, 3, &[]),
            (bits, 5, &["low", "error"]),
            (bits, -1, &["low", "battery", "error"]),
            (bits, 0, &[]),
            (fields, 5, &["on", "fast"]),
            (fields, 6, &[]),
            (r#"{"flag_values": 7, "flag_meanings": "only"}"#, 7, &["only"]),
        ] {
            let flags = flags(attributes).unwrap().unwrap();
            assert_eq!(flags.meanings(number).collect::<Vec<_>>(), words, "{attributes} {number}");
        }
        assert_eq!(
            flags(categories).unwrap().unwrap().words().collect::<Vec<_>>(),
            ["clear", "cloud", "snow"]
        );
    }

    #[test]
    fn wrong_flag_attributes_are_refused() {
        assert_eq!(flags(r#"{"flag_values": [1]}"#), Ok(None));
        for wrong in [
            r#"{"flag_meanings": "a"}"#,
            r#"{"flag_meanings": ["a"], "flag_values": [1]}"#,
            r#"{"flag_meanings": "a b", "flag_values": [1]}"#,
            r#"{"flag_meanings": "a", "flag_values": [1.5]}"#,
            r#"{"flag_meanings": "a", "flag_masks": "1"}"#,
        ] {
            assert!(flags(wrong).is_err(), "{wrong}");
        }
    }
}
