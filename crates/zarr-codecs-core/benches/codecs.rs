//! Encodes and decodes one chunk with each codec, in three sizes. The rows of `bytes` measure the swap of byte orders.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

#[path = "../src/testing.rs"]
mod testing;

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use testing::{Noise, after_bytes, bytes, chain};
use zarr_engine::Chain;
use zarr_traits::json::{Value, json};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    FillValue, Region, Scratch,
    heap::{Heap, Slot},
};

/// The bytes of a chunk: in the first cache of a processor, in the second, in neither.
const SIZES: [(&str, usize); 3] = [("16KiB", 16 << 10), ("256KiB", 256 << 10), ("2MiB", 2 << 20)];

fn all(c: &mut Criterion) {
    let before_bytes = |name: &str, configuration: Value| json!([{"name": name, "configuration": configuration}, bytes("little")]);
    let blosc = |cname: &str| {
        let (shuffle, typesize) = ("shuffle", 2);
        after_bytes(
            "blosc",
            json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": typesize, "blocksize": 0}),
        )
    };
    let n5 = json!({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, bytes("big")]});
    let steps = json!({"codecs": [{"name": "zstd", "configuration": {"level": 1}}]});
    for (name, data_type, codecs) in [
        ("bytes, little, 2", "uint16", json!([bytes("little")])),
        ("bytes, big, 2", "uint16", json!([bytes("big")])),
        ("bytes, big, 4", "uint32", json!([bytes("big")])),
        ("bytes, big, 8", "uint64", json!([bytes("big")])),
        ("transpose", "uint16", before_bytes("transpose", json!({"order": [1, 0]}))),
        ("reshape", "uint16", before_bytes("reshape", json!({"shape": [-1]}))),
        ("bitround", "float32", before_bytes("bitround", json!({"keepbits": 9}))),
        ("cast_value", "uint16", before_bytes("cast_value", json!({"data_type": "float32"}))),
        ("scale_offset", "float32", before_bytes("scale_offset", json!({"offset": 3, "scale": 0.5}))),
        ("packbits", "uint16", json!([{"name": "packbits", "configuration": {"last_bit": 11}}])),
        ("n5_default", "uint16", json!([{"name": "n5_default", "configuration": n5}])),
        ("crc32c", "uint16", after_bytes("crc32c", Value::null())),
        ("gzip, 1", "uint16", after_bytes("gzip", json!({"level": 1}))),
        ("gzip, 6", "uint16", after_bytes("gzip", json!({"level": 6}))),
        ("zstd, 1", "uint16", after_bytes("zstd", json!({"level": 1}))),
        ("zstd, 3", "uint16", after_bytes("zstd", json!({"level": 3}))),
        ("conditional", "uint16", after_bytes("conditional", steps)),
        ("blosc, lz4", "uint16", blosc("lz4")),
        ("blosc, zstd", "uint16", blosc("zstd")),
    ] {
        let chain = chain(&codecs, data_type, 2);
        for (size, len) in SIZES {
            let elements = if data_type == "float32" { floats(len) } else { Noise(1).waves(len) };
            measure(c, &format!("{name}/{size}"), &chain, &mut Scratch::new(), &elements);
        }
    }
}

fn floats(len: usize) -> Vec<u8> {
    let value = |n: usize| f32::from(u16::try_from(n % 1000).unwrap()) / 8.0;
    (0..len / 4).flat_map(|n| value(n).to_ne_bytes()).collect()
}

/// Strings and bytes of eight bytes each. A decoder puts contents into a heap, and each round has a new heap.
fn variable(c: &mut Criterion) {
    for (name, data_type) in [("vlen-utf8", "string"), ("vlen-bytes", "bytes")] {
        let chain = chain(&json!([name]), data_type, 2);
        for (size, len) in SIZES {
            let (heap, mut slots) = (heap(), Vec::new());
            let contents = b"temperat".repeat(len / 8);
            let ranges = (0..len / 8).map(|n| 8 * n..8 * n + 8);
            heap.add(contents, ranges, |slot| slots.extend(slot.to_bytes())).unwrap();
            let mut scratch = Scratch::new();
            scratch.set_heap(Some(heap));
            measure(c, &format!("{name}/{size}"), &chain, &mut scratch, &slots);
        }
    }
}

fn heap() -> Arc<Heap> {
    Arc::new(Heap::new(FillValue::from_bytes(*b""), 1 << 30))
}

fn measure(c: &mut Criterion, name: &str, chain: &Chain, scratch: &mut Scratch, elements: &[u8]) {
    let fixed = chain.repr().data_type.size();
    let size = fixed.unwrap_or(Slot::SIZE);
    let count = (elements.len() / size) as u64;
    let shape = [64, count / 64];
    let mut encoded = Vec::new();
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(elements.len() as u64));
    group.bench_function("encode", |b| {
        b.iter(|| {
            encoded.clear();
            chain.encode(Source::dense(elements, &shape, size).unwrap(), &mut encoded, scratch).unwrap();
        });
    });
    let mut decoded = vec![0; elements.len()];
    group.bench_function("decode", |b| {
        b.iter(|| {
            if fixed.is_none() {
                scratch.set_heap(Some(heap()));
            }
            let dst = Destination::dense(&mut decoded, &shape, size).unwrap();
            chain.decode_into(&encoded, &shape, &Region::whole(&shape), dst, scratch).unwrap();
        });
    });
}

criterion_group!(benches, all, variable);
criterion_main!(benches);
