//! The words of CDL: names, numbers with their types, texts.

use super::{NumberType, Scalar, Value, Write, number};

/// Returns a name as CDL writes it: special characters and a leading digit have a backslash in front.
pub(super) fn identifier(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let is_plain = c.is_ascii_alphanumeric() || "_.-+@".contains(c) || !c.is_ascii();
        match c {
            c if c.is_control() => _ = write!(text, "\\%{:02x}", u32::from(c)),
            c if is_plain && !(at == 0 && !(c.is_ascii_alphabetic() || c == '_' || !c.is_ascii())) => {
                text.push(c)
            }
            c => text.extend(['\\', c]),
        }
    }
    text
}

/// Returns a text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Returns a number of a type, or `None` if the type does not have it.
#[expect(clippy::cast_possible_truncation, reason = "numbers are rounded to the type of their variable")]
pub(super) fn literal(of: NumberType, scalar: Scalar) -> Option<String> {
    let suffix = match of {
        NumberType::Int8 => "b",
        NumberType::UInt8 => "UB",
        NumberType::Int16 => "s",
        NumberType::UInt16 => "US",
        NumberType::Int32 | NumberType::Float64 => "",
        NumberType::UInt32 => "U",
        NumberType::Int64 => "LL",
        NumberType::UInt64 => "ULL",
        NumberType::Float16 | NumberType::Float32 => "f",
        NumberType::Bool | NumberType::Complex64 | NumberType::Complex128 => return None,
    };
    Some(match scalar {
        Scalar::Integer(integer) if of.is_integer() => {
            scalar.element(of)?;
            format!("{integer}{suffix}")
        }
        _ if of.is_integer() => return None,
        scalar => {
            let double = match scalar {
                Scalar::Integer(integer) => integer as f64,
                Scalar::Float(float) => float,
                Scalar::Complex(..) => return None,
            };
            let text = match of {
                NumberType::Float64 => float_text(double),
                _ => float_text_short(double as f32),
            };
            text + suffix
        }
    })
}

fn float_text(float: f64) -> String {
    match float {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        float => format!("{float:?}"),
    }
}

fn float_text_short(float: f32) -> String {
    if float.is_finite() { format!("{float:?}") } else { float_text(f64::from(float)) }
}

/// Returns the values of an attribute, and `string ` for a list of texts. JSON says whether a number is an integer, but not
/// its size: the smallest of int, int64 and uint64 is taken, and double for all others. `of` is another type that its
/// numbers have if they fit. A value that is not a number, a text or a list of these is a text of JSON.
pub(super) fn attribute_values(value: &Value, of: Option<NumberType>) -> Option<(&'static str, String)> {
    let list: Vec<Value> = match value.elements() {
        Some(elements) => elements.collect(),
        None => vec![value.clone()],
    };
    let numbers: Option<Vec<Scalar>> = list.iter().map(number).collect();
    let texts: Option<Vec<String>> =
        list.iter().map(|value| value.to_text().ok().map(|text| quoted(&text))).collect();
    if value.is_null() || list.is_empty() {
        return None;
    }
    let is_text = list.iter().any(|value| value.to_text().is_ok());
    match (numbers, texts) {
        (Some(numbers), _) if !is_text => {
            let typed = |of| numbers.iter().map(|scalar| literal(of, *scalar)).collect::<Option<Vec<_>>>();
            let types = [NumberType::Int32, NumberType::Int64, NumberType::UInt64, NumberType::Float64];
            let found = of.and_then(typed).or_else(|| types.into_iter().find_map(typed))?;
            Some(("", found.join(", ")))
        }
        (_, Some(texts)) => Some((if value.elements().is_some() { "string " } else { "" }, texts.join(", "))),
        _ => Some(("", quoted(&value.to_compact()))),
    }
}
