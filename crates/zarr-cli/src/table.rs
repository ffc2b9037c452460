//! Output for people: columns, sizes, shapes.

/// Rows of cells. Each column is as wide as its widest cell.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.push(cells);
    }

    /// Adds a row of any length.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.0.push(cells.into_iter().map(|cell| crate::exit::line(cell.as_ref())).collect());
    }

    /// Returns the rows, one a line, each with `indent` in front.
    pub(crate) fn to_text(&self, indent: &str) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column| {
            self.0.iter().filter_map(|row| row.get(column)).map(|c: &String| c.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.0 {
            let cells: String =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
            text.push_str(indent);
            text.push_str(cells.trim_end());
            text.push('\n');
        }
        text
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
