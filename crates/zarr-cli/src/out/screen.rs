//! The size of the terminal, and text that fits on it.

use std::env;
use std::io::{self, IsTerminal};

/// The longest line of attributes where there is no terminal, in characters.
const WIDTH: usize = 100;

/// The size of the terminal on standard output, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Screen {
    /// Returns `None` if standard output is not a terminal.
    pub(crate) fn of_stdout() -> Option<Self> {
        let out = io::stdout();
        if !out.is_terminal() {
            return None;
        }
        let typed = |name| env::var(name).ok()?.parse().ok().filter(|size| *size > 0);
        let (columns, rows) = size().unwrap_or((80, 24));
        Some(Self { columns: typed("COLUMNS").unwrap_or(columns), rows: typed("LINES").unwrap_or(rows) })
    }
}

/// Returns the columns and rows that the terminal reports.
#[cfg(unix)]
fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

#[cfg(not(unix))]
fn size() -> Option<(usize, usize)> {
    None
}

/// Cuts a line with `…` where the terminal ends, or after 100 characters if there is no terminal.
pub(crate) fn cut(text: &str, screen: Option<Screen>) -> String {
    let most = screen.map_or(WIDTH, |screen| screen.columns).max(20);
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Returns the first lines of a text that fit on the terminal, and how many more there are. `all` shows all of them, as
/// does anything but a terminal.
pub(crate) fn fitted(text: String, screen: Option<Screen>, all: bool) -> String {
    let Some(screen) = screen.filter(|_| !all) else { return text };
    // The command line is above, and the prompt and the last line are below.
    let room = screen.rows.saturating_sub(3).max(5);
    let count = text.lines().count();
    if count <= room {
        return text;
    }
    let first: String = text.lines().take(room).flat_map(|line| [line, "\n"]).collect();
    format!("{first}… {} more lines (-a)\n", count - room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits_on_the_screen() {
        let screen = Some(Screen { columns: 30, rows: 10 });
        assert_eq!(cut(&"x".repeat(30), screen).chars().count(), 30);
        let long = cut(&"é".repeat(31), screen);
        assert!(long.chars().count() == 30 && long.ends_with("é…"), "{long}");
        assert_eq!(cut(&"x".repeat(200), None).chars().count(), WIDTH);
        let text = "line\n".repeat(20);
        assert_eq!(fitted(text.clone(), screen, true), text);
        assert_eq!(fitted(text.clone(), None, false), text);
        assert_eq!(fitted(text, screen, false), format!("{}… 13 more lines (-a)\n", "line\n".repeat(7)));
    }
}
