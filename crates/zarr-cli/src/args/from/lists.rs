//! Reads nested lists of JSON, element by element.

use std::fs::File;
use std::io::{BufRead, BufReader};

use zarr_array::meta::json::Value;

use super::cells::Cells;
use super::lines::LONGEST;
use crate::exit::Failure;

/// The largest number of dimensions.
const DEEPEST: usize = 64;

/// Adds all elements. Returns their shape.
///
/// # Errors
/// If the lists are not JSON or not of equal lengths, or something in them is not an element; with its number.
pub(super) fn parsed(file: &File, cells: &mut Cells<'_>) -> Result<Vec<u64>, Failure> {
    let mut source = Source { bytes: BufReader::new(file) };
    let mut shape = Shape::default();
    loop {
        match source.next()?.ok_or_else(|| Failure::usage("the JSON ends too early"))? {
            b'[' if !(cells.are_pairs() && source.is_pair()?) => {
                shape.open()?;
                if source.peek()? == Some(b']') {
                    source.next()?;
                    shape.close()?;
                } else {
                    continue;
                }
            }
            first => {
                let number = shape.leaf()?;
                let in_element =
                    |e: Failure| Failure::usage(e.message()).within(format_args!("element {number}"));
                let raw = source.value(first).map_err(in_element)?;
                let value = Value::parse(&raw).map_err(|e| in_element(e.into()))?;
                let element = cells.json(&value).map_err(in_element)?;
                cells.push(&element)?;
            }
        }
        // Behind a value.
        while !shape.counts.is_empty() {
            match source.next()? {
                Some(b',') => break,
                Some(b']') => shape.close()?,
                _ => {
                    return Err(Failure::usage(
                        "the JSON has no comma between two elements, or ends too early",
                    ));
                }
            }
        }
        if shape.counts.is_empty() {
            break;
        }
    }
    match source.next()? {
        None => Ok(shape.lengths.into_iter().map(Option::unwrap_or_default).collect()),
        Some(_) => Err(Failure::usage("there is more behind the JSON")),
    }
}

/// The lengths of nested lists.
#[derive(Debug, Default)]
struct Shape {
    /// The length of each dimension, known when the first list ends.
    lengths: Vec<Option<u64>>,
    /// The numbers of values in the open lists so far.
    counts: Vec<u64>,
    /// The number of dimensions, known from the first element on.
    rank: Option<usize>,
    elements: u64,
}

impl Shape {
    fn open(&mut self) -> Result<(), Failure> {
        let depth = self.counts.len();
        if self.rank.is_some_and(|rank| depth >= rank) {
            return Err(Failure::usage("there is a list where an element is expected"));
        }
        if depth == DEEPEST {
            return Err(Failure::usage(format!("there are more than {DEEPEST} lists in each other")));
        }
        if let Some(above) = self.counts.last_mut() {
            *above += 1;
        }
        self.counts.push(0);
        if self.lengths.len() < self.counts.len() {
            self.lengths.push(None);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Failure> {
        let Some(count) = self.counts.pop() else {
            return Err(Failure::usage("a list ends that has not begun"));
        };
        let depth = self.counts.len();
        let length = self.lengths[depth].get_or_insert(count);
        if *length != count {
            return Err(Failure::usage(format!(
                "two lists of dimension {depth} have the lengths {length} and {count}"
            )));
        }
        Ok(())
    }

    /// Counts an element and returns its number.
    fn leaf(&mut self) -> Result<u64, Failure> {
        let depth = self.counts.len();
        if *self.rank.get_or_insert(depth) != depth || self.lengths.len() != depth {
            return Err(Failure::usage("there is an element where a list is expected"));
        }
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
        self.elements += 1;
        Ok(self.elements - 1)
    }
}

/// The bytes of a document.
struct Source<'a> {
    bytes: BufReader<&'a File>,
}

impl Source<'_> {
    fn byte(&mut self) -> Result<Option<u8>, Failure> {
        let bytes = self.bytes.fill_buf().map_err(|e| Failure::io(&e, "cannot read it"))?;
        Ok(bytes.first().copied())
    }

    /// Returns the next byte that is not white space, and leaves it there.
    fn peek(&mut self) -> Result<Option<u8>, Failure> {
        loop {
            match self.byte()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.bytes.consume(1),
                other => return Ok(other),
            }
        }
    }

    /// Takes the next byte that is not white space.
    fn next(&mut self) -> Result<Option<u8>, Failure> {
        let next = self.peek()?;
        self.bytes.consume(usize::from(next.is_some()));
        Ok(next)
    }

    /// Whether the list that has begun is one of numbers.
    fn is_pair(&mut self) -> Result<bool, Failure> {
        Ok(!matches!(self.peek()?, Some(b'[' | b']')))
    }

    /// Takes the rest of a value that is no list of elements.
    fn value(&mut self, first: u8) -> Result<String, Failure> {
        let mut raw = vec![first];
        let mut depth = usize::from(matches!(first, b'[' | b'{'));
        let mut is_text = first == b'"';
        while depth > 0 || is_text || !matches!(first, b'"' | b'[' | b'{') {
            let Some(byte) = self.byte()? else { break };
            if !is_text && depth == 0 && matches!(byte, b',' | b']' | b' ' | b'\t' | b'\n' | b'\r') {
                break;
            }
            if raw.len() as u64 == LONGEST {
                return Err(Failure::usage("it is too long"));
            }
            self.bytes.consume(1);
            raw.push(byte);
            match byte {
                b'\\' if is_text => {
                    raw.extend(self.byte()?);
                    self.bytes.consume(1);
                }
                b'"' => is_text = !is_text,
                b'[' | b'{' if !is_text => depth += 1,
                b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        String::from_utf8(raw).map_err(|_| Failure::usage("it is not UTF-8"))
    }
}
