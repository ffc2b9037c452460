//! The statistics of texts, and of flags: how often each value occurs.

use std::collections::HashMap;

use zarr_array::DataType;
use zarr_array::meta::json::Value;

use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::json;
use crate::out::render::Render;
use crate::out::table::Table;

/// The largest number of different values that are counted.
const MOST: usize = 100_000;

/// How often texts occur.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    count: u128,
    /// Empty texts.
    empty: u128,
    counts: HashMap<String, u128>,
    /// Whether there are more different values than are counted.
    is_full: bool,
    lengths: Option<(usize, usize)>,
    ends: Option<(String, String)>,
}

/// Whether elements are texts or byte strings, which have no mean.
pub(super) fn are_words(data_type: &DataType) -> bool {
    const NAMES: [&str; 5] =
        ["string", "fixed_length_utf32", "null_terminated_bytes", "variable_length_bytes", "bytes"];
    let name = data_type.to_string();
    NAMES.iter().any(|known| name.split(['(', '[']).next() == Some(known))
}

impl Words {
    /// Counts elements.
    pub(super) fn of(data_type: &DataType, elements: &Elements, times: u128) -> Result<Self, Failure> {
        let render = Render::text(data_type)
            .ok_or_else(|| Failure::unsupported(format!("elements of {data_type} cannot be printed")))?;
        let (mut words, mut text) = (Self::default(), Vec::new());
        elements.each(data_type.memory_size(), |element| {
            text.clear();
            render.element(element, &mut text)?;
            words.add(&String::from_utf8_lossy(&text), times);
            Ok(())
        })?;
        Ok(words)
    }

    fn add(&mut self, word: &str, times: u128) {
        self.count += times;
        self.empty += if word.is_empty() { times } else { 0 };
        let length = word.chars().count();
        let (least, most) = self.lengths.unwrap_or((length, length));
        self.lengths = Some((least.min(length), most.max(length)));
        self.widen(word);
        self.count_of(word, times);
    }

    fn count_of(&mut self, word: &str, times: u128) {
        let has_room = self.counts.len() < MOST;
        match self.counts.get_mut(word) {
            Some(count) => *count += times,
            None if has_room => _ = self.counts.insert(word.to_owned(), times),
            None => self.is_full = true,
        }
    }

    fn widen(&mut self, word: &str) {
        match &mut self.ends {
            None => self.ends = Some((word.to_owned(), word.to_owned())),
            Some((first, last)) => {
                if word < first.as_str() {
                    word.clone_into(first);
                }
                if word > last.as_str() {
                    word.clone_into(last);
                }
            }
        }
    }

    /// Adds what is known of other elements.
    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.empty += other.empty;
        self.is_full |= other.is_full;
        self.lengths = match (self.lengths, other.lengths) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (own, other) => own.or(other),
        };
        for word in other.ends.into_iter().flat_map(|(first, last)| [first, last]) {
            self.widen(&word);
        }
        for (word, count) in other.counts {
            self.count_of(&word, count);
        }
    }

    /// Returns the most frequent values.
    fn most(&self, number: usize) -> Vec<(&str, u128)> {
        let mut all: Vec<(&str, u128)> =
            self.counts.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        all.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
        // Values that occur once say little.
        let length = if self.is_full { 0 } else { number };
        all.truncate(length);
        all
    }

    fn distinct(&self) -> String {
        if self.is_full { format!("more than {MOST}") } else { self.counts.len().to_string() }
    }

    pub(super) fn to_text(&self, bins: usize) -> String {
        let mut table = Table::default();
        table.row(["elements", &self.count.to_string()]);
        if self.empty > 0 {
            table.row(["empty", &self.empty.to_string()]);
        }
        table.row(["distinct", &self.distinct()]);
        if let Some((first, last)) = &self.ends {
            table.row(["first", first]);
            table.row(["last", last]);
        }
        if let Some((least, most)) = self.lengths {
            table.row([
                "lengths",
                &if least == most { least.to_string() } else { format!("{least} to {most}") },
            ]);
        }
        table.to_text("") + &counted(self.most(bins).into_iter())
    }

    /// Returns the cells of the row in a table of arrays.
    pub(super) fn cells(&self, path: &str) -> [String; 7] {
        let (first, last) = self.ends.clone().unwrap_or_default();
        let distinct = format!("{} distinct", self.distinct());
        [path.to_owned(), self.count.to_string(), "0".to_owned(), first, last, distinct, "-".to_owned()]
    }

    pub(super) fn members(&self, path: &str, bins: usize) -> Vec<(&'static str, Value)> {
        let ends = self.ends.as_ref();
        let distinct = (!self.is_full).then_some(self.counts.len() as u64);
        let (least, most) = self.lengths.unzip();
        let one =
            |(word, count): (&str, u128)| json::object([("value", word.into()), ("count", count.into())]);
        vec![
            ("path", path.into()),
            ("elements", self.count.into()),
            ("empty", self.empty.into()),
            ("distinct", distinct.into()),
            ("first", ends.map(|(first, _)| first.as_str()).into()),
            ("last", ends.map(|(_, last)| last.as_str()).into()),
            ("shortest", least.map(|length| length as u64).into()),
            ("longest", most.map(|length| length as u64).into()),
            ("most", self.most(bins).into_iter().map(one).collect()),
        ]
    }
}

/// Returns a bar for each value.
pub(super) fn counted<'a>(values: impl Iterator<Item = (&'a str, u128)>) -> String {
    const LONGEST: u128 = 40;
    let values: Vec<(&str, u128)> = values.collect();
    let most = values.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut table = Table::default();
    for (word, count) in values {
        let scaled = count.checked_mul(LONGEST).map_or_else(|| count / (most / LONGEST), |long| long / most);
        table.row([word, &count.to_string(), &"#".repeat(usize::try_from(scaled).unwrap_or(0))]);
    }
    table.to_text("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted() {
        let texts =
            |texts: &[&str]| Elements::Variable(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
        let mut words = Words::of(&DataType::String, &texts(&["b", "a", "b", ""]), 1).unwrap();
        words.merge(Words::of(&DataType::String, &texts(&["ccc"]), 10).unwrap());
        assert_eq!((words.count, words.empty, words.distinct()), (14, 1, "4".to_owned()));
        assert_eq!(words.most(2), [("ccc", 10), ("b", 2)]);
        assert_eq!(words.lengths, Some((0, 3)));
        assert_eq!(words.ends, Some((String::new(), "ccc".to_owned())));
        assert!(are_words(&DataType::String) && !are_words(&DataType::Float32));
    }
}
