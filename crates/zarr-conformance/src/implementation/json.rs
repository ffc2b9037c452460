//! JSON in the form that the manifests hash.

use sha2::{Digest as _, Sha256};
use zarr_traits::serde_json::Value;

/// Returns the digest of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
    use zarr_traits::serde_json::json;

    #[test]
    fn writes_canonical_json() {
        let value = json!({ "b": [1, "é🚀", null], "a": "\"" });
        assert_eq!(canonical(&value), r#"{"a":"\"","b":[1,"\u00e9\ud83d\ude80",null]}"#);
    }

    #[test]
    fn hashes() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
