//! Members of documents: those that must be there, lengths, and attributes that may be written.

use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::{DEPTH, Object, Value, ValueKind, pointer};

/// Whether `value` is an object with `"must_understand": false`.
pub(super) fn waived(value: &Value) -> bool {
    let must = value.get("must_understand");
    must.and_then(|v| v.as_bool()) == Some(false)
}

/// Returns the member of the root at `place`, which must be present.
pub(crate) fn required(members: &Object, place: &str) -> MetaResult<Value> {
    let name = place.strip_prefix('/').unwrap_or(place);
    members.get(name).ok_or_else(|| MetaError::invalid("this member is missing").at(place))
}

/// Returns attributes that may be written: an object without bare `NaN` and lone surrogates.
pub(crate) fn writable(attributes: &Value) -> MetaResult<Value> {
    if attributes.kind() != ValueKind::Object {
        return Err(attributes.expected("an object").at("/attributes").into());
    }
    // The document around the attributes is one more level.
    Ok(Value::parse_within(attributes.as_raw(), DEPTH - 1).map_err(|e| e.at("/attributes"))?)
}

/// Reads at most `most` integers from zero. A fraction of zero such as `4.0` is tolerated.
pub(crate) fn lengths(value: &Value, place: &str, most: usize, sink: &mut dyn Sink) -> MetaResult<Vec<u64>> {
    let elements = value.elements().ok_or_else(|| value.expected("an array of integers").at(place))?;
    let mut lengths = Vec::new();
    for (i, element) in elements.enumerate() {
        if i >= most {
            return Err(MetaError::limit(format!("the array has more than {most} dimensions")).at(place));
        }
        let number = element.as_number();
        let integer = number.and_then(|n| n.to_integer()).and_then(|n| u64::try_from(n).ok());
        let Some(integer) = integer else {
            let what = "an integer from 0 to 2^64 - 1";
            return Err(element.expected(what).at(&pointer::element(place, i)).into());
        };
        if number.is_some_and(|n| !n.is_plain_integer()) {
            let message = format!("the integer {integer} is written as {}", element.as_raw());
            sink.report(Diagnostic::new(Code::IntegerSpelling, pointer::element(place, i), message))?;
        }
        lengths.push(integer);
    }
    Ok(lengths)
}
