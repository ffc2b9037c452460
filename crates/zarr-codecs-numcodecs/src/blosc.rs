//! `numcodecs.blosc`: the frames of [`zarr_codecs_core::blosc`].
//!
//! | member | value |
//! |---|---|
//! | `cname` | `"lz4"` (when absent), `"lz4hc"`, `"blosclz"`, `"zstd"`, `"snappy"` or `"zlib"` |
//! | `clevel` | 0 (stored) to 9; 5 when absent |
//! | `shuffle` | 0 none, 1 bytes (when absent), 2 bits, −1 bits for elements of one byte, bytes for others |
//! | `blocksize` | bytes of a block; 0 (when absent) lets c-blosc choose |
//! | `typesize` | bytes of an element; `null` (when absent) means the size of the data type |
//!
//! Frames describe themselves, so a reader needs no configuration.

use zarr_codecs_core::blosc;
use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::non_null;
use crate::reuse::{self, reused};

reused!("numcodecs.blosc", blosc);

fn build(
    entry: &Entry,
    configuration: &mut Configuration<'_>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let cname = configuration.optional_string("cname")?.unwrap_or_else(|| "lz4".to_owned());
    let clevel = configuration.optional_integer("clevel", 0..=9)?.unwrap_or(5);
    let shuffle = configuration.optional_integer("shuffle", -1..=2)?.unwrap_or(1);
    let blocksize = configuration.optional_integer("blocksize", 0..=i64::MAX)?.unwrap_or(0);
    let typesize = match non_null(configuration, "typesize") {
        None => repr.fixed().map_or(1, |(size, _)| size.max(1)).into(),
        Some(_) => configuration.integer("typesize", 1..=i64::MAX)?.into(),
    };
    let members = [
        ("cname", cname.into()),
        ("clevel", clevel.into()),
        ("shuffle", shuffle.into()),
        ("blocksize", blocksize.into()),
        ("typesize", typesize),
    ];
    reuse::codec(entry, members, repr, context)
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decodes, encode, hex, refused, sixteen};

    #[test]
    fn frames_of_numcodecs_are_decoded() {
        // rule H7
        let full = json!({"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0, "typesize": null});
        for (configuration, encoded) in [
            (
                json!({}),
                "0201330440000000400000005000000000000000010000000200000003000000040000000500000006000000 \
                 0700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000",
            ),
            (
                full,
                "0201960440000000400000005000000000000000010000000200000003000000040000000500000006000000 \
                 0700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000",
            ),
            (
                json!({"cname": "zlib", "shuffle": 0}),
                "0201720440000000400000005000000000000000010000000200000003000000040000000500000006000000 \
                 0700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000",
            ),
            (
                json!({"shuffle": -1}),
                "0201330440000000400000005000000000000000010000000200000003000000040000000500000006000000 \
                 0700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000",
            ),
        ] {
            let codec = bytes_codec("numcodecs.blosc", &configuration);
            decodes(&*codec, &hex(encoded), &sixteen());
            assert_eq!(encode(&*codec, &sixteen())[3], 4, "the type size is the size of the data type");
        }
        for bad in [json!({"cname": "lzma"}), json!({"shuffle": "shuffle"}), json!({"typesize": 0})] {
            refused("numcodecs.blosc", &bad);
        }
    }
}
