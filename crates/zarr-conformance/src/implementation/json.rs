//! JSON in the form that the manifests hash.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use zarr_traits::json::{DEPTH, DeviationKind, Document, JsonError};

/// Returns the digest of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a JSON text. Floats are rounded correctly, so that equal numbers have equal digests.
pub(super) fn read(text: &[u8]) -> Result<Value, JsonError> {
    let mut deviations = Vec::new();
    let document = Document::parse(text, DEPTH, &mut deviations)?;
    match deviations.into_iter().find(|deviation| deviation.kind != DeviationKind::DuplicateMember) {
        Some(deviation) => Err(deviation.into()),
        None => document.root.deserialize(),
    }
}

/// Returns JSON text with sorted members, without spaces, in ASCII.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                ascii(&Value::from(name.as_str()), out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
        scalar => ascii(scalar, out),
    }
}

fn ascii(scalar: &Value, out: &mut String) {
    for c in scalar.to_string().chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_canonical_json() {
        let value = json!({ "b": [1, "é🚀", null], "a": "\"" });
        assert_eq!(canonical(&value), r#"{"a":"\"","b":[1,"\u00e9\ud83d\ude80",null]}"#);
    }

    #[test]
    fn reads_exact_numbers() {
        let read = |text: &str| read(text.as_bytes()).map(|value| canonical(&value));
        assert_eq!(
            read("[0.30000000000000004, 1.7976931348623157e308, 1e16]").unwrap(),
            "[0.30000000000000004,1.7976931348623157e+308,1e+16]"
        );
        assert_eq!(read(r#"{"b": 1, "a": -0.0, "b": 2}"#).unwrap(), r#"{"a":-0.0,"b":2}"#);
        assert!(read("[NaN]").is_err());
    }

    #[test]
    fn hashes() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
