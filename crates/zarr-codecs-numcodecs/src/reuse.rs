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

/// Defines `ENTRY` and `ENTRY_IN_RUST` of a module: the codec of a module of zarr-codecs-core under another name. The function
/// `build` of the module gets the entry of that codec.
macro_rules! reused {
    ($name:literal, $codec:ident) => {
        /// The row of this codec in a registry.
        pub const ENTRY: Entry =
            Entry::Codec(CodecEntry::new($name, CodecKind::BytesBytes, |configuration, repr, context| {
                build(&$codec::ENTRY, configuration, repr, context)
            }));

        /// The row of this codec without C code, whatever other features are on.
        #[cfg(feature = "pure-decode")]
        pub const ENTRY_IN_RUST: Entry =
            Entry::Codec(CodecEntry::new($name, CodecKind::BytesBytes, |configuration, repr, context| {
                build(&$codec::ENTRY_IN_RUST, configuration, repr, context)
            }));
    };
}
pub(crate) use reused;
