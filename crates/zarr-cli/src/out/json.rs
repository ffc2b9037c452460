//! Writes metadata as JSON that every program reads.

use zarr_array::meta::json::{Member, Object, Value, ValueKind};

/// Values that fit into a line of this length are written on one line.
const WIDTH: usize = 100;

/// Makes a JSON object from pairs.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Object {
    let mut object = Object::new();
    for (name, value) in members {
        object.set(name, value);
    }
    object
}

/// Returns a number; infinities and NaN as strings, as in fill values.
pub(crate) fn float(number: f64) -> Value {
    match number.is_finite() {
        true => number.into(),
        false if number.is_nan() => "NaN".into(),
        false => (if number > 0.0 { "Infinity" } else { "-Infinity" }).into(),
    }
}

/// Returns the text of a value with sorted members and without blanks. Equal strings and equal floats have equal texts.
pub(crate) fn sorted(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(",");
    match value.kind() {
        ValueKind::Object => {
            let object = value.as_object().unwrap_or_default();
            let mut members = object.distinct();
            members.sort_by(|a, b| a.name_lossy().cmp(&b.name_lossy()));
            let member = |member: &Member| format!("{}:{}", member.name_value(), sorted(&member.value()));
            format!("{{{}}}", list(members.into_iter().map(member).collect()))
        }
        ValueKind::Array => {
            format!(
                "[{}]",
                list(value.elements().into_iter().flatten().map(|element| sorted(&element)).collect())
            )
        }
        ValueKind::String => {
            value.as_text().map_or_else(|| value.to_string(), |text| Value::from(text).to_string())
        }
        ValueKind::Number if value.as_integer().is_none() => {
            value.as_f64().map_or_else(|| value.to_string(), |float| Value::from(float).to_string())
        }
        _ => value.to_string(),
    }
}

/// The version of the documents that `--json` prints. It changes if a member is removed, or its meaning or type changes.
const SCHEMA_VERSION: u64 = 1;

/// Makes the document that a verb prints for `--json`, which begins with its version.
pub(crate) fn document<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Object {
    let mut document = object([("schema_version", SCHEMA_VERSION.into())]);
    for (name, value) in members {
        document.set(name, value);
    }
    document
}

/// Returns the text of a value, laid out for people, with a line feed at the end. Documents may hold the words `NaN`,
/// `Infinity` and `-Infinity`, which are not JSON; they become strings.
pub(crate) fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

/// Returns the text of a value on one line.
pub(crate) fn line(value: &Value) -> String {
    let mut out = String::new();
    write_line(value, &mut out);
    out.push('\n');
    out
}

/// Recursion is safe: the limits bound the nesting of values from documents.
fn write(value: &Value, indent: usize, out: &mut String) {
    if is_leaf(value) {
        return leaf(value, out);
    }
    // White space may make the source text longer, but hardly four times as long.
    if value.as_raw().len() <= 4 * WIDTH {
        let start = out.len();
        write_line(value, out);
        let line = out.rfind('\n').map_or(0, |at| at + 1);
        if out.len() - line <= WIDTH {
            return;
        }
        out.truncate(start);
    }
    let step = |out: &mut String, first: &mut bool, indent: usize| {
        out.push_str(if std::mem::replace(first, false) { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n(' ', indent));
    };
    let (open, close) = if value.kind() == ValueKind::Object { ('{', '}') } else { ('[', ']') };
    out.push(open);
    let mut first = true;
    for element in value.elements().into_iter().flatten() {
        step(out, &mut first, indent + 2);
        write(&element, indent + 2, out);
    }
    for member in value.as_object().unwrap_or_default().members() {
        step(out, &mut first, indent + 2);
        name(&member.name_value(), out);
        write(&member.value(), indent + 2, out);
    }
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
    out.push(close);
}

fn write_line(value: &Value, out: &mut String) {
    let step = |out: &mut String, first: &mut bool| {
        if !std::mem::replace(first, false) {
            out.push_str(", ");
        }
    };
    let mut first = true;
    match value.kind() {
        ValueKind::Array => {
            out.push('[');
            for element in value.elements().into_iter().flatten() {
                step(out, &mut first);
                write_line(&element, out);
            }
            out.push(']');
        }
        ValueKind::Object => {
            out.push('{');
            for member in value.as_object().unwrap_or_default().members() {
                step(out, &mut first);
                name(&member.name_value(), out);
                write_line(&member.value(), out);
            }
            out.push('}');
        }
        _ => leaf(value, out),
    }
}

fn is_leaf(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Array => value.elements().is_none_or(|mut elements| elements.next().is_none()),
        ValueKind::Object => value.as_object().is_none_or(|object| object.is_empty()),
        _ => true,
    }
}

fn leaf(value: &Value, out: &mut String) {
    match value.kind() {
        ValueKind::NonFinite => out.extend(["\"", value.as_raw(), "\""]),
        ValueKind::Array => out.push_str("[]"),
        ValueKind::Object => out.push_str("{}"),
        _ => out.push_str(value.as_raw()),
    }
}

fn name(name: &Value, out: &mut String) {
    out.push_str(name.as_raw());
    out.push_str(": ");
}

#[cfg(test)]
mod tests {
    use zarr_array::meta::json::{DEPTH, Document};

    use super::*;

    fn laid_out(text: &str) -> String {
        pretty(&Document::parse(text.as_bytes(), DEPTH, &mut Vec::new()).unwrap().root)
    }

    #[test]
    fn non_finite_words_become_strings_and_numbers_keep_their_spelling() {
        for (text, valid) in [
            (
                r#"{"a":NaN,"b":[-Infinity,Infinity,-1]}"#,
                r#"{"a": "NaN", "b": ["-Infinity", "Infinity", -1]}"#,
            ),
            (r#"{"NaN \" Infinity":"a\\","I":"N\\\"N"}"#, r#"{"NaN \" Infinity": "a\\", "I": "N\\\"N"}"#),
            (
                "[1.50,1e400,\nnull,true,\"é\\u00e9\", [ ], {  }]",
                "[1.50, 1e400, null, true, \"é\\u00e9\", [], {}]",
            ),
            (r#"{"\u00e9":"\u00e9","\ud800":["\ud800"]}"#, r#"{"é": "\u00e9", "\ud800": ["\ud800"]}"#),
            ("7", "7"),
        ] {
            assert_eq!(laid_out(text), format!("{valid}\n"));
        }
    }

    #[test]
    fn sorted_texts_are_equal_for_equal_values() {
        let text =
            |text: &str| sorted(&Document::parse(text.as_bytes(), DEPTH, &mut Vec::new()).unwrap().root);
        let value = r#"{"b": [1.50, 1e2, 5, {}], "\u0061": "\u00e9", "b2": null, "b": [1.5, 100.0, 5, { }]}"#;
        assert_eq!(text(value), r#"{"a":"é","b":[1.5,100.0,5,{}],"b2":null}"#);
        for other in ["5", "5.0", "12345678901234567890123456789", "NaN", "1e400", r#""\ud800""#] {
            assert_eq!(text(other), other);
        }
    }

    #[test]
    fn long_values_have_a_line_for_each_part() {
        let long = "x".repeat(90);
        let text = format!(r#"{{"a":"{long}","b":[1,2],"c":["{long}"]}}"#);
        let wanted =
            format!("{{\n  \"a\": \"{long}\",\n  \"b\": [1, 2],\n  \"c\": [\n    \"{long}\"\n  ]\n}}\n");
        assert_eq!(laid_out(&text), wanted);
    }
}
