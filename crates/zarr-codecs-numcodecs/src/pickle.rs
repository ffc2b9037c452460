//! `numcodecs:pickle`: refused when an array is opened, always. Checklist L105.
//!
//! A pickle is a program, and reading it is running it. Whoever trusts one can read it with Python and write the array
//! anew, with `vlen-utf8` or `json2` in place of `pickle`.

use zarr_traits::{
    CodecError, CodecErrorKind, Entry,
    codec::{CodecEntry, CodecKind},
};

/// The row of this codec in a registry.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs:pickle", CodecKind::ArrayBytes, |_, _, _| {
        let message = "pickles are never read: they can run any program; write the array anew with Python, \
                       with vlen-utf8 or json2 in place of pickle";
        Err(CodecError::new(CodecErrorKind::Unsupported, message))
    }));
