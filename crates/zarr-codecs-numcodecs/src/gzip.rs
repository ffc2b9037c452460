//! `numcodecs.gzip`: the members of [`zarr_codecs_core::gzip`].
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (stored) to 9, −1 for the default of zlib; 1 when absent |

use zarr_codecs_core::gzip;
use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::reuse::{self, reused};

reused!("numcodecs.gzip", gzip);

fn build(
    entry: &Entry,
    configuration: &mut Configuration<'_>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", -1..=9)?.unwrap_or(1);
    let level = if level < 0 { 6 } else { level };
    reuse::codec(entry, [("level", level.into())], repr, context)
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decodes, hex, refused, sixteen};

    #[test]
    fn members_of_numcodecs_are_decoded() {
        // rule H7
        let encoded =
            hex("1f8b0800dc7b006b04ff0dc30912c0101000b075548be2ffbf95cc242222992d561f9baf9fdde1f477b93d5e \
             c97c89e140000000");
        for level in [json!({}), json!({"level": -1}), json!({"level": 0}), json!({"level": 9})] {
            decodes(&*bytes_codec("numcodecs.gzip", &level), &encoded, &sixteen());
        }
        refused("numcodecs.gzip", &json!({"level": 10}));
    }
}
