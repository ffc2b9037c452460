//! Plans from documents: decoding, used attributes, and findings.

use std::collections::BTreeMap;

use zarr_hierarchy::zarr_array::traits::extension::Spec;
use zarr_meta::json::{Object, Value, json};
use zarr_meta::{ArrayMeta, Format, Ignore, Limits};
use zarr_xarray::kernel::Packing;
use zarr_xarray::{
    Calendar, Charset, CoordinateNames, DatasetPlan, DecodeOptions, Decoding, FillIsMissing, FindingCode,
    Missing, NumberType, Scalar, SpanDecoding, TimeUnit, VariablePlan, XarrayResult,
};

/// An array: its name, data type, shape, names of dimensions and attributes.
type Array<'a> = (&'a str, Value, &'a [u64], &'a [&'a str], Value);

/// The metadata of an array of format 3 whose fill value is 0 or an empty text.
fn meta((_, data_type, shape, names, attributes): &Array<'_>) -> ArrayMeta {
    let name = Spec::try_from(data_type).unwrap().name;
    let fill = match &*name {
        "bool" => json!(false),
        name if name.starts_with("numpy.") => json!("NaT"),
        name if name == "string" || data_type.as_object().is_some() => json!(""),
        _ => json!(0),
    };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": *shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": *shape } },
        "chunk_key_encoding": { "name": "default" },
        "codecs": ["bytes"],
        "dimension_names": *names,
        "attributes": attributes,
    });
    ArrayMeta::parse(document.as_raw().as_bytes(), &Limits::default(), &mut Ignore).unwrap()
}

fn plan_with(arrays: &[Array<'_>], options: &DecodeOptions) -> XarrayResult<DatasetPlan> {
    let metas: Vec<ArrayMeta> = arrays.iter().map(meta).collect();
    DatasetPlan::new(Object::new(), arrays.iter().map(|array| array.0).zip(&metas), options)
}

fn plan(arrays: &[Array<'_>]) -> DatasetPlan {
    plan_with(arrays, &DecodeOptions::default()).unwrap()
}

/// One variable `a` along `x`.
fn variable(data_type: &str, attributes: Value) -> (XarrayResult<VariablePlan>, Vec<FindingCode>) {
    let mut plan = plan(&[("a", json!(data_type), &[2], &["x"], attributes)]);
    (
        plan.variables.remove("a").unwrap(),
        plan.findings.into_iter().map(|(_, finding)| finding.code).collect(),
    )
}

fn names(attributes: &Object) -> Vec<String> {
    attributes.members().map(|member| member.name_lossy().into_owned()).collect()
}

fn list<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    names.into_iter().map(String::as_str).collect()
}

fn chars() -> Value {
    json!({ "name": "null_terminated_bytes", "configuration": { "length_bytes": 1 } })
}

#[test]
fn the_group_names_coordinates_that_no_variable_names() {
    let arrays = ["a", "b", "c"].map(|name| (name, json!("int16"), &[2][..], &["x"][..], json!({})));
    let metas: Vec<ArrayMeta> = arrays.iter().map(meta).collect();
    let mut attributes = Object::new();
    attributes.set("coordinates", " b  c none ");
    attributes.set("title", "t");
    for (which, found, left) in [
        (CoordinateNames::Coordinates, &["b", "c"][..], &["title"][..]),
        (CoordinateNames::Off, &[], &["coordinates", "title"]),
    ] {
        let mut options = DecodeOptions::default();
        options.coordinates = which;
        let named = arrays.iter().map(|array| array.0).zip(&metas);
        let plan = DatasetPlan::new(attributes.clone(), named, &options).unwrap();
        assert_eq!(
            (list(&plan.coordinates), names(&plan.attributes)),
            (found.to_vec(), left.iter().map(|name| (*name).to_owned()).collect())
        );
    }
}

#[test]
fn attributes_do_not_change_elements_that_are_times_of_numpy() {
    let attributes = json!({ "units": "days since 2000-01-01", "scale_factor": 2.0 });
    for name in ["numpy.datetime64", "numpy.timedelta64"] {
        let data_type = json!({ "name": name, "configuration": { "unit": "s", "scale_factor": 1 } });
        let mut plan = plan(&[("a", data_type, &[2], &["x"], attributes.clone())]);
        let variable = plan.variables.remove("a").unwrap().unwrap();
        assert_eq!(variable.decoding, Decoding::Stored);
        assert_eq!(names(&variable.attributes), ["units", "scale_factor"]);
    }
}

#[test]
fn odd_attributes_are_reported() {
    let large = (1_i64 << 53) + 1;
    for (data_type, attributes, codes) in [
        ("int16", json!({ "_FillValue": -9 }), &[][..]),
        ("int16", json!({ "_FillValue": [-9] }), &[FindingCode::FillValueForm]),
        ("int16", json!({ "_FillValue": null }), &[FindingCode::FillValueForm]),
        ("int16", json!({ "_FillValue": "-9" }), &[FindingCode::MissingValueType]),
        ("int16", json!({ "_FillValue": "x" }), &[FindingCode::MissingValueType]),
        ("bool", json!({ "_FillValue": "x" }), &[FindingCode::MissingValueType]),
        ("bytes", json!({ "_FillValue": 5 }), &[FindingCode::MissingValueType]),
        ("float32", json!({ "_FillValue": "AAAAAICHw8A=" }), &[]),
        ("float32", json!({ "_FillValue": -9999.0 }), &[FindingCode::FillValueForm]),
        ("float32", json!({ "_FillValue": "NaN" }), &[FindingCode::FillValueForm]),
        ("float32", json!({ "_FillValue": "0xc61c3c00" }), &[FindingCode::FillValueForm]),
        ("float32", json!({ "missing_value": 0.1 }), &[FindingCode::DecimalMissing]),
        ("float32", json!({ "missing_value": 0.5 }), &[]),
        ("int64", json!({ "missing_value": large }), &[FindingCode::LargeMissing]),
        ("int16", json!({ "missing_value": [1, 2] }), &[FindingCode::SeveralMissing]),
        ("int16", json!({ "missing_value": [1, 1.0] }), &[]),
        ("int16", json!({ "missing_value": 1, "_FillValue": 2 }), &[FindingCode::SeveralMissing]),
        ("int16", json!({ "missing_value": [] }), &[FindingCode::MissingValueType]),
        ("int16", json!({ "missing_value": "1" }), &[FindingCode::MissingValueType]),
        ("int16", json!({ "scale_factor": 2 }), &[FindingCode::IntegerFactor]),
        ("int16", json!({ "scale_factor": 2, "add_offset": 1 }), &[]),
        ("int16", json!({ "scale_factor": "0.5" }), &[FindingCode::FactorSpelling]),
        ("int16", json!({ "scale_factor": null }), &[FindingCode::FactorSpelling]),
        ("int16", json!({ "scale_factor": [0.5] }), &[]),
        ("int16", json!({ "scale_factor": true }), &[FindingCode::BrokenVariable]),
        ("int16", json!({ "add_offset": [1, 2] }), &[FindingCode::BrokenVariable]),
        ("int16", json!({ "add_offset": "much" }), &[FindingCode::BrokenVariable]),
        ("int16", json!({ "add_offset": "inf" }), &[FindingCode::BrokenVariable]),
        ("complex64", json!({ "scale_factor": 0.5 }), &[FindingCode::BrokenVariable]),
        ("complex64", json!({ "units": "days since 2000-01-01" }), &[]),
        ("int16", json!({ "missing_value": (0..65).collect::<Vec<_>>() }), &[FindingCode::BrokenVariable]),
        ("int8", json!({ "_Unsigned": "true" }), &[]),
        ("int8", json!({ "_Unsigned": true }), &[FindingCode::UnsignedMissing]),
        ("int8", json!({ "_Unsigned": "true", "missing_value": -1 }), &[FindingCode::UnsignedMissing]),
        ("int8", json!({ "_Unsigned": "true", "_FillValue": 255 }), &[FindingCode::UnsignedMissing]),
        ("int8", json!({ "_Unsigned": "perhaps" }), &[FindingCode::UnsignedIgnored]),
        ("float32", json!({ "_Unsigned": "true" }), &[FindingCode::UnsignedIgnored]),
        ("int32", json!({ "units": "days since 2000-01-01" }), &[]),
        ("int32", json!({ "units": "days since 1-1-1" }), &[FindingCode::UnitsSpelling]),
        ("int32", json!({ "units": "weeks since 2000-01-01" }), &[FindingCode::UnitsSpelling]),
        ("int32", json!({ "units": "days since 2000-01-01 00:00 -6" }), &[FindingCode::ReferenceOffset]),
        ("int32", json!({ "units": "days since 2000-01-01 00:00 -06:00" }), &[]),
        (
            "int32",
            json!({ "units": "days since 2000-01-01", "calendar": "tai" }),
            &[FindingCode::BrokenVariable],
        ),
        ("int32", json!({ "units": "days since 2000-01-01", "calendar": 5 }), &[FindingCode::BrokenVariable]),
        ("int32", json!({ "units": "years since 2000-01-01" }), &[FindingCode::BrokenVariable]),
        ("int32", json!({ "units": "days since yesterday" }), &[FindingCode::BrokenVariable]),
        (
            "int32",
            json!({ "units": "days since 2000-01-01", "calendar": "noleap", "_FillValue": 1 }),
            &[FindingCode::MissingTimes],
        ),
        ("int64", json!({ "units": "days", "dtype": "timedelta64[ns]" }), &[]),
        ("int64", json!({ "units": "days", "dtype": "timedelta64[D]" }), &[FindingCode::SpanResolution]),
        ("int64", json!({ "units": "days", "dtype": "timedelta64[Y]" }), &[FindingCode::BrokenVariable]),
        ("bool", json!({ "_FillValue": true }), &[]),
        ("string", json!({ "_FillValue": "none" }), &[FindingCode::FillValueForm]),
        ("int8", json!({ "coordinates": ["b"] }), &[FindingCode::CoordinatesList]),
        ("int8", json!({ "coordinates": 5 }), &[FindingCode::ReferencedNames]),
        ("int8", json!({ "_nczarr_attr": {} }), &[FindingCode::HiddenAttribute]),
    ] {
        assert_eq!(variable(data_type, attributes.clone()).1, codes, "{data_type} {attributes}");
    }
}

#[test]
fn odd_names_are_reported() {
    let found = plan(&[("a b", json!("int8"), &[2, 2], &["x", "x"], json!({}))]);
    let codes: Vec<_> = found.findings.iter().map(|(_, finding)| finding.code).collect();
    assert_eq!(codes, [FindingCode::OddName, FindingCode::RepeatedDimension]);
    assert_eq!(found.dimensions["x"], 2);
}

#[test]
fn missing_values_have_the_type_of_the_stored_elements() {
    for (data_type, attributes, missing, decoded) in [
        ("int16", json!({ "_FillValue": -9.5 }), &[Scalar::Integer(-9)][..], NumberType::Float32),
        ("int16", json!({ "_FillValue": true }), &[Scalar::Integer(1)], NumberType::Float32),
        ("int16", json!({ "_FillValue": 70000 }), &[], NumberType::Float32),
        ("int16", json!({ "missing_value": 1.5 }), &[], NumberType::Float32),
        ("int16", json!({ "missing_value": 100.0 }), &[Scalar::Integer(100)], NumberType::Float32),
        ("float32", json!({ "missing_value": 0.1 }), &[Scalar::Float(0.1_f32 as f64)], NumberType::Float32),
        ("float64", json!({ "missing_value": 7 }), &[Scalar::Float(7.0)], NumberType::Float64),
        (
            "uint8",
            json!({ "_Unsigned": "false", "_FillValue": 255 }),
            &[Scalar::Integer(-1)],
            NumberType::Float32,
        ),
        (
            "int8",
            json!({ "_Unsigned": "true", "_FillValue": -1 }),
            &[Scalar::Integer(255)],
            NumberType::Float32,
        ),
        (
            "int8",
            json!({ "_Unsigned": "true", "_FillValue": 255 }),
            &[Scalar::Integer(255)],
            NumberType::Float32,
        ),
        ("int8", json!({ "_Unsigned": "true", "_FillValue": 300 }), &[], NumberType::Float32),
        ("complex64", json!({ "missing_value": 2 }), &[Scalar::Complex(2.0, 0.0)], NumberType::Complex64),
    ] {
        let Ok(VariablePlan { decoding: Decoding::Numbers(packing), .. }) =
            variable(data_type, attributes.clone()).0
        else {
            panic!("{data_type} {attributes}");
        };
        assert_eq!((&*packing.missing, packing.decoded), (missing, decoded), "{data_type} {attributes}");
    }
}

#[test]
fn used_attributes_move_to_the_encoding() {
    let attributes = json!({
        "units": "days since 2000-01-01", "calendar": "noleap", "_FillValue": -1, "scale_factor": 0.5,
        "long_name": "time", "valid_min": 0, "coordinates": "b",
    });
    let found = variable("int16", attributes.clone()).0.unwrap();
    assert_eq!(names(&found.attributes), ["long_name", "valid_min"]);
    let mut used = names(&found.encoding);
    used.sort();
    assert_eq!(used, ["_FillValue", "calendar", "coordinates", "scale_factor", "units"]);
    let Decoding::Times { packing, units, unit } = found.decoding else { panic!("{found:?}") };
    assert_eq!(
        (units.calendar(), unit, packing.is_scaled()),
        (Calendar::NoLeap, TimeUnit::Nanoseconds, true)
    );

    let mut options = DecodeOptions::default();
    (options.mask_and_scale, options.times, options.coordinates) = (false, None, CoordinateNames::Off);
    let kept = plan_with(&[("a", json!("int16"), &[2], &["x"], attributes.clone())], &options).unwrap();
    let kept = kept.variables["a"].as_ref().unwrap();
    assert_eq!((names(&kept.attributes).len(), &kept.decoding), (7, &Decoding::Stored));
}

#[test]
fn options_decide_which_variables_are_spans() {
    let by_units = SpanDecoding::ByUnits(TimeUnit::Seconds);
    let with = json!({ "units": "days", "dtype": "timedelta64[ms]" });
    for (attributes, spans, unit) in [
        (with.clone(), SpanDecoding::ByAttribute, Some(TimeUnit::Milliseconds)),
        (with.clone(), by_units, Some(TimeUnit::Milliseconds)),
        (with, SpanDecoding::Off, None),
        (json!({ "units": "days" }), SpanDecoding::ByAttribute, None),
        (json!({ "units": "days" }), by_units, Some(TimeUnit::Seconds)),
        (json!({ "units": "mm day-1" }), by_units, None),
        (json!({ "units": "weeks" }), by_units, None),
    ] {
        let mut options = DecodeOptions::default();
        options.spans = spans;
        let found = plan_with(&[("a", json!("int64"), &[2], &["x"], attributes.clone())], &options).unwrap();
        let found = match &found.variables["a"].as_ref().unwrap().decoding {
            Decoding::Spans { unit, .. } => Some(*unit),
            Decoding::Stored => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, unit, "{attributes} {spans:?}");
    }
}

#[test]
fn coordinates_are_found_by_name_and_by_attribute() {
    let number = || json!("float64");
    let found = plan(&[
        ("x", number(), &[2], &["x"], json!({ "coordinates": "aux" })),
        ("y", number(), &[3, 2], &["y", "x"], json!({})),
        ("t", number(), &[3, 2], &["y", "x"], json!({ "coordinates": " lat\tlon gone", "bounds": "b" })),
        ("lat", number(), &[3, 2], &["y", "x"], json!({})),
        ("lon", number(), &[3, 2], &["y", "x"], json!({})),
        ("aux", number(), &[2], &["x"], json!({})),
        ("b", number(), &[2], &["x"], json!({})),
    ]);
    assert_eq!(list(&found.coordinates), ["aux", "lat", "lon", "x", "y"]);
    assert_eq!(list(&found.indexes), ["x"]);
    assert_eq!(found.dimensions.into_iter().collect::<Vec<_>>(), [("x".to_owned(), 2), ("y".to_owned(), 3)]);
}

#[test]
fn a_dimension_with_two_lengths_or_the_name_of_a_scalar_is_refused() {
    let number = || json!("float64");
    let conflict = plan_with(
        &[("t", number(), &[2], &["x"], json!({})), ("u", number(), &[3], &["x"], json!({}))],
        &DecodeOptions::default(),
    );
    assert!(format!("{:#}", conflict.unwrap_err()).contains("\"u\""));
    let scalar = plan_with(
        &[("x", number(), &[], &[], json!({})), ("u", number(), &[3], &["x"], json!({}))],
        &DecodeOptions::default(),
    );
    assert_eq!(scalar.unwrap_err().variable(), Some("x"));
}

#[test]
fn a_broken_variable_does_not_hide_others() {
    let found = plan(&[
        ("time", json!("int32"), &[4], &["time"], json!({ "units": "years since 2000-01-01" })),
        ("t", json!("int32"), &[2], &["time"], json!({})),
    ]);
    assert_eq!(found.variables["time"].as_ref().unwrap_err().variable(), Some("time"));
    assert!(found.variables["t"].is_ok());
    assert_eq!(found.dimensions["time"], 2, "the length comes from the readable variable");
    assert_eq!(list(&found.coordinates), ["time"]);
}

#[test]
fn bounds_have_the_units_of_their_axis() {
    let axis = json!({ "units": "days since 2000-01-01", "calendar": "360_day", "bounds": "b" });
    let found = |bounds: Value| {
        let found = plan(&[
            ("time", json!("int32"), &[2], &["time"], axis.clone()),
            ("b", json!("int32"), &[2, 2], &["time", "nv"], bounds),
        ]);
        match &found.variables["b"].as_ref().unwrap().decoding {
            Decoding::Times { units, .. } => (units.to_string(), units.calendar()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found(json!({})), ("days since 2000-01-01".to_owned(), Calendar::Days360));
    let own = json!({ "units": "hours since 1990-01-01" });
    assert_eq!(found(own), ("hours since 1990-01-01".to_owned(), Calendar::Days360));
}

#[test]
fn characters_are_joined_if_no_other_variable_needs_the_dimension() {
    let joined = |others: &[Array<'_>], options: &DecodeOptions| {
        let mut arrays = vec![("a", chars(), &[2, 3][..], &["x", "n"][..], json!({ "_Encoding": "utf-8" }))];
        arrays.extend_from_slice(others);
        let plan = plan_with(&arrays, options).unwrap();
        let variable = plan.variables["a"].as_ref().unwrap();
        match &variable.decoding {
            Decoding::Texts { charset, joined, .. } => (variable.dimensions.len(), *charset, *joined),
            _ => (variable.dimensions.len(), None, None),
        }
    };
    let on = DecodeOptions::default();
    let utf8 = Some(Charset::Utf8);
    assert_eq!(joined(&[], &on), (1, utf8, Some(3)));
    assert_eq!(joined(&[("b", chars(), &[3], &["n"], json!({}))], &on), (1, utf8, Some(3)));
    assert_eq!(joined(&[("n", json!("int8"), &[3], &["n"], json!({}))], &on), (2, utf8, None));
    assert_eq!(joined(&[("b", json!("int8"), &[3], &["n"], json!({}))], &on), (2, utf8, None));
    assert_eq!(joined(&[("b", chars(), &[3, 1], &["n", "m"], json!({}))], &on), (2, utf8, None));
    let mut off = DecodeOptions::default();
    off.texts = false;
    assert_eq!(joined(&[], &off), (2, None, None));
}

#[test]
fn elements_other_than_numbers_can_be_missing() {
    let decoding = |data_type, attributes| variable(data_type, attributes).0.unwrap().decoding;
    assert_eq!(
        decoding("bool", json!({ "_FillValue": true })),
        Decoding::Nullable(vec![Missing::Boolean(true)])
    );
    assert_eq!(
        decoding("string", json!({ "missing_value": "n/a" })),
        Decoding::Nullable(vec![Missing::Text("n/a".into())])
    );
    assert_eq!(decoding("string", json!({})), Decoding::Stored);
    assert_eq!(
        decoding("int8", json!({ "dtype": "bool" })),
        Decoding::Booleans(Packing::plain(NumberType::Int8))
    );
}

/// The missing value is the fill value in format 2 and the attribute in format 3, unless the options change that.
#[test]
fn the_format_decides_whether_the_fill_value_is_missing() {
    let attributes = r#"{"_ARRAY_DIMENSIONS":["x"],"_FillValue":7}"#;
    let array2 = |fill: &str| {
        let text = format!(
            r#"{{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"filters":null,"order":"C",
            "fill_value":{fill}}}"#
        );
        ArrayMeta::parse_v2(text.as_bytes(), Some(attributes.as_bytes()), &Limits::default(), &mut Ignore)
            .unwrap()
    };
    let array3 = meta(&("a", json!("int16"), &[2], &["x"], json!({ "_FillValue": 7 })));
    for (array, which, missing) in [
        (array2("5"), FillIsMissing::AsFormat, 5),
        (array2("null"), FillIsMissing::AsFormat, 7),
        (array2("5"), FillIsMissing::Never, 7),
        (array3.clone(), FillIsMissing::AsFormat, 7),
        (array3, FillIsMissing::Always, 0),
    ] {
        let mut options = DecodeOptions::default();
        options.fill_is_missing = which;
        let plan = DatasetPlan::new(Object::new(), [("a", &array)], &options).unwrap();
        let variable = plan.variables["a"].as_ref().unwrap();
        let Decoding::Numbers(packing) = &variable.decoding else { panic!("{variable:?}") };
        assert_eq!(packing.missing, [Scalar::Integer(missing)], "{which:?}");
        let is_reported = plan.findings.iter().any(|(_, finding)| finding.code == FindingCode::FillAsMask);
        assert_eq!(is_reported, which == FillIsMissing::Always && array.format() == Format::V3);
    }
}

/// Only format 3 needs the base64 form of `_FillValue`.
#[test]
fn a_fill_value_attribute_of_format_2_may_be_a_number() {
    let text = br#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<f4","compressor":null,"filters":null,"order":"C",
        "fill_value":null}"#;
    let attributes = br#"{"_ARRAY_DIMENSIONS":["x"],"_FillValue":-9999.0}"#;
    let array = ArrayMeta::parse_v2(text, Some(attributes), &Limits::default(), &mut Ignore).unwrap();
    let plan = DatasetPlan::new(Object::new(), [("a", &array)], &DecodeOptions::default()).unwrap();
    assert_eq!(plan.findings, []);
    let Decoding::Numbers(packing) = &plan.variables["a"].as_ref().unwrap().decoding else {
        panic!("{plan:?}")
    };
    assert_eq!(packing.missing, [Scalar::Float(-9999.0)]);
}

#[test]
fn no_attribute_causes_a_panic() {
    const NAMES: [&str; 14] = [
        "_FillValue",
        "missing_value",
        "scale_factor",
        "add_offset",
        "_Unsigned",
        "units",
        "calendar",
        "dtype",
        "_Encoding",
        "coordinates",
        "bounds",
        "grid_mapping",
        "formula_terms",
        "cell_measures",
    ];
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(0.1),
        json!(""),
        json!("NaN"),
        json!("true"),
        json!("AAAAAAAA+H8="),
        json!("a: b :c"),
        json!("days"),
        json!("days since 2000-01-01"),
        json!("bool"),
        json!("timedelta64[s]"),
        json!("utf-8"),
        json!([]),
        json!([1]),
        json!(["a", 2]),
        json!({}),
        json!([[[]]]),
    ];
    let types = [
        json!("bool"),
        json!("int8"),
        json!("uint64"),
        json!("float16"),
        json!("complex128"),
        json!("string"),
        chars(),
    ];
    let mut random = fastrand::Rng::with_seed(23);
    let mut broken = 0;
    for _ in 0..5000 {
        let attributes: Value = (0..random.usize(0..6))
            .map(|_| (NAMES[random.usize(..14)].to_owned(), values[random.usize(..values.len())].clone()))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect::<Object>()
            .into();
        let data_type = types[random.usize(..types.len())].clone();
        let mut options = DecodeOptions::default();
        options.coordinates = CoordinateNames::All;
        let found = plan_with(&[("a", data_type, &[2, 0], &["x", "a"], attributes)], &options).unwrap();
        broken += usize::from(found.variables["a"].is_err());
    }
    assert!((100..4900).contains(&broken), "{broken}");
}
