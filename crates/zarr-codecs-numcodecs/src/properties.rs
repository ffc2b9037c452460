//! Properties that hold for objects of any content.

use proptest::prelude::*;
use zarr_traits::DataType;
use zarr_traits::json::{Object, Value, json};

use crate::testing::{Variable, objects, repr};

/// Returns a strategy for any JSON value.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::null()),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON numbers are finite", |x| x.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let members = proptest::collection::btree_map(any::<String>(), inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|members| Object::from_iter(members).into()),
        ]
    })
}

proptest! {
    #[test]
    fn objects_are_written_and_read(values in proptest::collection::vec(values(), 6)) {
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let elements: Vec<&str> = texts.iter().map(String::as_str).collect();
        for name in ["numcodecs:json2", "numcodecs:msgpack2", "numcodecs:json", "numcodecs:msgpack"] {
            for shape in [&[6][..], &[2, 3], &[3, 1, 2]] {
                let mut codec = Variable::new(name, &json!({}), &objects());
                let encoded = codec.encode(&elements, shape).unwrap();
                prop_assert_eq!(&codec.decode(&encoded, shape).unwrap(), &elements, "{}", name);
            }
        }
    }

    #[test]
    fn lists_and_labels_are_written_and_read(lists in proptest::collection::vec(proptest::collection::vec(any::<f64>(), 0..5), 4)) {
        let text = |x: &f64| match x {
            x if x.is_nan() => json!("NaN"),
            x if x.is_infinite() => json!(if *x > 0.0 { "Infinity" } else { "-Infinity" }),
            x => json!(*x),
        };
        let values: Vec<Value> = lists.iter().map(|list| list.iter().map(text).collect()).collect();
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let elements: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut codec = Variable::new("numcodecs:vlen-array", &json!({"dtype": ">f8"}), &objects());
        let encoded = codec.encode(&elements, &[4]).unwrap();
        let decoded = codec.decode(&encoded, &[4]).unwrap();
        let decoded: Vec<Value> = decoded.iter().map(|text| Value::parse(text).unwrap()).collect();
        prop_assert_eq!(decoded, values);
        let labels = json!({"labels": texts, "dtype": "|O", "astype": "<u2"});
        let mut codec = Variable::new("numcodecs:categorize", &labels, &repr(DataType::String));
        let encoded = codec.encode(&elements, &[2, 2]).unwrap();
        prop_assert_eq!(codec.decode(&encoded, &[2, 2]).unwrap(), elements);
    }
}
