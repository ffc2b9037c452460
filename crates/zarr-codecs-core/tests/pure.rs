//! Codecs without C code beside those with it, in one program.
#![cfg(all(feature = "blosc", feature = "gzip", feature = "libdeflate", feature = "pure", feature = "zstd"))]

use zarr_codecs_core::{CODECS, pure};
use zarr_traits::Scratch;
use zarr_traits::extension::Entry;
use zarr_traits::json::{Value, json};

use crate::testing::{Noise, bytes_codec_of};

fn encoded(entries: &[Entry], name: &str, configuration: &Value, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let codec = bytes_codec_of(entries, name, configuration);
    codec.encode(content, &mut out, &mut Scratch::new()).unwrap();
    out
}

#[test]
fn each_decodes_what_the_other_encodes() {
    let content = Noise(3).waves(300_000);
    let blosc = |cname: &str| json!({"cname": cname, "clevel": 9, "shuffle": "shuffle", "typesize": 2, "blocksize": 0});
    let cases = [
        ("zstd", json!({"level": 19})),
        ("zstd", json!({"level": 3, "checksum": true})),
        ("gzip", json!({"level": 9})),
        ("blosc", blosc("zstd")),
        ("blosc", blosc("lz4")),
        ("blosc", blosc("lz4hc")),
    ];
    for (name, configuration) in cases {
        for (writer, reader) in [(CODECS, pure::CODECS), (pure::CODECS, CODECS)] {
            let frame = encoded(writer, name, &configuration, &content);
            let reader = bytes_codec_of(reader, name, &configuration);
            let mut decoded = vec![0; content.len()];
            let made = reader.decode_into(&frame, &mut decoded, &mut Scratch::new()).unwrap();
            assert!(made == content.len() && decoded == content, "{name} {configuration}");
        }
    }
}

/// The libraries in Rust have fewer levels, so equal bytes of two levels show that no C code made them.
#[test]
fn codecs_without_c_code_have_the_levels_of_the_libraries_in_rust() {
    let content = Noise(3).waves(300_000);
    let zstd = |entries: &[Entry], level: i32| encoded(entries, "zstd", &json!({ "level": level }), &content);
    assert_eq!(zstd(pure::CODECS, 4), zstd(pure::CODECS, 19));
    assert_ne!(zstd(CODECS, 4), zstd(CODECS, 19));
    let blosc = |entries: &[Entry], cname: &str| {
        let configuration =
            json!({"cname": cname, "clevel": 9, "shuffle": "shuffle", "typesize": 2, "blocksize": 0});
        encoded(entries, "blosc", &configuration, &content)
    };
    assert_eq!(blosc(pure::CODECS, "lz4"), blosc(pure::CODECS, "lz4hc"));
    assert_ne!(blosc(CODECS, "lz4"), blosc(CODECS, "lz4hc"));
}
