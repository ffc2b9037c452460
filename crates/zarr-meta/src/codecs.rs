//! Codecs by names and configurations alone: codecs for new arrays, the form to write in a document, which codecs lose
//! information, and which codecs every reader has.
//!
//! Readers do not use this module: the registry of the caller decides for them.

mod element;
mod loss;
mod new;
mod portable;
mod written;

pub(crate) use element::Element;
pub use loss::lossy;
pub use new::{big_endian, blosc, crc32c, gzip, transpose, zstd};
pub use portable::{portable, rare};
pub(crate) use written::full;
pub use written::written;

use crate::v3::Extension;
use crate::v3::sharding::Sharding;

/// Returns the configuration of a sharding codec, or `None` for another or an invalid one.
fn inside(codec: &Extension) -> Option<Sharding> {
    Sharding::parse(codec).ok().flatten()
}

/// Returns the names of the codecs for which `is` returns true, including those inside of shards, without repetition.
fn names(codecs: &[Extension], is: fn(&Extension) -> bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for codec in codecs {
        let found = match inside(codec) {
            Some(shards) => names(&[shards.codecs, shards.index_codecs].concat(), is),
            None if is(codec) => vec![codec.name().to_owned()],
            None => Vec::new(),
        };
        for name in found {
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all
}
