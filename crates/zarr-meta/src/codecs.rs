//! Lists of codecs, judged by names and configurations alone: the form in which a document has them, what they lose, and
//! which of them every reader has.
//!
//! Reading does not look here: there the registry of the caller decides.

pub(crate) mod complete;
mod element;
mod loss;
mod portable;
mod written;

pub(crate) use element::Element;
pub use loss::lossy;
pub use portable::{portable, rare};
pub(crate) use written::full;
pub use written::written;

use crate::v3::Extension;
use crate::v3::sharding::Sharding;

/// What `codec` says, if it is one of shards and says it right.
fn inside(codec: &Extension) -> Option<Sharding> {
    Sharding::parse(codec).ok().flatten()
}

/// The names of those of `codecs` that are meant by `is`, inside of shards as well, each once.
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
