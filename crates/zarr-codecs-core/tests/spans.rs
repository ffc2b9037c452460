//! A decoded span has the bytes of the whole; if decoding it skips a checksum or saves nothing, the codec declines.
#![cfg(all(any(feature = "blosc", feature = "pure"), feature = "bytes", feature = "gzip"))]

use std::ops::Range;

use zarr_traits::json;
use zarr_traits::{CodecResult, Scratch, codec::BytesBytesCodec};

use crate::testing::{Noise, bytes_codec};

fn encode(codec: &dyn BytesBytesCodec, elements: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    codec.encode(elements, &mut encoded, &mut Scratch::new()).unwrap();
    encoded
}

/// Returns the bytes of a span, or `None` if the codec declines.
fn decode(
    codec: &dyn BytesBytesCodec,
    src: &[u8],
    size: usize,
    span: Range<usize>,
    scratch: &mut Scratch,
) -> CodecResult<Option<Vec<u8>>> {
    let mut dst = vec![0; span.len()];
    Ok(codec.decode_span(src, size, span, &mut dst, scratch)?.then_some(dst))
}

#[test]
#[cfg(feature = "zstd")]
fn zstd_stops_at_the_end_of_the_span() {
    const SIZE: usize = 2 << 20;
    let (elements, codec) = (Noise(9).waves(SIZE), bytes_codec("zstd", &json!({"level": 1})));
    let encoded = encode(&*codec, &elements);
    let mut scratch = Scratch::new();
    let mut span = |src: &[u8], size, span| decode(&*codec, src, size, span, &mut scratch);
    for wanted in [0..1, 5..9, 0..700_000, 300_001..1_300_007, 1_500_000..1_500_000, 131_071..131_074] {
        assert_eq!(span(&encoded, SIZE, wanted.clone()).unwrap().unwrap(), elements[wanted]);
    }
    assert_eq!(span(&encoded, SIZE, 2_000_000..2_000_001).unwrap(), None, "nothing to save");
    assert_eq!(span(&encoded, SIZE - 1, 0..9).unwrap(), None, "another size, reported when all is decoded");
    assert_eq!(span(&[&encoded[..], &encoded].concat(), SIZE, 0..9).unwrap(), None, "two frames");
    assert!(span(&encoded[..encoded.len() - 1], SIZE, 0..9).is_err(), "truncated after the span");
    let checked = encode(&*bytes_codec("zstd", &json!({"level": 1, "checksum": true})), &elements);
    assert_eq!(span(&checked, SIZE, 0..9).unwrap(), None, "no checksum is skipped");
    let large = vec![0; 9 << 20];
    let wide = encode(&*bytes_codec("zstd", &json!({"level": 22})), &large);
    assert_eq!(span(&wide, 9 << 20, 0..9).unwrap(), None, "a window of 9 MiB");
    let narrow = encode(&*codec, &large);
    assert_eq!(span(&narrow, 9 << 20, 0..9).unwrap().unwrap(), [0; 9], "a window of 512 KiB");
}

#[test]
fn gzip_never_skips_its_checksum() {
    let codec = bytes_codec("gzip", &json!({"level": 1}));
    let encoded = encode(&*codec, &[7; 1000]);
    assert_eq!(decode(&*codec, &encoded, 1000, 0..9, &mut Scratch::new()).unwrap(), None);
}

#[test]
fn blosc_decodes_the_blocks_of_the_span() {
    const SIZE: usize = 200_000;
    let (elements, mut scratch) = (Noise(2).waves(SIZE), Scratch::new());
    for (typesize, shuffle) in
        [(2, "shuffle"), (2, "bitshuffle"), (4, "shuffle"), (7, "shuffle"), (2, "noshuffle"), (16, "shuffle")]
    {
        for (cname, level) in
            ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"].map(|c| [(c, 0), (c, 5)]).concat()
        {
            let codec = bytes_codec(
                "blosc",
                &json!({
                    "cname": cname, "clevel": level, "shuffle": shuffle, "typesize": typesize, "blocksize": 16_384
                }),
            );
            let encoded = encode(&*codec, &elements);
            for start in [0, 14 * 16, 14 * 16 * 100, 3, 199_999] {
                for len in [0, 1, 14 * 16, 14 * 16 * 300].into_iter().filter(|len| start + len <= SIZE) {
                    let got = decode(&*codec, &encoded, SIZE, start..start + len, &mut scratch).unwrap();
                    assert_eq!(got.as_deref(), Some(&elements[start..start + len]));
                }
            }
            assert!(decode(&*codec, &encoded, SIZE + 1, 0..8, &mut scratch).is_err());
        }
    }
}
