//! Every data type with every codec: a pair that works returns the elements that were written; a pair that does not
//! work fails when the array is opened, not when it is read or written. `matrix.txt` is the table of results.
#[path = "../examples/extensions/table.rs"]
mod table;

use std::fmt::Write as _;

use zarr_array::blocking::Array;
use zarr_array::meta::{ArrayMeta, Ignore};
use zarr_array::traits::extension::Spec;
use zarr_array::traits::json::{Value, json};
use zarr_array::traits::{Limits, codec::CodecKind};
use zarr_array::{ArrayErrorKind, ArrayResult, Registry};
use zarr_store::MemoryStore;

const TABLE: &str = include_str!("matrix.txt");

/// Returns the required members of the configuration of a codec, for an element type and for chunks of 4.
fn configuration(codec: &str, serializer: &Value) -> Value {
    match codec {
        "blosc" | "numcodecs.blosc" => {
            json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0})
        }
        "bytes" => json!({"endian": "little"}),
        "bitround" | "numcodecs.bitround" => json!({"keepbits": 3}),
        "cast_value" => json!({"data_type": "float64", "out_of_range": "clamp"}),
        "gzip" | "zstd" => json!({"level": 1}),
        "conditional" => json!({"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}),
        "n5_default" => json!({"codecs": [
            {"name": "transpose", "configuration": {"order": [0]}},
            {"name": "bytes", "configuration": {"endian": "big"}}
        ]}),
        "reshape" => json!({"shape": [2, 2]}),
        "sharding_indexed" => json!({
            "chunk_shape": [2], "codecs": [serializer],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]
        }),
        "transpose" => json!({"order": [0]}),
        "zfp" => json!({"mode": "reversible"}),
        "numcodecs.zfpy" => json!({"mode": 5}),
        "numcodecs.astype" => json!({"encode_dtype": "<f8", "decode_dtype": "<f4"}),
        "numcodecs.delta" => json!({"dtype": "<i4"}),
        "numcodecs.fixedscaleoffset" => json!({"offset": 0, "scale": 1, "dtype": "<f8", "astype": "<f8"}),
        "numcodecs.quantize" => json!({"digits": 2, "dtype": "<f4"}),
        // The length of strings is not a multiple of anything.
        "numcodecs.shuffle" => json!({"elementsize": if serializer.as_text().is_some() { 1 } else { 4 }}),
        _ => json!({}),
    }
}

/// Returns the sign of the table for a pair.
fn pair(registry: &Registry, t: &table::Type, codec: &str, kind: CodecKind) -> char {
    let serializer = match t.name() {
        "string" => json!("vlen-utf8"),
        "bytes" => json!("vlen-bytes"),
        _ => json!({"name": "bytes", "configuration": {"endian": "little"}}),
    };
    let this = json!({"name": codec, "configuration": configuration(codec, &serializer)});
    let codecs = match kind {
        CodecKind::ArrayArray => json!([this, serializer]),
        CodecKind::ArrayBytes => json!([this]),
        CodecKind::BytesBytes => json!([serializer, this]),
    };
    let Spec { name, configuration, .. } = &t.data_type;
    let data_type = match configuration.is_empty() {
        true => json!(name),
        false => json!({"name": name, "configuration": configuration}),
    };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [11], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": t.fill, "codecs": codecs,
    });
    let case = format!("{} with {codec}", t.name());
    let text = document.to_compact();
    let metadata = ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
    let array = match Array::create(MemoryStore::new(), "a", metadata, registry) {
        Ok(array) => array,
        Err(e) => {
            let known = matches!(e.kind(), ArrayErrorKind::Metadata | ArrayErrorKind::Unsupported);
            assert!(known, "{case}: {e:?}");
            return '.';
        }
    };
    let elements = t.elements(registry, 11);
    let round = |elements: &[Vec<u8>]| -> ArrayResult<Vec<Vec<u8>>> {
        Ok(match t.name() {
            "string" => {
                let texts: Vec<_> = elements.iter().map(|e| String::from_utf8(e.clone()).unwrap()).collect();
                array.write(.., &texts)?;
                array.read::<String>(..)?.into_vec().into_iter().map(String::into_bytes).collect()
            }
            "bytes" => {
                array.write(.., elements)?;
                array.read::<Vec<u8>>(..)?.into_vec()
            }
            _ => {
                array.write_bytes(.., elements.concat())?;
                array.read_bytes(..)?.1.chunks(elements[0].len()).map(<[u8]>::to_vec).collect()
            }
        })
    };
    match round(&elements) {
        Ok(once) if once == elements => 'x',
        Ok(once) => {
            assert_eq!(round(&once).unwrap(), once, "{case}: a second round trip loses no digits");
            '~'
        }
        // The pair works, but not for every element.
        Err(e) if e.kind() == ArrayErrorKind::InvalidArgument => '!',
        Err(e) => panic!("{case} was opened, but failed later: {e:#}"),
    }
}

#[test]
fn d_02_types_and_codecs_combine_as_the_table_says() {
    let registry = table::registry();
    let codecs = registry.codec_names().into_iter().filter(|name| !name.contains(':'));
    let codecs: Vec<_> = codecs.map(|name| (name, registry.codec(name).unwrap().kind())).collect();
    let mut made = String::from(
        "Data types by codecs. x: elements are read as written; ~: digits are lost, but only once; !: the write\n\
         fails for elements that the codec cannot represent; a dot: opening the array fails.\n\n",
    );
    for (i, (name, _)) in codecs.iter().enumerate() {
        writeln!(made, "{:26} {}{name}", "", "|".repeat(i)).unwrap();
    }
    for t in table::types() {
        let row: String = codecs.iter().map(|(name, kind)| pair(&registry, &t, name, *kind)).collect();
        writeln!(made, "{:26} {row}", t.name()).unwrap();
    }
    if made != TABLE {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix.txt");
        std::fs::write(&path, &made).unwrap();
        panic!("the table has changed, the new one is in {}:\n{made}", path.display());
    }
}
