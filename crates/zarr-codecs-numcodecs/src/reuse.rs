//! Codecs of zarr-codecs-core under the names of numcodecs. Only their configurations differ.

use zarr_traits::codec::{Codec, Repr};
use zarr_traits::extension::{Configuration, Context, Entry};
use zarr_traits::json::{Object, Value};
use zarr_traits::{CodecError, CodecResult};

/// Builds the codec of `entry` with these members as configuration.
pub(crate) fn codec(
    entry: &Entry,
    members: impl IntoIterator<Item = (&'static str, Value)>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let members: Object = members.into_iter().collect();
    match entry {
        Entry::Codec(entry) => entry.build(&mut Configuration::new(&members), repr, context),
        _ => Err(CodecError::configuration("the entry is not a codec")),
    }
}
