//! `numcodecs.crc32c`: CRC-32C (Castagnoli), by default after the data.
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` or `"end"`; `"end"` when absent |

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.crc32c", CodecKind::BytesBytes, build));

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = ::crc32c::crc32c;
    Ok(checksum::codec(sum, checksum::at_start(configuration, false)?))
}

#[cfg(test)]
mod tests {
    use zarr_traits::serde_json::json;

    use crate::testing::{bytes_codec, decodes, encode, four, hex, refused, survives, to_hex};

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        for (configuration, decoded, encoded) in [
            (json!({}), four(), "01000000020000000300000004000000ee89f972"),
            (json!({"location": "start"}), four(), "ee89f97201000000020000000300000004000000"),
        ] {
            let codec = bytes_codec("numcodecs.crc32c", &configuration);
            assert_eq!(to_hex(&encode(&*codec, &decoded)), encoded);
            decodes(&*codec, &hex(encoded), &decoded);
            survives(&*codec, &hex(encoded), &decoded, false);
        }
        refused("numcodecs.crc32c", &json!({"location": "middle"}));
    }
}
