//! A whole JSON text.

use std::ops::Range;

use crate::error::{DeviationKind, JsonDeviation, JsonError, JsonErrorKind, JsonResult};
use crate::scan;
use crate::value::Value;

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
    /// Reads a JSON text that is nested at most `depth` levels deep. Tolerated deviations are added to `deviations`, also
    /// if the text is refused later; at most [`MOST_DEVIATIONS`](crate::MOST_DEVIATIONS).
    ///
    /// ```
    /// use zarr_json::{DEPTH, DeviationKind, Document};
    /// let mut deviations = Vec::new();
    /// let document = Document::parse(br#"{"scale": 1.50, "offset": NaN}"#, DEPTH, &mut deviations)?;
    /// assert_eq!(document.to_text(), r#"{"scale": 1.50, "offset": NaN}"#);
    /// assert_eq!((deviations[0].kind, &*deviations[0].pointer), (DeviationKind::NonFinite, "/offset"));
    /// # Ok::<(), zarr_json::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// [`Syntax`](JsonErrorKind::Syntax) with the position if `bytes` is not a JSON text,
    /// [`LimitExceeded`](JsonErrorKind::LimitExceeded) if it is nested deeper.
    pub fn parse(bytes: &[u8], depth: usize, deviations: &mut Vec<JsonDeviation>) -> JsonResult<Self> {
        let marked = bytes.strip_prefix(BYTE_ORDER_MARK);
        if marked.is_some() {
            let message = "the document starts with a byte order mark, which is skipped".to_owned();
            deviations.push(JsonDeviation {
                kind: DeviationKind::ByteOrderMark,
                pointer: String::new(),
                message,
            });
        }
        let bytes = marked.unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to(), depth))?;
        let scanned = scan::scan(text, depth, deviations)?;
        let Range { start, end } = scanned.value;
        let (before, after) = (text[..start].to_owned(), text[end..].to_owned());
        Ok(Self { before, root: Value::whole(text, scanned), after })
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
fn not_utf8(bytes: &[u8], at: usize, depth: usize) -> JsonError {
    let valid = std::str::from_utf8(&bytes[..at]).unwrap_or_default();
    let message = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "expected UTF-8, found a UTF-16 byte order mark".to_owned(),
        _ => format!("expected UTF-8, found the byte 0x{:02x}", bytes.get(at).copied().unwrap_or_default()),
    };
    match scan::scan(valid, depth, &mut Vec::new()) {
        // There is a syntax error before the invalid bytes.
        Err(e) if e.position().is_some_and(|p| p.byte < at) => e,
        Err(e) => JsonError::new(JsonErrorKind::Syntax, message)
            .at(e.pointer())
            .with_position(scan::position(bytes, at)),
        Ok(_) => JsonError::new(JsonErrorKind::Syntax, message).with_position(scan::position(bytes, at)),
    }
}
