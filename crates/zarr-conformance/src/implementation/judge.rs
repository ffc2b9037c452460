//! Compares an answer with the expectation of a case.

use serde_json::Value;
use zarr_traits::json::JsonError;

use super::fixture::{Case, CaseKind, Expect, Failure};
use super::json::{canonical, read, sha256};
use super::peer::{Exit, PeerAnswer, Verb};
use super::verdict::{Fault, FaultKind, Verdict};

/// Judges an answer to [`Verb::Info`], [`Verb::Read`] or [`Verb::List`].
pub fn judge(case: &Case, verb: Verb, answer: &PeerAnswer) -> Verdict {
    let expect = expected(case, verb);
    let fault = |kind, got: String| Verdict::Failed(Fault::new(kind, says(case, verb, expect), got));
    match (&answer.exit, expect) {
        (Exit::Broken(how), _) => fault(FaultKind::Broken, broken(how, &answer.message)),
        (Exit::NotImplemented, _) => Verdict::NotImplemented(answer.message.clone()),
        (Exit::Closed, Expect::ErrorOrStream) => Verdict::Passed,
        (Exit::Closed, _) => fault(FaultKind::Wrong, "more output than allowed".to_owned()),
        (Exit::Refused, Expect::Ok | Expect::AnyBytes) => fault(FaultKind::Refused, refused(&answer.message)),
        (Exit::Refused, _) if answer.message.is_empty() => fault(FaultKind::Broken, refused("")),
        (Exit::Refused, _) => Verdict::Passed,
        (Exit::Done, Expect::Error) => fault(FaultKind::Accepted, accepted(case, verb, &answer.output)),
        // A short stream may have ended by itself.
        (Exit::Done, Expect::Any | Expect::NoEscape) => Verdict::Passed,
        (Exit::Done, Expect::ErrorOrStream) => {
            fault(FaultKind::Accepted, accepted(case, verb, &answer.output))
        }
        (Exit::Done, Expect::Ok | Expect::AnyBytes | Expect::OkOrError) => {
            let wrong = match verb {
                Verb::Info if case.kind == CaseKind::Malformed => None,
                Verb::Info => described(case, &answer.output),
                Verb::List => listed(case, &answer.output),
                Verb::Read | Verb::Write => elements(case, expect, &answer.output),
            };
            wrong.map_or(Verdict::Passed, |got| fault(FaultKind::Wrong, got))
        }
    }
}

/// Describes a crash. A shell's message may repeat the name of a signal.
pub(super) fn broken(how: &str, message: &str) -> String {
    if how.contains(message) { how.to_owned() } else { format!("{how}: {message}") }
}

/// Describes a refusal.
pub(super) fn refused(message: &str) -> String {
    (if message.is_empty() { "exit code 1 without a message" } else { message }).to_owned()
}

/// Describes output that is not JSON.
fn no_json(error: &JsonError, output: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(output).chars().take(80).collect();
    format!("expected JSON, found {start:?}: {error}")
}

/// Returns the expected result of one verb. If only reading must fail, opening must succeed. If either may fail, both
/// results of opening are accepted.
fn expected(case: &Case, verb: Verb) -> Expect {
    match (case.kind, verb, case.failure) {
        (CaseKind::Malformed, Verb::Info, Some(Failure::Data)) => Expect::Ok,
        (CaseKind::Malformed, Verb::Info, Some(Failure::Extension)) => Expect::Any,
        // An array that is too large to be read may still be opened.
        (CaseKind::Malformed, Verb::Info, None) if !case.info_only => Expect::Any,
        _ => case.expect,
    }
}

/// Returns the expected result in words.
fn says(case: &Case, verb: Verb, expect: Expect) -> String {
    let digest = case.sha256.first();
    match (verb, expect, digest) {
        (Verb::Info | Verb::List, Expect::Ok | Expect::AnyBytes, _) => "the recorded description".to_owned(),
        (_, Expect::Ok, Some(digest)) => format!("{} bytes with sha256 {digest:.12}…", case.bytes),
        (_, expect, _) => expect.says().to_owned(),
    }
}

/// Describes the answer of a peer that should have refused.
fn accepted(case: &Case, verb: Verb, output: &[u8]) -> String {
    match verb {
        Verb::Info | Verb::List => "opened it".to_owned(),
        _ if case.json => format!("{:.60}", String::from_utf8_lossy(output).trim()),
        _ => {
            let start: String = output.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            format!("{} bytes: {start}{}", output.len(), if output.len() > 12 { "…" } else { "" })
        }
    }
}

/// Returns what is wrong with the elements, if anything.
pub(super) fn elements(case: &Case, expect: Expect, output: &[u8]) -> Option<String> {
    let hash = if case.json {
        match read(output) {
            Ok(value) => sha256(canonical(&value).as_bytes()),
            Err(error) => return Some(no_json(&error, output)),
        }
    } else {
        if output.len() != case.bytes {
            return Some(format!("{} bytes", output.len()));
        }
        if expect == Expect::AnyBytes {
            return None;
        }
        sha256(output)
    };
    (!case.sha256.contains(&hash)).then(|| format!("sha256 {hash:.12}…"))
}

/// Returns what is wrong with the answer to `info`, if anything.
fn described(case: &Case, output: &[u8]) -> Option<String> {
    let info: Value = match read(output) {
        Ok(info) => info,
        Err(error) => return Some(no_json(&error, output)),
    };
    let node = if case.kind == CaseKind::Group { "group" } else { "array" };
    if info["node_type"] != node {
        return Some(format!("node_type {}, not {node:?}", info["node_type"]));
    }
    if info["zarr_format"] != case.format {
        return Some(format!("zarr_format {}, not {}", info["zarr_format"], case.format));
    }
    if let (Some(expected), Some(given)) = (&case.attributes, info.get("attributes"))
        && !same(given, expected)
    {
        let (given, expected) = (given.to_string(), expected.to_string());
        return Some(format!("attributes {given:.200}, not {expected:.200}"));
    }
    if node == "group" {
        return None;
    }
    let shape: Option<Vec<u64>> =
        info["shape"].as_array().and_then(|s| s.iter().map(Value::as_u64).collect());
    if shape != case.shape {
        return Some(format!("shape {}, not {:?}", info["shape"], case.shape.as_deref().unwrap_or_default()));
    }
    let given = &info["data_type"];
    let name = given.as_str().or_else(|| given["name"].as_str());
    match (name, case.dtype.as_deref()) {
        (None, _) if !given.is_array() => Some(format!("data_type {given}")),
        (Some(name), Some(expected)) if !same_type(name, expected) => {
            Some(format!("data_type {given}, not {expected:?}"))
        }
        _ => None,
    }
}

/// Whether two values are the same JSON. The spelling of numbers is ignored.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let there =
                |(name, one): (&String, &Value)| others.get(name).is_some_and(|other| same(one, other));
            ones.len() == others.len() && ones.iter().all(there)
        }
        _ => one == other,
    }
}

/// Returns what is wrong with a list of nodes, if anything.
fn listed(case: &Case, output: &[u8]) -> Option<String> {
    match read(output) {
        Ok(found) if Some(&found) == case.nodes.as_ref() => None,
        Ok(found) => Some(format!("{:.200}", found.to_string())),
        Err(error) => Some(no_json(&error, output)),
    }
}

/// Whether two names can mean the same data type. Each is a name of format 3 or of NumPy. The byte order in NumPy's
/// names is ignored, because it belongs to the stored form.
fn same_type(given: &str, expected: &str) -> bool {
    match (code(given), code(expected)) {
        (Some((kind, size)), Some((other, length))) => {
            kind == other && (size == length || size.is_empty() || length.is_empty())
        }
        // A display name such as `StringDType()`, not the name of a type.
        _ => given == expected || expected.ends_with(')'),
    }
}

/// Returns NumPy's code for a data type, and the size if the name has one.
fn code(name: &str) -> Option<(char, &str)> {
    const NAMES: [(&str, &str); 27] = [
        ("bool", "b1"),
        ("int8", "i1"),
        ("int16", "i2"),
        ("int32", "i4"),
        ("int64", "i8"),
        ("uint8", "u1"),
        ("uint16", "u2"),
        ("uint32", "u4"),
        ("uint64", "u8"),
        ("float16", "f2"),
        ("float32", "f4"),
        ("float64", "f8"),
        ("complex64", "c8"),
        ("complex128", "c16"),
        ("string", "O"),
        ("bytes", "O"),
        ("variable_length_bytes", "O"),
        ("fixed_length_utf32", "U"),
        ("null_terminated_bytes", "S"),
        ("raw_bytes", "V"),
        ("struct", "V"),
        ("structured", "V"),
        ("numpy.datetime64", "M"),
        ("numpy.timedelta64", "m"),
        ("|VX", "V"),
        ("object", "O"),
        ("numcodecs:object", "O"),
    ];
    if name.strip_prefix('r').is_some_and(|bits| bits.parse::<u64>().is_ok()) {
        return Some(('V', ""));
    }
    let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, code)| *code);
    let code = known.or_else(|| name.strip_prefix(['<', '>', '|', '=']))?;
    let kind = code.chars().next().filter(char::is_ascii_alphabetic)?;
    // Some programs leave out a following `[ns]`.
    let size = code[1..].split('[').next().unwrap_or_default();
    Some((kind, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(extra: &Value) -> Case {
        let mut value = json!({
            "id": "a", "category": "b", "zarr_format": 3, "store": "s", "kind": "raw", "expect": "ok",
            "nbytes": 2, "sha256": sha256(b"ab"), "shape": [2], "dtype": "|u1"
        });
        value.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        Case::parse(&value).unwrap()
    }

    fn verdict(case: &Case, verb: Verb, exit: Exit, output: &[u8]) -> String {
        let answer = PeerAnswer::new(exit, "no", output.to_vec());
        match judge(case, verb, &answer) {
            Verdict::Passed => "passed".to_owned(),
            Verdict::NotImplemented(_) => "not implemented".to_owned(),
            Verdict::Failed(fault) => fault.kind.name().to_owned(),
        }
    }

    #[test]
    fn an_array_passes_only_with_exactly_its_bytes() {
        let case = case(&json!({}));
        for (exit, output, says) in [
            (Exit::Done, &b"ab"[..], "passed"),
            (Exit::Done, b"ac", "wrong"),
            (Exit::Done, b"a", "wrong"),
            (Exit::Closed, b"ab", "wrong"),
            (Exit::Refused, b"", "refused"),
            (Exit::NotImplemented, b"", "not implemented"),
            (Exit::Broken("x".to_owned()), b"ab", "broken"),
        ] {
            assert_eq!(verdict(&case, Verb::Read, exit, output), says);
        }
    }

    #[test]
    fn malformed_cases_must_fail_at_their_stage() {
        let reject = |failure: &str| {
            case(&json!({ "kind": "neg", "verb": "cat", "expect": "error", "failure": failure }))
        };
        for (failure, verb, exit, says) in [
            ("metadata", Verb::Info, Exit::Done, "accepted"),
            ("metadata", Verb::Info, Exit::Refused, "passed"),
            ("metadata", Verb::Read, Exit::Done, "accepted"),
            ("extension", Verb::Info, Exit::Done, "passed"),
            ("extension", Verb::Info, Exit::Refused, "passed"),
            ("extension", Verb::Read, Exit::Done, "accepted"),
            ("data", Verb::Info, Exit::Done, "passed"),
            ("data", Verb::Info, Exit::Refused, "refused"),
            ("data", Verb::Read, Exit::Refused, "passed"),
            ("data", Verb::Read, Exit::Done, "accepted"),
        ] {
            assert_eq!(verdict(&reject(failure), verb, exit, b""), says, "{failure} {verb:?}");
        }
    }

    #[test]
    fn a_description_must_equal_the_recorded_one() {
        let case = case(&json!({ "attributes": { "a": 1 } }));
        let info = |extra: Value| {
            let mut info = json!({
                "node_type": "array", "zarr_format": 3, "shape": [2], "data_type": "uint8", "attributes": { "a": 1 }
            });
            info.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            verdict(&case, Verb::Info, Exit::Done, info.to_string().as_bytes())
        };
        assert_eq!(info(json!({})), "passed");
        assert_eq!(info(json!({ "attributes": { "a": 1.0 } })), "passed");
        for wrong in [
            json!({ "node_type": "group" }),
            json!({ "zarr_format": 2 }),
            json!({ "shape": [3] }),
            json!({ "data_type": "int8" }),
            json!({ "data_type": null }),
            json!({ "attributes": {} }),
        ] {
            assert_eq!(info(wrong.clone()), "wrong", "{wrong}");
        }
    }

    #[test]
    fn types_are_known_by_both_names() {
        for (given, expected) in [
            ("<f4", "float32"),
            ("|b1", "bool"),
            ("complex128", ">c16"),
            ("<U5", ">U5"),
            ("fixed_length_utf32", "<U5"),
            ("<M8[s]", "numpy.datetime64"),
            ("string", "|O"),
            ("r24", "r24"),
            ("r80", "|V10"),
            ("string", "StringDType()"),
        ] {
            assert!(same_type(given, expected), "{given} {expected}");
        }
        for (given, expected) in
            [("<f4", "f8"), ("|S0", "<U5"), ("|u1", "bool"), ("int4", "int8"), ("|S5", "|S6")]
        {
            assert!(!same_type(given, expected), "{given} {expected}");
        }
    }
}
