//! `numcodecs.zstd`: the frames of [`zarr_codecs_core::zstd`].
//!
//! | member | value |
//! |---|---|
//! | `level` | any integer, clamped to the range of the library; 0, its default, when absent |
//! | `checksum` | whether frames get a checksum of their content; false when absent |

use zarr_codecs_core::zstd;
use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::reuse::{self, reused};

reused!("numcodecs.zstd", zstd);

fn build(
    entry: &Entry,
    configuration: &mut Configuration<'_>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", i64::MIN..=i64::MAX)?.unwrap_or(0);
    let checksum = configuration.optional_bool("checksum")?.unwrap_or(false);
    let members = [("level", level.clamp(-131_072, 22).into()), ("checksum", checksum.into())];
    reuse::codec(entry, members, repr, context)
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decodes, encode, hex, refused, sixteen};

    #[test]
    fn frames_of_numcodecs_are_decoded() {
        // rule H7
        for (configuration, encoded) in [
            (
                json!({"level": 0}),
                "28b52ffd2040ed00000244068e52111111111111106f675f574f473f372f271f170f07bf0f00",
            ),
            (
                json!({"level": 3, "checksum": true}),
                "28b52ffd2440ed00000244068e52111111111111106f675f574f473f372f271f170f07bf0f00786c97ed",
            ),
        ] {
            decodes(&*bytes_codec("numcodecs.zstd", &configuration), &hex(encoded), &sixteen());
        }
        for level in [-200_000, -1, 100] {
            let codec = bytes_codec("numcodecs.zstd", &json!({ "level": level }));
            decodes(&*codec, &encode(&*codec, &sixteen()), &sixteen());
        }
        refused("numcodecs.zstd", &json!({"level": "1"}));
    }
}
