//! JSON as it is stored: lossless, tolerant of what Zarr writers produce, and safe against hostile documents.
//!
//! Zarr documents are read, changed a little, and written back, often by a program that understands only some of their
//! members. So a document is not turned into a tree of Rust values. A [`Value`] is a slice of the document's text,
//! which a [scanner](Document::parse) has checked; an [`Object`] is the list of its members, one level deep.
//!
//! **What is kept.** A document that is parsed and written is the same, byte for byte, except for a byte order mark,
//! which is dropped. An edit changes only the members that were set or removed. Every other byte stays: order, repeated
//! members, white space, the spelling of numbers (`1.50`, `1e400`, 40 digits) and of strings (`\u00e9`, lone `\ud800`),
//! and bare `NaN`.
//!
//! **What is tolerated**, each with a [diagnostic](crate::diagnostic): a byte order mark, bare `NaN`, `Infinity` and
//! `-Infinity`, repeated members (the last counts), lone surrogate escapes (an error only when they are read as text).
//! Everything else that RFC 8259 forbids is an error with its line, column, byte and JSON pointer.
//!
//! **What is safe.** Scanning, writing and dropping do not recurse. The caller limits size and nesting.

mod convert;
mod layout;
mod number;
mod object;
pub(crate) mod pointer;
mod root;
mod scan;
mod source;
mod split;
mod string;
mod typed;
mod value;

pub(crate) use number::Decimal;
pub use number::Number;
pub use object::{Member, Object};
pub(crate) use root::Root;
pub(crate) use value::DEPTH;
pub use value::{Elements, Value, ValueKind};

use std::ops::Range;
use std::sync::Arc;

use zarr_traits::Limits;

use self::source::Source;

use crate::diagnostic::{Code, Diagnostic, Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A JSON text: one value and the white space around it.
#[derive(Debug, Clone)]
pub struct Document {
    before: String,
    /// The value. Assign to it to change the document.
    pub root: Value,
    after: String,
}

impl Document {
    /// Reads a JSON text. Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// [`Syntax`](MetaErrorKind::Syntax) with the position if `bytes` is not a JSON text,
    /// [`LimitExceeded`](MetaErrorKind::LimitExceeded) if it is larger or nested deeper than `limits` allow, and those
    /// of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        if bytes.len() as u64 > limits.metadata_bytes {
            let (size, most) = (bytes.len(), limits.metadata_bytes);
            return Err(MetaError::limit(format!("the document has {size} bytes, more than {most}")));
        }
        let marked = bytes.strip_prefix(BYTE_ORDER_MARK);
        if marked.is_some() {
            let message = "the document starts with a byte order mark, which is skipped";
            sink.report(Diagnostic::new(Code::ByteOrderMark, "", message))?;
        }
        let bytes = marked.unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to(), limits))?;
        let scan::Scanned { value: Range { start, end }, long } = scan::scan(text, limits.json_depth, sink)?;
        let source = Arc::new(Source::new(text, long));
        let (before, after) = (text[..start].to_owned(), text[end..].to_owned());
        Ok(Self { before, root: Value::slice(&source, start, end), after })
    }

    /// Returns the text of the document.
    pub fn to_text(&self) -> String {
        [&self.before, self.root.as_raw(), &self.after].concat()
    }
}

impl From<Value> for Document {
    fn from(root: Value) -> Self {
        Self { before: String::new(), root, after: String::new() }
    }
}

/// Returns the error for bytes that are not UTF-8 from `at` on. Its pointer is that of the valid text before `at`.
fn not_utf8(bytes: &[u8], at: usize, limits: &Limits) -> MetaError {
    let valid = std::str::from_utf8(&bytes[..at]).unwrap_or_default();
    let message = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "expected UTF-8, found a UTF-16 byte order mark".to_owned(),
        _ => format!("expected UTF-8, found the byte 0x{:02x}", bytes.get(at).copied().unwrap_or_default()),
    };
    match scan::scan(valid, limits.json_depth, &mut Ignore) {
        // There is a syntax error before the invalid bytes.
        Err(e) if e.position().is_some_and(|p| p.byte < at) => e,
        Err(e) => MetaError::new(MetaErrorKind::Syntax, message)
            .at(e.pointer())
            .with_position(scan::position(bytes, at)),
        Ok(_) => MetaError::new(MetaErrorKind::Syntax, message).with_position(scan::position(bytes, at)),
    }
}
