//! The names of hidden directories beside a destination.

use std::path::Path;

/// The largest part of the destination's name, in bytes, that the hidden directory keeps. The hidden name must stay
/// legal.
const STEM: usize = 100;

/// Returns the part of a destination's name that hidden directories beside it have.
pub(super) fn stem(destination: &Path) -> String {
    let name = destination.file_name().unwrap_or_default().to_string_lossy();
    name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= STEM).map(|(_, c)| c).collect()
}
