//! The chunks of an array: their keys, numbers and order.

use zarr_json::Value;

/// The chunk grid of an array, whose chunks are numbered in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The number of chunks in each dimension.
    counts: Vec<u64>,
    separator: char,
    /// The number of all chunks.
    pub(crate) chunks: u64,
}

impl Grid {
    /// Reads the grid of a document of an array of format 2. The error says what is wrong.
    pub(crate) fn of_document(document: &Value) -> Result<Self, String> {
        let lengths = |name: &str| -> Result<Vec<u64>, String> {
            let value = document.get(name);
            let lengths = value.and_then(|value| value.elements()?.map(|length| length.as_u64()).collect());
            lengths.ok_or_else(|| format!("{name:?} of the array must be a list of lengths"))
        };
        let (shape, chunks) = (lengths("shape")?, lengths("chunks")?);
        if shape.len() != chunks.len() || chunks.contains(&0) {
            return Err(format!("the chunks {chunks:?} of the array do not fit the shape {shape:?}"));
        }
        let separator = document.get("dimension_separator").filter(|separator| !separator.is_null());
        let separator = match separator.map(|separator| separator.as_text()) {
            None => '.',
            Some(Some(text)) if text == "." => '.',
            Some(Some(text)) if text == "/" => '/',
            Some(_) => {
                return Err("\"dimension_separator\" of the array is neither \".\" nor \"/\"".to_owned());
            }
        };
        let counts: Vec<u64> = shape.iter().zip(&chunks).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let chunks = counts.iter().try_fold(1_u64, |chunks, count| chunks.checked_mul(*count));
        // An empty dimension hides an overflow of those before it.
        let chunks = if counts.contains(&0) { Some(0) } else { chunks };
        let chunks = chunks.ok_or_else(|| "the array has more chunks than can be numbered".to_owned())?;
        Ok(Self { counts, separator, chunks })
    }

    fn rank(&self) -> usize {
        self.counts.len()
    }

    /// Whether the keys with the first `fixed` numbers of an index are in further folders.
    pub(crate) fn has_folders(&self, fixed: usize) -> bool {
        self.separator == '/' && fixed + 1 < self.rank()
    }

    /// Returns the index of the chunk with a name, such as `0.12`, or `None` if no chunk of the grid has it. A name that
    /// ends earlier, in a whole number, gives the first numbers of the index.
    fn indices(&self, name: &str) -> Option<Vec<u64>> {
        if self.counts.is_empty() {
            return (name == "0").then(Vec::new);
        }
        let mut indices = Vec::with_capacity(self.rank());
        for number in name.split(self.separator) {
            let count = self.counts.get(indices.len())?;
            let is_plain =
                number.bytes().all(|b| b.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
            indices.push(number.parse().ok().filter(|index| is_plain && index < count)?);
        }
        Some(indices)
    }

    /// Returns the number of the chunk with a name, such as `0.12`, or `None` if no chunk of the grid has it.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let indices = self.indices(name).filter(|indices| indices.len() == self.rank())?;
        Some(self.number_of(&indices))
    }

    fn number_of(&self, indices: &[u64]) -> u64 {
        indices.iter().zip(&self.counts).fold(0, |number, (index, count)| number * count + index)
    }

    /// Returns all chunks whose name begins with `start`, which is empty or ends with the separator, in the order of their
    /// names. `None` if no name does.
    pub(crate) fn walk(&self, start: &str) -> Option<Walk<'_>> {
        let fixed = match start.strip_suffix(self.separator) {
            _ if start.is_empty() => Vec::new(),
            Some(name) => self.indices(name).filter(|indices| indices.len() < self.rank())?,
            None => return None,
        };
        let mut at = fixed.clone();
        at.resize(self.rank(), 0);
        Some(Walk { grid: self, at, fixed: fixed.len(), done: self.chunks == 0 })
    }
}

/// Chunks in the order of their names, in which `10` is before `2`.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    grid: &'a Grid,
    at: Vec<u64>,
    /// The first numbers of the index, which do not change.
    pub(crate) fixed: usize,
    pub(crate) done: bool,
}

impl Walk<'_> {
    /// Continues at the chunk behind one with a name, if it is in this walk.
    pub(crate) fn skip(&mut self, name: &str) {
        let indices = self.grid.indices(name).filter(|indices| indices.len() == self.grid.rank());
        if let Some(indices) = indices
            && indices[..self.fixed] == self.at[..self.fixed]
        {
            self.at = indices;
            self.advance(usize::MAX);
        }
    }

    /// The number of the chunk.
    pub(crate) fn number(&self) -> u64 {
        self.grid.number_of(&self.at)
    }

    /// The name of the chunk, cut after `dimensions` of its index.
    pub(crate) fn name(&self, dimensions: usize) -> String {
        if self.at.is_empty() {
            return "0".to_owned();
        }
        let mut name = String::new();
        for (dimension, index) in self.at.iter().take(dimensions).enumerate() {
            if dimension > 0 {
                name.push(self.grid.separator);
            }
            name.push_str(&index.to_string());
        }
        name
    }

    /// Goes to the next chunk that differs in the first `dimensions` of its index.
    pub(crate) fn advance(&mut self, dimensions: usize) {
        for dimension in (self.fixed..dimensions.min(self.at.len())).rev() {
            self.at[dimension + 1..].fill(0);
            if let Some(next) = behind(self.at[dimension], self.grid.counts[dimension]) {
                self.at[dimension] = next;
                return;
            }
            self.at[dimension] = 0;
        }
        self.done = true;
    }
}

/// Returns the number below `count` whose digits come next in the order of text.
fn behind(number: u64, count: u64) -> Option<u64> {
    if let Some(longer) = number.checked_mul(10).filter(|longer| *longer > 0 && *longer < count) {
        return Some(longer);
    }
    let mut number = number;
    loop {
        if number % 10 != 9 && number + 1 < count {
            return Some(number + 1);
        }
        number /= 10;
        if number == 0 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<Grid, String> {
        Grid::of_document(&Value::parse(text).unwrap())
    }

    #[test]
    fn chunks_are_walked_in_the_order_of_their_names() {
        for (counts, separator) in [
            ("[]", "."),
            ("[1]", "."),
            ("[9]", "."),
            ("[1234]", "."),
            ("[12,1,11]", "."),
            ("[3,101]", "/"),
            ("[4,0]", "."),
        ] {
            let ones = counts
                .replace(|c: char| c.is_ascii_digit(), "")
                .replace(',', "1,")
                .replace(']', if counts == "[]" { "]" } else { "1]" });
            let text =
                format!(r#"{{"shape": {counts}, "chunks": {ones}, "dimension_separator": "{separator}"}}"#);
            let grid = grid(&text).unwrap();
            let mut walk = grid.walk("").unwrap();
            let (mut names, mut numbers) = (Vec::new(), Vec::new());
            while !walk.done {
                names.push(walk.name(9));
                assert_eq!(grid.number(&names[names.len() - 1]), Some(walk.number()), "{text}");
                numbers.push(walk.number());
                walk.advance(9);
            }
            assert!(names.is_sorted_by(|a, b| a < b), "{text}: {names:?}");
            numbers.sort_unstable();
            assert_eq!(numbers, (0..grid.chunks).collect::<Vec<_>>(), "{text}");
            for (number, name) in names.iter().enumerate() {
                let mut walk = grid.walk("").unwrap();
                walk.skip(name);
                assert_eq!((!walk.done).then(|| walk.name(9)).as_ref(), names.get(number + 1), "{text}");
            }
        }
        let grid = grid(r#"{"shape": [4, 30], "chunks": [2, 3], "dimension_separator": "/"}"#).unwrap();
        let mut walk = grid.walk("1/").unwrap();
        walk.skip("1/8");
        assert_eq!(walk.name(2), "1/9");
        walk.advance(2);
        assert!(walk.done);
        assert!(grid.walk("2/").is_none() && grid.walk("1").is_none() && grid.walk("1/2/").is_none());
    }

    #[test]
    fn only_names_of_chunks_have_numbers() {
        let grid = grid(r#"{"shape": [4, 30], "chunks": [2, 3]}"#).unwrap();
        for (name, number) in [
            ("0.0", Some(0)),
            ("1.9", Some(19)),
            ("2.0", None),
            ("1", None),
            ("1.9.0", None),
            ("01.0", None),
            ("+1.0", None),
            ("1.", None),
            ("", None),
            ("1/9", None),
            ("0.18446744073709551616", None),
        ] {
            assert_eq!(grid.number(name), number, "{name}");
        }
    }

    #[test]
    fn a_grid_that_cannot_be_numbered_is_refused() {
        for (text, said) in [
            ("{}", "\"shape\" of the array must be a list of lengths"),
            (r#"{"shape": [1], "chunks": [-1]}"#, "\"chunks\" of the array must be"),
            (r#"{"shape": [1], "chunks": [0]}"#, "do not fit"),
            (r#"{"shape": [1], "chunks": []}"#, "do not fit"),
            (r#"{"shape": [1], "chunks": [1], "dimension_separator": "x"}"#, "neither"),
            (r#"{"shape": [10000000000, 10000000000], "chunks": [1, 1]}"#, "more chunks"),
        ] {
            let why = grid(text).unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
    }
}
