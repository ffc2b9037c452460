//! `numcodecs:pickle`: always refused when an array is opened.
//!
//! Reading a pickle runs a program that is in the data. If you trust the data, read them with Python and write the
//! array again with `vlen-utf8` or `json2`.

use zarr_traits::codec::CodecKind;
use zarr_traits::extension::{CodecEntry, Entry};
use zarr_traits::{CodecError, CodecErrorKind};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:pickle",
    CodecKind::ArrayBytes,
    |_, _, _| {
        let message = "pickles are never read, because they can run any program; write the array again with Python, \
                       with vlen-utf8 or json2 in place of pickle";
        Err(CodecError::new(CodecErrorKind::Unsupported, message))
    },
));
