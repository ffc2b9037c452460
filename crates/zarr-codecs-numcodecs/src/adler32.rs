//! `numcodecs.adler32`: the Adler-32 of zlib, by default before the data.
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` or `"end"`; `"start"` when absent |

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.adler32", CodecKind::BytesBytes, build));

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = |data| simd_adler32::adler32(&data);
    Ok(checksum::codec(sum, checksum::at_start(configuration, true)?))
}

#[cfg(test)]
mod tests {
    use zarr_traits::serde_json::json;

    use crate::testing::{bytes_codec, decodes, encode, four, hex, refused, survives, to_hex};

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        for (configuration, decoded, encoded) in [
            (json!({}), four(), "0b00600001000000020000000300000004000000"),
            (json!({"location": "end"}), four(), "010000000200000003000000040000000b006000"),
            (json!({}), Vec::new(), "01000000"),
        ] {
            let codec = bytes_codec("numcodecs.adler32", &configuration);
            assert_eq!(to_hex(&encode(&*codec, &decoded)), encoded);
            decodes(&*codec, &hex(encoded), &decoded);
            survives(&*codec, &hex(encoded), &decoded, false);
        }
        refused("numcodecs.adler32", &json!({"location": "middle"}));
    }
}
