//! `numcodecs.crc32`: the CRC-32 of zlib, by default before the data.
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` or `"end"`; `"start"` when absent |

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.crc32", CodecKind::BytesBytes, build));

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = crc32fast::hash;
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
            (json!({}), four(), "efd405af01000000020000000300000004000000"),
            (json!({"location": "end"}), four(), "01000000020000000300000004000000efd405af"),
            (json!({"location": "start"}), Vec::new(), "00000000"),
        ] {
            let codec = bytes_codec("numcodecs.crc32", &configuration);
            assert_eq!(to_hex(&encode(&*codec, &decoded)), encoded);
            decodes(&*codec, &hex(encoded), &decoded);
            survives(&*codec, &hex(encoded), &decoded, false);
        }
        refused("numcodecs.crc32", &json!({"location": "middle"}));
    }
}
