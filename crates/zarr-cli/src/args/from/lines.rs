//! Reads an element from each line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use super::cells::Cells;
use crate::exit::Failure;

/// The largest size of an element, which is held in memory.
pub(super) const LONGEST: u64 = 256 << 20;

/// What `cat` prints for a missing element.
const MISSING: [&str; 1] = ["--"];

/// Adds the element of each line.
///
/// # Errors
/// If a line is not an element; with its number.
pub(super) fn parsed(file: &File, cells: &mut Cells<'_>) -> Result<(), Failure> {
    cells.check_text()?;
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = (&mut lines).take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|e| Failure::io(&e, "cannot read it"))? == 0 {
            break;
        }
        let in_line = |e: Failure| Failure::usage(e.message()).within(format_args!("line {number}"));
        let text = text(&line, cells.are_texts()).map_err(in_line)?;
        let element = cells.text(text, &MISSING).map_err(in_line)?;
        cells.push(&element)?;
    }
    Ok(())
}

/// Returns the text of a line.
fn text(line: &[u8], is_text: bool) -> Result<&str, Failure> {
    let text = match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None if line.len() as u64 == LONGEST => return Err(Failure::usage("the line is too long")),
        None => line,
    };
    let text = std::str::from_utf8(text).map_err(|_| Failure::usage("it is not UTF-8"))?;
    if is_text && text.contains('\\') {
        return Err(Failure::usage(
            "the backslash may be part of the text, or stand for a character that `cat` does not print as it is: give csv or \
             json",
        ));
    }
    Ok(if is_text { text } else { text.trim() })
}
