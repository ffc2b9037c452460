//! Writes arrays of format 2 in many combinations of dtype, order, separator, filters and compressor into a folder, for
//! other implementations to read: `cargo run -p zarr-array --example combinations_v2 -- FOLDER`.
//!
//! Next to each array it writes the expected elements: `NAME.raw` with their bytes (C order, little endian), or
//! `NAME.json`.

use std::error::Error;
use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::meta::{ArrayMeta, Ignore};
use zarr_array::traits::Limits;
use zarr_array::traits::json::{Value, json};
use zarr_array::{DataType, Storage, standard};
use zarr_store_fs::FsStore;

/// dtype, element size in bytes, shape, chunks, order, separator, fill value, filters and compressor.
type Combination = (Value, usize, Vec<u64>, Vec<u64>, &'static str, &'static str, Value, Value, Value);

fn combinations() -> Vec<Combination> {
    let none = || Value::null();
    let zlib = || json!({"id": "zlib", "level": 1});
    let gzip = || json!({"id": "gzip", "level": 1});
    let bz2 = || json!({"id": "bz2", "level": 1});
    let lzma = || json!({"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null});
    let lz4 = || json!({"id": "lz4", "acceleration": 1});
    let zstd = || json!({"id": "zstd", "level": 1});
    let blosc = |cname: &str, shuffle: i8| json!({"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0});
    let delta = |dtype: &str, astype: &str| json!([{"id": "delta", "dtype": dtype, "astype": astype}]);
    let dtype = |text: &str| json!(text);
    let (flat, shape, chunks) = (|| vec![29], || vec![7, 9], || vec![3, 4]);
    vec![
        (dtype("|b1"), 1, shape(), chunks(), "C", ".", json!(false), none(), none()),
        (dtype("|i1"), 1, flat(), vec![7], "C", ".", json!(-3), none(), zlib()),
        (dtype("<i2"), 2, shape(), chunks(), "F", ".", json!(7), none(), gzip()),
        (dtype(">i4"), 4, shape(), chunks(), "C", "/", json!(7), none(), bz2()),
        (dtype("<i8"), 8, shape(), chunks(), "F", "/", json!(i64::MIN), none(), lzma()),
        (dtype("|u1"), 1, shape(), chunks(), "C", ".", json!(255), none(), blosc("lz4", -1)),
        (dtype(">u2"), 2, shape(), chunks(), "F", ".", json!(0), none(), blosc("zstd", 2)),
        (dtype("<u4"), 4, vec![5, 6, 7], vec![2, 3, 4], "C", "/", json!(1), none(), lz4()),
        (dtype("<u8"), 8, vec![5, 6, 7], vec![2, 3, 4], "F", ".", json!(u64::MAX), none(), zstd()),
        (dtype("<f2"), 2, shape(), chunks(), "C", ".", json!("NaN"), none(), zlib()),
        (dtype(">f4"), 4, shape(), chunks(), "F", "/", json!("-Infinity"), none(), blosc("blosclz", 1)),
        (dtype("<f8"), 8, shape(), chunks(), "C", ".", json!(1.5), none(), zstd()),
        (dtype("<c8"), 8, shape(), chunks(), "C", ".", json!([1.0, "NaN"]), none(), none()),
        (dtype(">c16"), 16, flat(), vec![8], "C", ".", json!([0.0, 0.0]), none(), blosc("lz4hc", 1)),
        (dtype("|V3"), 3, shape(), chunks(), "C", ".", json!("AQID"), none(), zlib()),
        (dtype("|S4"), 4, flat(), vec![8], "C", ".", json!("enp6AA=="), none(), zlib()),
        (dtype("<U3"), 12, shape(), chunks(), "F", ".", json!("ab"), none(), blosc("lz4", 1)),
        (dtype("<M8[s]"), 8, flat(), vec![8], "C", ".", json!(i64::MIN), none(), zstd()),
        (dtype(">m8[ms]"), 8, flat(), vec![8], "C", ".", json!(0), none(), none()),
        (dtype("<i4"), 4, shape(), chunks(), "F", ".", json!(0), delta("<i4", "<i2"), zlib()),
        (
            dtype("<i4"),
            4,
            flat(),
            vec![8],
            "C",
            ".",
            json!(0),
            json!([{"id": "shuffle", "elementsize": 4}, {"id": "crc32"}]),
            zlib(),
        ),
        (
            dtype("<f8"),
            8,
            flat(),
            vec![8],
            "C",
            ".",
            json!(0),
            json!([{"id": "fixedscaleoffset", "dtype": "<f8", "astype": "<i4", "offset": 0, "scale": 1000}]),
            zlib(),
        ),
        (
            dtype("<u2"),
            2,
            flat(),
            vec![8],
            "C",
            ".",
            json!(0),
            json!([{"id": "fletcher32"}, {"id": "adler32"}]),
            none(),
        ),
        (
            json!([["x", "<f4"], ["p", [["a", ">i2"], ["b", "|u1"]]]]),
            7,
            flat(),
            vec![8],
            "C",
            ".",
            none(),
            none(),
            zlib(),
        ),
        (dtype("|O"), 0, flat(), vec![8], "C", ".", json!(""), json!([{"id": "vlen-utf8"}]), blosc("lz4", 1)),
        (dtype("<i2"), 2, vec![], vec![], "C", ".", json!(5), none(), zlib()),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let folder = Path::new(&folder);
    if cfg!(target_endian = "big") {
        return Err("a little-endian machine is needed".into());
    }
    let registry = standard().overriding(zarr_codecs_numcodecs::CODECS);
    for (i, (dtype, size, shape, chunks, order, separator, fill, filters, compressor)) in
        combinations().into_iter().enumerate()
    {
        let kind: String = dtype.to_string().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let name = format!("{i:02}-{kind}");
        let document = json!({
            "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": compressor,
            "fill_value": fill, "order": order, "filters": filters, "dimension_separator": separator,
        });
        let meta =
            ArrayMeta::parse_v2(document.to_string().as_bytes(), None, &Limits::default(), &mut Ignore)?;
        let storage = Storage::from(FsStore::create(folder.join(&name))?);
        let array = Array::create(storage, "/", meta, &registry)?;
        let elements = usize::try_from(shape.iter().product::<u64>())?;
        if *array.data_type() == DataType::String {
            let words: Vec<String> = (0..elements).map(|k| "é漢x".repeat(k % 4)).collect();
            array.write(.., &words[..])?;
            std::fs::write(folder.join(format!("{name}.json")), json!(words).to_string())?;
            continue;
        }
        let values: Vec<u8> = (0..elements).flat_map(|k| element(&kind, size, k)).collect();
        match shape.first() {
            // Every second array is written row by row, to update parts of chunks.
            Some(rows) if i % 2 == 1 => {
                let row = values.len() / usize::try_from(*rows)?;
                for (at, row) in (0..).zip(values.chunks(row)) {
                    let mut part: Vec<_> = shape.iter().map(|length| 0..*length).collect();
                    part[0] = at..at + 1;
                    array.write_bytes(part, row.to_vec())?;
                }
            }
            _ => array.write_bytes(.., values.clone())?,
        }
        std::fs::write(folder.join(format!("{name}.raw")), values)?;
    }
    println!("{} arrays in {}", combinations().len(), folder.display());
    Ok(())
}

/// Returns element `k` in little-endian order: a value that every type can represent and filters keep.
fn element(kind: &str, size: usize, k: usize) -> Vec<u8> {
    let n = u8::try_from(k * 7 % 120).unwrap_or(0);
    let float = f64::from(n) / 8.0;
    match (kind, size) {
        ("b1", _) => vec![u8::from(k.is_multiple_of(3))],
        ("f2", _) => half::f16::from_f64(float).to_le_bytes().to_vec(),
        ("f4", _) => (f32::from(n) / 8.0).to_le_bytes().to_vec(),
        ("f8", _) => float.to_le_bytes().to_vec(),
        ("c8", _) => [f32::from(n).to_le_bytes(), (-f32::from(n)).to_le_bytes()].concat(),
        ("c16", _) => [float.to_le_bytes(), (-float).to_le_bytes()].concat(),
        ("xf4pai2b", _) => {
            [&(f32::from(n) / 8.0).to_le_bytes()[..], &i16::from(n).to_le_bytes(), &[n]].concat()
        }
        // NumPy strips trailing zeros, so there are none.
        ("S4", _) => format!("{:<4}", k % 90 + 10).into_bytes(),
        ("U3", _) => {
            ['é', '漢', char::from(b'a' + n % 26)].iter().flat_map(|c| u32::from(*c).to_le_bytes()).collect()
        }
        ("V3", _) => vec![n, 1, n.wrapping_mul(3)],
        _ => (0..size).map(|byte| if byte == 0 { n } else { 0 }).collect(),
    }
}
