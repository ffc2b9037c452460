//! Fill values of core data types, down to the bits, one row for each case of docs/specification/data-types.md.

use crate::common::Verdict::{self, Fine, Refused, Tolerated, Unresolved};
use crate::common::{base, check, open};
use proptest::prelude::*;
use zarr_meta::json::Value;
use zarr_meta::{Code, DataType, Diagnostic, FillValue, Strict, fill};

/// Returns a document with this data type and fill value.
fn document(data_type: &str, value: &str) -> String {
    base(&[("data_type", &format!("\"{data_type}\"")), ("fill_value", value)])
}

fn rows(rows: &[(&str, &str, &str, Verdict)]) {
    for (id, data_type, value, verdict) in rows {
        check(id, &document(data_type, value), *verdict);
    }
}

fn core(name: &str) -> DataType {
    DataType::core(name).unwrap()
}

/// Returns the bits of a fill value, most significant first.
fn bits(data_type: &str, value: &str) -> u64 {
    let (_, resolved) =
        open(&document(data_type, value), &mut Vec::<Diagnostic>::new()).map_err(|e| e.1).unwrap();
    let mut bytes = resolved.fill.bytes().to_vec();
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Returns the written form of a fill value that was read.
fn rewritten(data_type: &str, value: &str) -> String {
    let data_type = core(data_type);
    let value = Value::parse(value).unwrap();
    let read = fill::read(&data_type, &value, &mut Vec::<Diagnostic>::new()).unwrap();
    let written = fill::write(&data_type, &read).unwrap();
    assert_eq!(fill::read(&data_type, &written, &mut Strict).unwrap(), read, "{written}");
    written.as_raw().to_owned()
}

#[test]
fn fill_values_of_integers_and_bools_are_checked() {
    let spelling = Tolerated(Code::IntegerFill);
    rows(&[
        ("B.t1", "int32", "1.0", spelling),
        ("B.t2", "int32", "1e2", spelling),
        ("B.t3", "int32", "\"7\"", Unresolved("member \"/fill_value\": expected an integer, found \"7\"")),
        ("B.t4", "int32", "null", Unresolved("member \"/fill_value\": expected an integer, found null")),
        ("B.t5", "int32", "true", Unresolved("expected an integer, found true")),
        ("B.t6", "int8", "200", Unresolved("expected an integer from -128 to 127, found 200")),
        ("B.t6", "uint8", "-1", Unresolved("expected an integer from 0 to 255, found -1")),
        ("B.t6", "int64", "1e300", Unresolved("member \"/fill_value\"")),
        ("B.t6", "int64", "9223372036854775808", Unresolved("member \"/fill_value\"")),
        ("B.t6", "uint64", "18446744073709551616", Unresolved("member \"/fill_value\"")),
        ("B.t7", "uint64", "18446744073709551615", Fine),
        ("B.t8", "int64", "-9223372036854775808", Fine),
        ("B.t10", "bool", "0", Tolerated(Code::BoolFill)),
        ("B.t10", "bool", "1", Tolerated(Code::BoolFill)),
        ("B.t10", "bool", "2", Unresolved("expected true or false, found 2")),
        ("B.t10", "bool", "true", Fine),
        ("B.t11", "bool", "\"false\"", Unresolved("expected true or false, found \"false\"")),
        ("B.t11", "bool", "null", Unresolved("expected true or false, found null")),
        ("B.t12", "int32", "-0", Fine),
        ("B.t13", "int32", "7.5", Unresolved("expected an integer, found 7.5")),
        ("B.t13", "int32", "[7]", Unresolved("expected an integer, found [7]")),
        ("B.t3", "int32", "\"0x00000007\"", Unresolved("expected an integer")),
    ]);
    check("B.t9", &base(&[("-fill_value", "")]), Refused("member \"/fill_value\": this member is missing"));
    check("B.t13", &document("int32", "NaN"), Unresolved("expected an integer, found NaN"));
    assert_eq!(bits("int32", "1e2"), 100);
    assert_eq!(bits("uint64", "18446744073709551615"), u64::MAX);
    assert_eq!(bits("uint64", "1.8446744073709551615e19"), u64::MAX);
    assert_eq!(bits("int64", "-9223372036854775808"), 1 << 63);
    assert_eq!(bits("int32", "-0"), 0);
    assert_eq!(bits("int16", "-2"), 0xFFFE);
    assert_eq!(bits("bool", "1"), 1);
    assert_eq!(rewritten("int32", "-0"), "0");
    assert_eq!(rewritten("uint64", "18446744073709551615"), "18446744073709551615");
    assert_eq!(rewritten("bool", "true"), "true");
}

#[test]
fn fill_values_of_floats_are_exact() {
    // No names other than the three of the specification are tolerated.
    let name = Unresolved("member \"/fill_value\": expected a number, \"NaN\"");
    let string = Tolerated(Code::NumericStringFill);
    let digits = Unresolved("expected \"0x\" and 8 hexadecimal digits");
    let beyond = Unresolved("write \"Infinity\" if it is meant");
    rows(&[
        ("B.t20", "float32", "1", Fine),
        ("B.t21", "float32", "0.1", Fine),
        ("B.t22", "float32", "16777217", Fine),
        ("B.t23", "float32", "\"NaN\"", Fine),
        ("B.t23", "float32", "\"Infinity\"", Fine),
        ("B.t23", "float32", "\"-Infinity\"", Fine),
        ("B.t24", "float32", "\"nan\"", name),
        ("B.t24", "float32", "\"inf\"", name),
        ("B.t24", "float32", "\"+Infinity\"", name),
        ("B.t24", "float32", "\"-INF\"", name),
        ("B.t24", "float32", "\"infinit\"", Unresolved("member \"/fill_value\": expected a number, \"NaN\"")),
        ("B.t25", "float32", "\"0x7fc00001\"", Fine),
        ("B.t26", "float32", "\"0x7FC00001\"", Fine),
        ("B.t27", "float32", "\"0X7fc00001\"", Unresolved("member \"/fill_value\"")),
        ("B.t28", "float32", "\"0x1\"", digits),
        ("B.t28", "float32", "\"0x\"", digits),
        ("B.t28", "float32", "\"0x+0000001\"", digits),
        ("B.t29", "float32", "\"0x7ff8000000000001\"", digits),
        ("B.t30", "float32", "\"1.5\"", string),
        ("B.t30", "float32", "\" 1.5\"", Unresolved("member \"/fill_value\"")),
        ("B.t30", "float32", "\"1e39\"", beyond),
        ("B.t31", "float64", "1e400", beyond),
        ("B.t31", "float64", "-1e400", beyond),
        ("B.t31", "float32", "3.4028235677973367e38", beyond),
        ("B.t31", "float32", "3.4028235677973366e38", Fine),
        ("B.t32", "float16", "65519", Fine),
        ("B.t32", "float16", "65520", beyond),
        ("B.t33", "float32", "null", Unresolved("member \"/fill_value\"")),
        ("B.t33", "float32", "true", Unresolved("member \"/fill_value\"")),
        ("B.t33", "float32", "[1]", Unresolved("member \"/fill_value\"")),
        ("B.t34", "float32", "-0.0", Fine),
        ("B.t35", "float64", "\"0x7ff0000000000000\"", Fine),
        ("B.t36", "float16", "1.5", Fine),
        ("B.t37", "float32", "\"0x7f800001\"", Fine),
        ("A.t12", "float32", "NaN", Tolerated(Code::BareNonFinite)),
        ("A.t12", "float64", "-Infinity", Tolerated(Code::BareNonFinite)),
    ]);
    for (id, data_type, value, expected) in [
        ("B.t21", "float32", "0.1", 0x3DCC_CCCD),
        ("B.t22", "float32", "16777217", u64::from(16_777_216f32.to_bits())),
        ("B.t22", "float32", "16777219", u64::from(16_777_220f32.to_bits())),
        // Rounding to a double first would give the wrong neighbour.
        ("B.t22", "float32", "16777217.000000000000001", u64::from(16_777_218f32.to_bits())),
        ("B.3", "float16", "\"NaN\"", 0x7E00),
        ("B.3", "float32", "\"NaN\"", 0x7FC0_0000),
        ("B.3", "float64", "\"NaN\"", 0x7FF8_0000_0000_0000),
        ("B.3", "float16", "\"Infinity\"", 0x7C00),
        ("B.3", "float32", "\"-Infinity\"", 0xFF80_0000),
        ("B.3", "float64", "\"Infinity\"", 0x7FF0_0000_0000_0000),
        ("B.3", "float16", "\"0x7e01\"", 0x7E01),
        ("B.3", "float64", "\"0x7ff8000000000001\"", 0x7FF8_0000_0000_0001),
        ("B.t25", "float32", "\"0x7fc00001\"", 0x7FC0_0001),
        ("B.t30", "float32", "\"1.5\"", 0x3FC0_0000),
        ("B.t32", "float16", "65519", 0x7BFF),
        ("B.t34", "float32", "-0.0", 0x8000_0000),
        ("B.t34", "float32", "-0", 0x8000_0000),
        ("B.t34", "float16", "-0", 0x8000),
        ("B.t36", "float16", "1.5", 0x3E00),
        ("B.t37", "float32", "\"0x7f800001\"", 0x7F80_0001),
        ("B.t31", "float64", "5e-324", 1),
        ("B.t31", "float64", "1e-400", 0),
    ] {
        assert_eq!(bits(data_type, value), expected, "rule {id}: {data_type} {value}");
    }
    for (id, data_type, value, written) in [
        ("B.t21", "float32", "0.1", "0.1"),
        ("B.t25", "float32", "\"0x7FC00001\"", "\"0x7fc00001\""),
        ("B.t35", "float64", "\"0x7ff0000000000000\"", "\"Infinity\""),
        ("B.t34", "float64", "-0", "-0.0"),
        ("A55", "float64", "100000000000000000000000", "1e23"),
        ("A55", "float64", "1", "1.0"),
        ("B.3", "float32", "\"0x7fc00000\"", "\"NaN\""),
        ("B.3", "float32", "\"0xffc00000\"", "\"0xffc00000\""),
        ("B.3", "float16", "0.1", "0.1"),
    ] {
        assert_eq!(rewritten(data_type, value), written, "rule {id}: {data_type} {value}");
    }
}

#[test]
fn fill_values_of_complex_and_raw_types_are_checked() {
    let pair = Unresolved("expected an array of two numbers, real and imaginary");
    rows(&[
        ("B.t40", "complex64", "[1,2]", Fine),
        ("B.t41", "complex64", "[\"NaN\",\"-Infinity\"]", Fine),
        ("B.t41", "complex64", "[\"0x7fc00001\",0]", Fine),
        ("B.t24", "complex64", "[0,\"inf\"]", Unresolved("member \"/fill_value/1\"")),
        ("B.t42", "complex64", "1", pair),
        ("B.t42", "complex64", "\"1+2j\"", pair),
        ("B.t42", "complex64", "[1]", pair),
        ("B.t42", "complex64", "[1,2,3]", pair),
        ("B.t42", "complex64", "[1,null]", Unresolved("member \"/fill_value/1\": expected a number")),
        (
            "B.t42",
            "complex128",
            "[1e400,0]",
            Unresolved("member \"/fill_value/0\": 1e400 is beyond the range of float64"),
        ),
        ("B.t43", "r16", "[1,2]", Fine),
        ("B.t44", "r16", "\"AQI=\"", Tolerated(Code::Base64Fill)),
        ("B.t44", "r16", "\"AQ==\"", Unresolved("expected 2 bytes, found 1")),
        ("B.t44", "r16", "\"!\"", Unresolved("expected an array of 2 integers from 0 to 255")),
        ("B.t45", "r16", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", Unresolved("expected 2 bytes, found 16")),
        (
            "B.t47",
            "r8",
            "[256]",
            Unresolved("member \"/fill_value/0\": expected an integer from 0 to 255, found 256"),
        ),
        ("B.t47", "r8", "[-1]", Unresolved("member \"/fill_value/0\"")),
        ("B.t47", "r8", "1", Unresolved("expected an array of 1 integers from 0 to 255")),
    ]);
    for name in ["r12", "r0", "r", "r-8", "r08", "r8.0", "R8"] {
        check("B.t46", &document(name, "[0]"), Unresolved("unknown data type"));
    }
    let bytes = |data_type: &str, value: &str| {
        let read = fill::read(&core(data_type), &Value::parse(value).unwrap(), &mut Vec::<Diagnostic>::new());
        read.unwrap().bytes().to_vec()
    };
    assert_eq!(bytes("complex64", "[1,2]"), [1f32.to_ne_bytes(), 2f32.to_ne_bytes()].concat());
    assert_eq!(bytes("complex64", "[\"0x7fc00001\",0]"), [0x7FC0_0001u32.to_ne_bytes(), [0; 4]].concat());
    assert_eq!(bytes("r16", "[1,2]"), [1, 2]);
    assert_eq!(bytes("r16", "\"AQI=\""), [1, 2]);
    assert_eq!(rewritten("complex64", "[1, \"-Infinity\"]"), "[1.0,\"-Infinity\"]");
    assert_eq!(rewritten("complex128", "[-0, 0.1]"), "[-0.0,0.1]");
    assert_eq!(rewritten("r24", "[1, 2, 255]"), "[1,2,255]");
}

#[test]
fn fill_values_of_variable_length_are_checked() {
    let row = |id, data_type: &str, value: &str, verdict| {
        let codec = if data_type == "string" { "vlen-utf8" } else { "vlen-bytes" };
        let quoted = format!("\"{data_type}\"");
        let codecs = format!("[{{\"name\":\"{codec}\"}}]");
        check(id, &base(&[("data_type", &quoted), ("fill_value", value), ("codecs", &codecs)]), verdict);
    };
    let text = Unresolved("member \"/fill_value\": expected a string");
    row("B.t67", "string", "\"\"", Fine);
    row("B.t67", "string", "\"f\\u00efll\\u0000\"", Fine);
    row("B.t68", "string", "null", text);
    row("B.t68", "string", "0", text);
    row(
        "B.t67",
        "string",
        "\"\\ud800\"",
        Unresolved("member \"/fill_value\": the string has a lone surrogate"),
    );
    let bytes = Unresolved("member \"/fill_value\": expected a string in base64 or an array of integers");
    row("B.t70", "bytes", "\"AQI=\"", Fine);
    row("B.t70", "bytes", "[1,2]", Fine);
    row("B.t70", "bytes", "[]", Fine);
    row("B.t70", "bytes", "[256]", Unresolved("member \"/fill_value/0\": expected an integer from 0 to 255"));
    row("B.t70", "bytes", "\"AQI\"", bytes);
    row("B.t70", "bytes", "null", bytes);
    row("B.t71", "variable_length_bytes", "\"AQI=\"", Tolerated(Code::AliasName));
    row("B.t72", "binary", "[1,2]", Tolerated(Code::AliasName));
    row("B45", "variable_length_utf8", "\"\"", Unresolved("unknown data type"));
    check(
        "B.t69",
        &base(&[("data_type", "\"string\""), ("fill_value", "\"\"")]),
        Unresolved("elements of variable length"),
    );
    assert_eq!(rewritten("string", "\"\\u0041\\n\""), "\"A\\n\"");
    assert_eq!(rewritten("bytes", "[1,2]"), "\"AQI=\"", "rule L43");
}

#[test]
fn a_fill_value_of_another_size_is_not_written() {
    for data_type in DataType::CORE.into_iter().chain([DataType::Raw(3)]).filter(|t| t.size().is_some()) {
        assert!(fill::write(&data_type, &FillValue::from_bytes([0; 5])).is_err(), "{data_type}");
    }
    assert!(fill::write(&DataType::String, &FillValue::from_bytes([0xFF])).is_err());
    assert!(fill::write(&DataType::Bool, &FillValue::from_bytes([2])).is_err());
}

proptest! {
    #[test]
    fn every_element_survives_its_json_form(raw in any::<[u8; 16]>(), special in 0..6u8) {
        let mut raw = raw;
        // Infinities and NaNs are rare among random bits.
        if special == 0 { raw = [0xFF; 16]; raw[0] = special; }
        for data_type in DataType::CORE.into_iter().chain([DataType::Raw(5)]) {
            let bytes = match data_type {
                DataType::Bool => vec![raw[0] & 1],
                DataType::String => String::from_utf8_lossy(&raw).into_owned().into_bytes(),
                DataType::Bytes => raw[..usize::from(raw[0] % 17)].to_vec(),
                _ => raw[..data_type.size().unwrap()].to_vec(),
            };
            let element = FillValue::from_bytes(bytes);
            let json = fill::write(&data_type, &element).unwrap();
            prop_assert_eq!(fill::read(&data_type, &json, &mut Strict).unwrap(), element, "{} {}", data_type, json);
        }
    }

    #[test]
    fn float32_values_are_rounded_once(text in "-?[1-9][0-9]{0,25}(\\.[0-9]{1,25})?(e-?[0-9]{1,2})?") {
        let expected: f32 = text.parse().unwrap();
        let read = fill::read(&DataType::Float32, &Value::parse(&text).unwrap(), &mut Strict);
        match read {
            Ok(read) => prop_assert_eq!(read, FillValue::of(expected)),
            Err(_) => prop_assert!(expected.is_infinite()),
        }
    }

    #[test]
    fn no_value_makes_the_reader_panic(text in "\\PC{0,12}", digits in "[-+0-9.eExXnaNiIfF]{0,12}") {
        for data_type in DataType::CORE.into_iter().chain([DataType::Raw(2)]) {
            for value in [Value::from(&*text), Value::from(&*digits), Value::from(vec![&*text, &*digits])] {
                let _ = fill::read(&data_type, &value, &mut Vec::<Diagnostic>::new());
            }
        }
    }
}
