//! The arrays of one chunk whose stored bytes are fuzzed: a table of data types and codecs.

use zarr_meta::DocumentName;
use zarr_meta::json::{Value, json};

/// The metadata of an array of one chunk.
pub(crate) struct Layout {
    pub(crate) document: DocumentName,
    pub(crate) text: String,
    /// The key of the only chunk.
    pub(crate) chunk: &'static str,
    /// The length of the array along each of its two dimensions.
    pub(crate) length: u64,
    /// Whether encoding loses some of the elements.
    pub(crate) lossy: bool,
}

impl Layout {
    fn lossy(self) -> Self {
        Self { lossy: true, ..self }
    }
}

/// A target: a name and the arrays among which the first byte of an input chooses.
pub(crate) type Row = (&'static str, fn() -> Vec<Layout>);

pub(crate) const TABLE: &[Row] = &[
    ("codec_blosc", || {
        let blosc = |name: &str, shuffle: &str| json!({"name": "blosc", "configuration": {"cname": name, "clevel": 5, "shuffle": shuffle, "typesize": 2, "blocksize": 0}});
        let all = [("lz4", "shuffle"), ("blosclz", "bitshuffle"), ("zlib", "noshuffle"), ("zstd", "shuffle")];
        all.iter().map(|(name, shuffle)| bytes_then("uint16", blosc(name, shuffle))).collect()
    }),
    ("codec_bz2", || vec![bytes_then("uint16", numcodec("bz2", json!({"level": 1})))]),
    ("codec_gzip", || {
        vec![
            bytes_then("uint16", json!({"name": "gzip", "configuration": {"level": 5}})),
            bytes_then("uint16", numcodec("zlib", json!({"level": 1}))),
        ]
    }),
    ("codec_lz4", || vec![bytes_then("uint16", numcodec("lz4", json!({"acceleration": 1})))]),
    ("codec_lzma", || {
        vec![
            bytes_then(
                "uint16",
                numcodec("lzma", json!({"format": 1, "check": -1, "preset": 1, "filters": null})),
            ),
            bytes_then(
                "uint16",
                numcodec("lzma", json!({"format": 2, "check": -1, "preset": 1, "filters": null})),
            ),
        ]
    }),
    ("codec_objects", || {
        let numbers = json!({"id": "vlen-array", "dtype": "<i4"});
        vec![object(numbers), object(json!({"id": "json2"})), object(json!({"id": "msgpack2"}))]
    }),
    ("codec_pcodec", || {
        let pcodec = numcodec("pcodec", json!({"level": 8, "mode_spec": "auto"}));
        ["uint16", "float32", "int64"].iter().map(|kind| v3(kind, 16, json!([pcodec]))).collect()
    }),
    ("codec_text", || {
        let text = |name: &str, kind: &str| v3(kind, 16, json!([{"name": name}]));
        let categories =
            json!({"id": "categorize", "labels": ["a", "bc", "ü"], "dtype": "<U4", "astype": "|u1"});
        vec![
            text("vlen-utf8", "string"),
            text("vlen-bytes", "bytes"),
            v2("<U4", json!([categories]), Value::null()),
        ]
    }),
    ("codec_zfp", || {
        let zfp = |configuration: Value| json!([{"name": "zfp", "configuration": configuration}]);
        vec![
            v3("float32", 16, zfp(json!({"mode": "reversible"}))),
            v3("float64", 16, zfp(json!({"mode": "fixed_accuracy", "tolerance": 0.01}))).lossy(),
            v3("int32", 16, zfp(json!({"mode": "fixed_rate", "rate": 8.0}))).lossy(),
        ]
    }),
    ("codec_zstd", || {
        let zstd =
            |checksum: bool| json!({"name": "zstd", "configuration": {"level": 3, "checksum": checksum}});
        vec![bytes_then("uint16", zstd(true)), bytes_then("float32", zstd(false))]
    }),
    ("filters", || {
        let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
        let before = |name: &str, kind: &str, configuration: Value| {
            v3(kind, 16, json!([numcodec(name, configuration), bytes]))
        };
        let after = |name: &str| v3("int32", 16, json!([bytes, numcodec(name, json!({}))]));
        vec![
            before("delta", "int32", json!({"dtype": "<i4", "astype": "<i2"})).lossy(),
            before(
                "fixedscaleoffset",
                "float32",
                json!({"offset": 10, "scale": 3, "dtype": "<f4", "astype": "|u1"}),
            )
            .lossy(),
            before("quantize", "float64", json!({"digits": 3, "dtype": "<f8"})).lossy(),
            before("astype", "float64", json!({"encode_dtype": "<f4", "decode_dtype": "<f8"})).lossy(),
            before("bitround", "float32", json!({"keepbits": 5})).lossy(),
            v3("int32", 16, json!([bytes, numcodec("shuffle", json!({"elementsize": 4}))])),
            after("base64"),
            after("fletcher32"),
            after("jenkins_lookup3"),
            after("crc32"),
            after("adler32"),
            v3(
                "bool",
                16,
                json!([{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}]),
            ),
            v3("bool", 16, json!([{"name": "bytes"}])),
            v3("uint16", 16, json!([bytes, {"name": "crc32c"}])),
            v3(
                "int16",
                16,
                json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, bytes, {"name": "crc32c"}]),
            ),
        ]
    }),
    ("shards", || {
        let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
        let index = json!([little, {"name": "crc32c"}]);
        let shards = |inner: Value, index: Value, place: &str| {
            json!([{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [8, 8], "codecs": inner, "index_codecs": index, "index_location": place}}])
        };
        let zstd = json!([little, {"name": "zstd", "configuration": {"level": 1, "checksum": true}}]);
        let nested = json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 4], "codecs": [little], "index_codecs": [little], "index_location": "start"}}]);
        vec![
            v3("uint16", 32, shards(json!([little]), json!([little]), "end")),
            v3("uint16", 32, shards(json!([little]), json!([little]), "start")),
            v3("uint16", 32, shards(zstd.clone(), index.clone(), "end")),
            v3("uint16", 32, shards(json!([little, {"name": "crc32c"}]), json!([little]), "end")),
            v3("uint16", 32, shards(nested, json!([little]), "end")),
            v3("string", 32, shards(json!([{"name": "vlen-utf8"}]), json!([little]), "end")),
            v3(
                "uint16",
                32,
                json!([{"name": "transpose", "configuration": {"order": [1, 0]}},
                shards(zstd, index, "start").element(0)]),
            ),
        ]
    }),
];

fn numcodec(name: &str, configuration: Value) -> Value {
    json!({"name": format!("numcodecs.{name}"), "configuration": configuration})
}

fn bytes_then(data_type: &str, codec: Value) -> Layout {
    v3(data_type, 16, json!([{"name": "bytes", "configuration": {"endian": "little"}}, codec]))
}

fn v3(data_type: &str, length: u64, codecs: Value) -> Layout {
    let fill = match data_type {
        "string" => json!(""),
        "bytes" => json!([]),
        "bool" => json!(false),
        _ => json!(0),
    };
    let shape = [length, length];
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    });
    Layout { document: DocumentName::Node, text: document.to_string(), chunk: "c/0/0", length, lossy: false }
}

fn v2(dtype: &str, filters: Value, fill: Value) -> Layout {
    let document = json!({
        "zarr_format": 2, "shape": [16, 16], "chunks": [16, 16], "dtype": dtype, "fill_value": fill, "order": "C",
        "filters": filters, "compressor": null,
    });
    Layout {
        document: DocumentName::Array2,
        text: document.to_string(),
        chunk: "0.0",
        length: 16,
        lossy: false,
    }
}

fn object(codec: Value) -> Layout {
    v2("|O", json!([codec]), Value::null())
}
