//! Parses metadata documents: arrays of formats 3 and 2, long attributes, consolidated metadata of a thousand nodes.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_meta::json::Value;
use zarr_meta::v3::Extension;
use zarr_meta::{
    ArrayMeta, DataType, DocumentName, Documents, Format, GroupMeta, Ignore, Limits, NodeMeta, Registry,
};

const ATTRIBUTES: &str =
    r#"{"units": "K", "long_name": "air temperature at two metres", "valid_range": [0.0, 400.0]}"#;

const ARRAY_2: &str = r#"{"zarr_format": 2, "shape": [1000, 721, 1440], "chunks": [10, 100, 100], "dtype": "<f4", "order": "C",
    "fill_value": "NaN", "filters": null, "compressor": {"id": "zlib", "level": 1}}"#;

fn array(attributes: &str) -> ArrayMeta {
    let array = ArrayMeta::builder([1000, 721, 1440], DataType::Float32).chunks([10, 100, 100]);
    let codecs = [Extension::new("bytes").with("endian", "little"), Extension::new("zstd").with("level", 3)];
    let array = array.codecs(codecs).fill(f32::NAN).dimension_names(["time", "y", "x"]);
    array.attributes(Value::parse(attributes).unwrap()).build().unwrap()
}

/// Returns the document of a group that holds the documents of `count` arrays.
fn consolidated(count: usize) -> String {
    let group = GroupMeta::new(Format::V3).unwrap().documents()[0].1.clone().unwrap();
    let mut index = ConsolidatedIndex::new(ConsolidatedForm::Inline);
    let array = Value::parse(&array(ATTRIBUTES).to_text()).unwrap().to_compact();
    for number in 0..count {
        index.insert(&format!("a{number:04}/zarr.json"), Value::parse(&array).unwrap());
    }
    index.write_into(group.as_bytes(), &Limits::default()).unwrap()
}

fn parse(c: &mut Criterion) {
    let long = format!(r#"{{"history": "{}"}}"#, "a line of a log ".repeat(1 << 12));
    let small = array(ATTRIBUTES);
    let node = |text: &str| Documents::new().with(DocumentName::Node, text.to_owned());
    let format_2 =
        Documents::new().with(DocumentName::Array2, ARRAY_2).with(DocumentName::Attributes2, ATTRIBUTES);
    let limits = Limits::default();
    let mut group = c.benchmark_group("parse");
    for (name, documents, bytes) in [
        ("array", node(&small.to_text()), small.to_text().len()),
        ("array, format 2", format_2, ARRAY_2.len() + ATTRIBUTES.len()),
        ("array, attributes of 64 KiB", node(&array(&long).to_text()), long.len()),
        ("consolidated, 10 arrays", node(&consolidated(10)), consolidated(10).len()),
        ("consolidated, 1000 arrays", node(&consolidated(1000)), consolidated(1000).len()),
    ] {
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(name, |b| {
            b.iter(|| black_box(NodeMeta::parse(&documents, &limits, &mut Ignore).unwrap().unwrap()));
        });
    }
    group.finish();

    let mut group = c.benchmark_group("array");
    let registry = Registry::core();
    let uncompressed = ArrayMeta::builder([1000, 721, 1440], DataType::Float32).chunks([10, 100, 100]);
    let uncompressed = uncompressed.codecs([]).build().unwrap();
    group.bench_function("chunk grid", |b| {
        b.iter(|| black_box(uncompressed.chunk_grid(&registry, &limits).unwrap()));
    });
    group.bench_function("build", |b| b.iter(|| black_box(array(ATTRIBUTES))));
    group.bench_function("write", |b| b.iter(|| black_box(small.to_text())));
    group.bench_function("change an attribute", |b| {
        b.iter(|| {
            let mut changed = small.clone();
            changed.set_attribute("units", "degC").unwrap();
            black_box(changed)
        });
    });
}

criterion_group!(benches, parse);
criterion_main!(benches);
