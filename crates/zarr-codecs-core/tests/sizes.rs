//! No codec exceeds its stated encoded size, even for noise, which no compressor can shrink.
#![cfg(all(
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    any(feature = "pure", feature = "zstd")
))]

use zarr_traits::extension::Spec;
use zarr_traits::json;

use crate::testing::{Noise, after_bytes, chain, decode, encode};

#[test]
fn encoded_chunks_do_not_exceed_their_stated_size() {
    let mut codecs = vec![after_bytes("crc32c", json!({}))];
    codecs.extend((0..=9).map(|level| after_bytes("gzip", json!({ "level": level }))));
    codecs.extend(
        [-131_072, -1, 0, 1, 5, 12]
            .map(|level| after_bytes("zstd", json!({"level": level, "checksum": true}))),
    );
    codecs.extend(["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"].map(|cname| {
        let configuration =
            json!({"cname": cname, "clevel": 9, "shuffle": "shuffle", "typesize": 8, "blocksize": 0});
        after_bytes("blosc", configuration)
    }));
    let inside = json!([{"name": "gzip", "configuration": {"level": 1}}, "crc32c"]);
    codecs.push(after_bytes("conditional", json!({"codecs": inside})));
    let lens = [0, 1, 2, 15, 16, 100, 127, 128, 1000, 65_535, 65_536, 131_071, 300_000];
    let contents = lens.map(|len| [Noise(3).bytes(len), vec![0; len]]);
    let waves = Noise(3).waves(300_000);
    for codecs in codecs {
        let chain = chain(&codecs, "uint8", 1);
        for (len, contents) in lens.iter().zip(&contents) {
            let shape = [*len as u64];
            let bound = chain.encoded_size(&shape).bound().unwrap();
            for elements in contents {
                let encoded = encode(&chain, &shape, elements);
                assert!(
                    encoded.len() as u64 <= bound,
                    "{codecs}: {len} bytes became {}, more than {bound}",
                    encoded.len()
                );
                assert!(decode(&chain, &shape, &encoded).unwrap() == *elements);
            }
        }
        let encoded = encode(&chain, &[300_000], &waves);
        let spec = Spec::try_from(&codecs.elements().unwrap().nth(1).unwrap()).unwrap();
        let level = spec.configuration.get("level").and_then(|level| level.as_i64());
        let shrinks = spec.name != "crc32c" && level.is_none_or(|level| level > 0);
        assert!(!shrinks || encoded.len() < 260_000, "{codecs}: {}", encoded.len());
        assert!(decode(&chain, &[300_000], &encoded).unwrap() == waves);
    }
}
