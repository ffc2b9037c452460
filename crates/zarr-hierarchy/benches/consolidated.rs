//! Opens one node of a hierarchy through two megabytes of consolidated metadata.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use zarr_array::meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_array::meta::json::Value;
use zarr_array::meta::{ArrayMeta, DocumentName, Format, GroupMeta};
use zarr_array::traits::{Key, Prefix};
use zarr_array::{DataType, Limits, Storage, block_on, standard};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{GroupOptions, UseConsolidated};
use zarr_store::MemoryStore;

/// The number of groups, and of arrays in each.
const NODES: [usize; 2] = [40, 50];

/// Makes a storage that holds one document: the root with the metadata of all nodes below it.
fn storage() -> (Storage, usize) {
    let mut index = ConsolidatedIndex::new(ConsolidatedForm::Inline);
    let text = |documents: Vec<(DocumentName, Option<String>)>| documents[0].1.clone().unwrap();
    let group = text(GroupMeta::new(Format::V3).unwrap().documents());
    let attributes = r#"{"units":"K","long_name":"air temperature at two metres","valid_range":[0.0,400.0]}"#;
    let array = ArrayMeta::builder([1000, 721, 1440], DataType::Float32).chunks([10, 100, 100]);
    let array = array.fill(f32::NAN).dimension_names(["time", "y", "x"]);
    let array = array.attributes(Value::parse(attributes).unwrap()).build().unwrap();
    let array = Value::parse(&array.to_text()).unwrap().to_compact();
    for g in 0..NODES[0] {
        index.insert(&format!("g{g:03}/zarr.json"), Value::parse(&group).unwrap());
        for a in 0..NODES[1] {
            index.insert(&format!("g{g:03}/a{a:03}/zarr.json"), Value::parse(&array).unwrap());
        }
    }
    let document = index.write_into(group.as_bytes(), &Limits::default()).unwrap();
    let (storage, size) = (Storage::from(MemoryStore::new()), document.len());
    let key: Key = Prefix::root().key(DocumentName::Node.as_str()).unwrap();
    block_on(storage.put(&key, document)).unwrap();
    (storage, size)
}

fn consolidated(c: &mut Criterion) {
    let ((storage, size), registry) = (storage(), standard());
    let options = GroupOptions::new().use_consolidated(UseConsolidated::Require);
    let open = || Group::open_with(storage.clone(), "/", &registry, &options).unwrap();
    let mut group = c.benchmark_group(format!("{:.1} MB consolidated", size as f64 / 1e6));
    group.bench_function("open", |b| b.iter(|| black_box(open())));
    group.bench_function("open, and one array", |b| b.iter(|| black_box(open().array("g020/a040").unwrap())));
    group.bench_function("open, and children of one group", |b| {
        b.iter(|| black_box(open().group("g020").unwrap().children().unwrap()));
    });
}

criterion_group!(benches, consolidated);
criterion_main!(benches);
