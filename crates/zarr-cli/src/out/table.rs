//! Output for people: columns, sizes, shapes.

/// Between the cells of a row. Cells have it escaped, as all control characters.
const BETWEEN: char = '\u{1f}';

/// Rows of cells. Each column is as wide as its widest cell.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// A text for each row, because there may be very many.
    rows: Vec<Box<str>>,
    widths: Vec<usize>,
}

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.push(cells);
    }

    /// Adds a row of any length.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| crate::exit::line(cell.as_ref())).collect();
        self.widen(cells.iter().map(String::as_str));
        self.rows.push(cells.join(&BETWEEN.to_string()).into());
    }

    /// Puts a text in front of the first cell of each row.
    pub(crate) fn put_before(&mut self, texts: impl Iterator<Item = String>) {
        for (number, text) in (0..self.rows.len()).zip(texts) {
            let row = format!("{text}{}", self.rows[number]);
            self.widen(row.split(BETWEEN).take(1));
            self.rows[number] = row.into();
        }
    }

    fn widen<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        for (column, cell) in cells.enumerate() {
            let width = cell.chars().count();
            match self.widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => self.widths.push(width),
            }
        }
    }

    /// Returns the rows, one a line, each with `indent` in front.
    pub(crate) fn to_text(&self, indent: &str) -> String {
        self.lines(indent).collect()
    }

    /// Returns the lines of the text.
    pub(crate) fn lines(&self, indent: &str) -> impl Iterator<Item = String> {
        self.rows.iter().map(move |row| {
            let cells = row.split(BETWEEN).zip(&self.widths);
            let cells: String = cells.map(|(cell, width)| format!("{cell:<width$}  ")).collect();
            format!("{indent}{}\n", cells.trim_end())
        })
    }
}

/// Returns `1 node`, `2 nodes`.
pub(crate) fn count(n: impl TryInto<u64>, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns `24 × 721 × 1440`.
pub(crate) fn dimensions(lengths: &[impl ToString]) -> String {
    if lengths.is_empty() {
        return "scalar".to_owned();
    }
    lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ")
}

/// Returns the product, or `None` from 2^128 on.
pub(crate) fn product(lengths: &[u64]) -> Option<u128> {
    if lengths.contains(&0) {
        return Some(0);
    }
    lengths.iter().try_fold(1_u128, |n, len| n.checked_mul(u128::from(*len)))
}

/// Returns the product of the counts as text.
pub(crate) fn number(counts: &[u64]) -> String {
    product(counts).map_or("2^128 or more".to_owned(), |n| n.to_string())
}

/// Returns a number of bytes for people.
pub(crate) fn bytes(n: u128) -> String {
    zarr_copy::Size(n).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(["é", "x", "1"]);
        table.row(["long", "\n"]);
        assert_eq!(table.to_text("  "), "  é     x   1\n  long  \\n\n");
        table.put_before(["", "a "].map(str::to_owned).into_iter());
        assert_eq!(table.to_text(""), "é       x   1\na long  \\n\n");
    }

    #[test]
    fn sizes_have_three_digits() {
        let sizes = [0, 1023, 1024, 1536, 10 << 20, (10 << 20) + (1 << 19), 999 << 30, u128::MAX].map(bytes);
        assert_eq!(
            sizes[..7],
            ["0 bytes", "1023 bytes", "1.00 KiB", "1.50 KiB", "10.0 MiB", "10.5 MiB", "999 GiB"]
        );
        assert_eq!(sizes[7], "1024 EiB or more");
        assert_eq!(bytes(1023 << 60), "1023 EiB");
    }
}
