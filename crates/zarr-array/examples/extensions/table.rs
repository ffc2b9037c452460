//! Every data type with some elements, and every codec with a configuration.

use zarr_array::meta::{Ignore, fill};
use zarr_array::traits::extension::{Context, Spec};
use zarr_array::traits::json::{Value, json};
use zarr_array::traits::{DataType, Limits};
use zarr_array::{Registry, standard};

/// A data type as documents write it, its fill value, and more elements in the form of fill values.
pub(crate) struct Type {
    pub(crate) data_type: Spec,
    pub(crate) fill: Value,
    pub(crate) elements: Vec<Value>,
}

impl Type {
    /// The name, for lists.
    pub(crate) fn name(&self) -> &str {
        &self.data_type.name
    }

    /// The data type.
    pub(crate) fn open(&self, registry: &Registry) -> DataType {
        let limits = Limits::default();
        let context = Context::new(registry, &limits);
        registry.data_type(&self.data_type, &context).unwrap_or_else(|e| panic!("{}: {e}", self.name())).0
    }

    /// Returns `n` elements as bytes in memory, or as contents for a type of variable length.
    pub(crate) fn elements(&self, registry: &Registry, n: usize) -> Vec<Vec<u8>> {
        let data_type = self.open(registry);
        let element = |value: &Value| {
            let read = fill::read(&data_type, value, &mut Ignore);
            read.unwrap_or_else(|e| panic!("{} {value}: {e}", self.name())).bytes().to_vec()
        };
        let all: Vec<_> = self.elements.iter().chain([&self.fill]).map(element).collect();
        all.iter().cycle().take(n).cloned().collect()
    }
}

/// A registry of the standard extensions and those of numcodecs.
pub(crate) fn registry() -> Registry {
    standard().with(zarr_codecs_numcodecs::CODECS).unwrap_or_else(|e| panic!("{e}"))
}

/// All data types except `structured`, which is never written.
pub(crate) fn types() -> Vec<Type> {
    let with = |name: &str, configuration: Value, fill: Value, elements: Value| Type {
        data_type: Spec::named(name).configuration(configuration.as_object().unwrap_or_default()),
        fill,
        elements: elements.elements().into_iter().flatten().collect(),
    };
    let plain = |name: &str, fill: Value, elements: Value| with(name, json!({}), fill, elements);
    let mut all = vec![
        plain("bool", json!(false), json!([true, false, true])),
        plain("int8", json!(0), json!([1, -1, -128, 127])),
        plain("int16", json!(0), json!([1, -1, -32768, 32767])),
        plain("int32", json!(7), json!([1, -1, i32::MIN, i32::MAX])),
        plain("int64", json!(0), json!([1, -1, i64::MIN, i64::MAX])),
        plain("uint8", json!(0), json!([1, 255])),
        plain("uint16", json!(0), json!([1, 65535])),
        plain("uint32", json!(0), json!([1, u32::MAX])),
        plain("uint64", json!(0), json!([1, u64::MAX])),
        plain("r16", json!([0, 0]), json!([[1, 2], [255, 0]])),
        plain("int2", json!(0), json!([1, -1, -2])),
        plain("int4", json!(0), json!([1, -1, -8, 7])),
        plain("uint2", json!(0), json!([1, 3])),
        plain("uint4", json!(0), json!([1, 15])),
        plain("string", json!(""), json!(["a", "é", "", "Ljubljana"])),
        plain("bytes", json!(""), json!(["AQI=", "", "AA=="])),
        with("fixed_length_utf32", json!({"length_bytes": 8}), json!(""), json!(["ab", "é"])),
        with("null_terminated_bytes", json!({"length_bytes": 4}), json!(""), json!(["YWI=", "YWJjZA=="])),
        with("raw_bytes", json!({"length_bytes": 3}), json!("AAAA"), json!(["AQID", "/wD/"])),
        with(
            "numpy.datetime64",
            json!({"unit": "s", "scale_factor": 10}),
            json!("NaT"),
            json!([0, -1, 1_700_000_000]),
        ),
        with("numpy.timedelta64", json!({"unit": "ns", "scale_factor": 1}), json!(0), json!([1, "NaT"])),
        with(
            "struct",
            json!({"fields": [{"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "uint8"}]}),
            json!({"x": 0.0, "y": 0}),
            json!([{"x": 1.5, "y": 2}, {"x": "NaN", "y": 255}]),
        ),
    ];
    for name in ["float16", "float32", "float64", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2"] {
        all.push(plain(name, json!(0.0), json!([1.0, -0.5, "NaN", "Infinity", "-Infinity"])));
    }
    for name in ["float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz"] {
        all.push(plain(name, json!(0.0), json!([1.0, -0.5, "NaN"])));
    }
    for name in ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"] {
        all.push(plain(name, json!(0.0), json!([1.0, -0.5, 3.0])));
    }
    all.push(plain("float8_e8m0fnu", json!(1.0), json!([2.0, 0.5, "NaN"])));
    let parts: Vec<Type> = all
        .iter()
        .filter(|t| {
            t.name().contains("float") && !matches!(t.name(), "float32" | "float64" | "float8_e4m3fn")
        })
        .map(|t| {
            let pairs = t.elements.windows(2).map(|pair| json!(pair)).collect();
            Type {
                data_type: Spec::named(format!("complex_{}", t.name())),
                fill: json!([t.fill, t.fill]),
                elements: pairs,
            }
        })
        .collect();
    all.extend(parts);
    for name in ["complex64", "complex128"] {
        all.push(plain(name, json!([0.0, 0.0]), json!([[1.0, "NaN"], [-0.5, "Infinity"]])));
    }
    all.sort_by(|a, b| a.name().cmp(b.name()));
    all
}
