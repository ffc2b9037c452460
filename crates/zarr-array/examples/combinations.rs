//! Writes arrays in many combinations of data type, codecs, chunks and separator into a folder, for other
//! implementations to read: `cargo run -p zarr-array --example combinations -- FOLDER`.
//!
//! Next to each array it writes `NAME.raw`, the bytes of the expected elements (C order, little endian).

use std::error::Error;
use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::meta::ArrayMeta;
use zarr_array::traits::Limits;
use zarr_array::traits::json::{Value, json};
use zarr_array::{InnerOrder, Storage, meta, standard};
use zarr_store_fs::FsStore;

/// Data type, element size in bytes, shape, chunks, chunk key encoding, fill value and codecs.
type Combination = (&'static str, usize, Vec<u64>, Vec<u64>, Value, Value, Value);

fn combinations() -> Vec<Combination> {
    let slash = || json!({"name": "default", "configuration": {"separator": "/"}});
    let dot = || json!({"name": "default", "configuration": {"separator": "."}});
    let v2 = |s: &str| json!({"name": "v2", "configuration": {"separator": s}});
    let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
    let single = || json!({"name": "bytes"});
    let gzip = |level: u8| json!({"name": "gzip", "configuration": {"level": level}});
    let zstd = |level: i8, checksum: bool| json!({"name": "zstd", "configuration": {"level": level, "checksum": checksum}});
    let blosc = |cname: &str, shuffle: &str, typesize: usize| {
        json!({"name": "blosc", "configuration":
            {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": typesize, "blocksize": 0}})
    };
    let crc = || json!({"name": "crc32c"});
    let sharded_at = |location: &str, index: Value, inner: &[u64], codecs: Value| {
        json!({"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": codecs,
            "index_codecs": index, "index_location": location}})
    };
    let checked = || json!([bytes("little"), crc()]);
    let sharded = |inner: &[u64], codecs: Value| sharded_at("end", checked(), inner, codecs);
    let order = |order: &[u64]| json!({"name": "transpose", "configuration": {"order": order}});
    vec![
        ("bool", 1, vec![7, 9], vec![4, 4], slash(), json!(true), json!([single()])),
        ("int8", 1, vec![40], vec![7], dot(), json!(-3), json!([single(), gzip(1)])),
        ("int16", 2, vec![13, 11], vec![5, 4], v2("."), json!(-300), json!([bytes("big"), gzip(6)])),
        ("int32", 4, vec![13, 11], vec![5, 4], v2("/"), json!(7), json!([bytes("little"), zstd(3, true)])),
        (
            "int64",
            8,
            vec![5, 6, 7],
            vec![2, 3, 4],
            slash(),
            json!(i64::MIN),
            json!([bytes("big"), zstd(-5, false)]),
        ),
        (
            "uint8",
            1,
            vec![64, 64],
            vec![64, 64],
            slash(),
            json!(255),
            json!([single(), blosc("zstd", "bitshuffle", 1)]),
        ),
        (
            "uint16",
            2,
            vec![33, 65],
            vec![16, 16],
            dot(),
            json!(1),
            json!([bytes("little"), blosc("lz4", "shuffle", 2)]),
        ),
        (
            "uint32",
            4,
            vec![20, 30],
            vec![20, 7],
            slash(),
            json!(9),
            json!([bytes("little"), blosc("blosclz", "noshuffle", 4)]),
        ),
        (
            "uint64",
            8,
            vec![50],
            vec![50],
            slash(),
            json!(u64::MAX),
            json!([bytes("little"), blosc("zlib", "shuffle", 8)]),
        ),
        (
            "float32",
            4,
            vec![10, 20],
            vec![3, 20],
            slash(),
            json!("NaN"),
            json!([bytes("little"), blosc("lz4hc", "bitshuffle", 4)]),
        ),
        ("float64", 8, vec![10, 20], vec![10, 6], slash(), json!("-Infinity"), json!([bytes("big"), crc()])),
        (
            "float32",
            4,
            vec![6, 8, 10],
            vec![4, 4, 4],
            slash(),
            json!(0.5),
            json!([order(&[2, 0, 1]), bytes("little")]),
        ),
        (
            "int16",
            2,
            vec![9, 9],
            vec![4, 5],
            dot(),
            json!(0),
            json!([order(&[1, 0]), bytes("big"), zstd(1, false)]),
        ),
        ("float64", 8, vec![], vec![], slash(), json!(1.25), json!([bytes("little"), zstd(1, false)])),
        ("uint8", 1, vec![3], vec![10], v2("."), json!(0), json!([single(), crc()])),
        ("int32", 4, vec![100, 1], vec![1, 1], v2("/"), json!(0), json!([bytes("little")])),
        ("uint16", 2, vec![17, 4], vec![5, 4], slash(), json!(3), json!([bytes("big"), gzip(9), crc()])),
        (
            "float32",
            4,
            vec![2, 3, 4, 5],
            vec![1, 2, 3, 4],
            dot(),
            json!(-0.0),
            json!([order(&[3, 2, 1, 0]), bytes("big"), blosc("zstd", "shuffle", 4)]),
        ),
        (
            "uint32",
            4,
            vec![6, 7],
            vec![10, 10],
            v2("/"),
            json!(4),
            json!([order(&[1, 0]), bytes("little"), crc()]),
        ),
        ("int8", 1, vec![31, 5], vec![8, 2], dot(), json!(5), json!([single(), gzip(0), crc()])),
        (
            "int32",
            4,
            vec![11, 13],
            vec![6, 8],
            slash(),
            json!(7),
            json!([sharded(&[3, 4], json!([bytes("little"), zstd(1, false)]))]),
        ),
        (
            "uint16",
            2,
            vec![10, 9, 8],
            vec![4, 4, 4],
            dot(),
            json!(3),
            json!([sharded(&[2, 4, 1], json!([bytes("big"), gzip(1), crc()]))]),
        ),
        (
            "int32",
            4,
            vec![11, 13],
            vec![6, 8],
            slash(),
            json!(7),
            json!([sharded_at("start", checked(), &[3, 2], json!([bytes("little"), zstd(1, true), crc()]))]),
        ),
        (
            "uint32",
            4,
            vec![9, 20],
            vec![8, 8],
            slash(),
            json!(1),
            json!([sharded_at(
                "end",
                json!([bytes("big")]),
                &[2, 8],
                json!([bytes("little"), blosc("lz4", "shuffle", 4)])
            )]),
        ),
        (
            "float32",
            4,
            vec![20, 20],
            vec![16, 16],
            slash(),
            json!(-1.0),
            json!([sharded(&[8, 8], json!([sharded(&[4, 2], json!([bytes("little"), zstd(1, false)]))]))]),
        ),
        (
            "int16",
            2,
            vec![10, 14, 6],
            vec![8, 8, 4],
            slash(),
            json!(-5),
            json!([
                order(&[2, 0, 1]),
                sharded(&[2, 4, 4], json!([order(&[1, 2, 0]), bytes("little"), gzip(1)]))
            ]),
        ),
        ("uint8", 1, vec![], vec![], slash(), json!(9), json!([sharded(&[], json!([single()]))])),
        (
            "float16",
            2,
            vec![12, 12],
            vec![5, 5],
            slash(),
            json!("Infinity"),
            json!([bytes("little"), zstd(1, false)]),
        ),
        (
            "complex64",
            8,
            vec![12, 5],
            vec![5, 5],
            slash(),
            json!([1.0, "NaN"]),
            json!([bytes("big"), gzip(1)]),
        ),
        (
            "complex128",
            16,
            vec![12, 5],
            vec![5, 5],
            v2("."),
            json!([0.0, 0.0]),
            json!([bytes("little"), zstd(1, false), crc()]),
        ),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let folder = Path::new(&folder);
    for (i, (data_type, size, shape, chunks, key_encoding, fill, codecs)) in
        combinations().into_iter().enumerate()
    {
        let name = format!("{i:02}-{data_type}");
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "chunk_key_encoding": key_encoding, "fill_value": fill, "codecs": codecs, "attributes": {},
        });
        let meta = ArrayMeta::parse(document.to_string().as_bytes(), &Limits::default(), &mut meta::Strict)?;
        let storage = Storage::from(FsStore::create(folder.join(&name))?);
        let array = Array::create(storage, "/", meta, &standard())?;
        let elements: u64 = shape.iter().product();
        let values: Vec<u8> =
            (0..usize::try_from(elements)?).flat_map(|k| element(data_type, size, k)).collect();
        // Elements in memory have the byte order of this machine, but the expected bytes are little endian.
        let native = if cfg!(target_endian = "little") {
            values.clone()
        } else {
            return Err("a little-endian machine is needed".into());
        };
        match shape.first() {
            // Every second array is written row by row, to update parts of chunks and shards.
            Some(rows) if i % 2 == 1 => {
                let array = array.with_inner_order(InnerOrder::Morton);
                let row = native.len() / usize::try_from(*rows)?;
                for (at, row) in (0..).zip(native.chunks(row)) {
                    let mut part: Vec<_> = shape.iter().map(|length| 0..*length).collect();
                    part[0] = at..at + 1;
                    array.write_bytes(part, row.to_vec())?;
                }
            }
            _ => array.write_bytes(.., native)?,
        }
        std::fs::write(folder.join(format!("{name}.raw")), values)?;
    }
    println!("{} arrays in {}", combinations().len(), folder.display());
    Ok(())
}

/// Returns element `k` in little-endian order: a value that every type can represent, different from its neighbours.
fn element(data_type: &str, size: usize, k: usize) -> Vec<u8> {
    let n = u8::try_from(k * 7 % 120).unwrap_or(0);
    let half = |n: u8| half::f16::from_f32(f32::from(n)).to_le_bytes().to_vec();
    match data_type {
        "bool" => vec![u8::from(k.is_multiple_of(3))],
        "float16" => half(n),
        "float32" => (f32::from(n) / 3.0).to_le_bytes().to_vec(),
        "float64" => (f64::from(n) / 7.0).to_le_bytes().to_vec(),
        "complex64" => [f32::from(n).to_le_bytes(), (-f32::from(n)).to_le_bytes()].concat(),
        "complex128" => [f64::from(n).to_le_bytes(), (-f64::from(n)).to_le_bytes()].concat(),
        _ => (0..size)
            .map(|byte| if byte == 0 { n } else { n.wrapping_mul(31 + u8::try_from(byte).unwrap_or(0)) })
            .collect(),
    }
}
