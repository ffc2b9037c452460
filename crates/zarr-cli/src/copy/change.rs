//! What the options of a copy change, and how the elements of an array are stored by that.

use std::str::FromStr;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::{Sharding, inner_chunk_shapes, inner_codecs};
use zarr_array::meta::{Format, Members2};

use super::codecs::Codecs;
use crate::exit::Failure;
use crate::lengths::{Lengths, only_shape};

/// What the copy shall have that the source has not.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The format of all nodes; `None`: that which each has.
    pub(crate) format: Option<Format>,
    pub(crate) codecs: Option<Codecs>,
    pub(crate) chunks: Option<Lengths>,
    pub(crate) shards: Option<Shards>,
}

/// The argument of `--shards`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shards {
    None,
    Of(Lengths),
}

/// How the elements of a copy are stored.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The chunks; `None`: the grid of the source.
    pub(crate) chunks: Option<Lengths>,
    /// The shards that chunks and codecs are inside of.
    pub(crate) shards: Option<Lengths>,
    pub(crate) codecs: Vec<Extension>,
    /// Filters and compressor that format 2 shall have, where they are said in its terms.
    pub(crate) old: Members2,
}

impl Layout {
    /// What of it stands in a document of format 2, and the fill value if it is another one.
    pub(crate) fn members2(&self, fill_value: Option<Value>) -> Result<Members2, Failure> {
        let chunks = match &self.chunks {
            Some(Lengths::Uneven(_)) => {
                return Err(Failure::unsupported("in format 2 all chunks have one shape"));
            }
            chunks => chunks.as_ref().and_then(Lengths::shape).map(<[u64]>::to_vec),
        };
        Ok(Members2 { chunks, fill_value, ..self.old.clone() })
    }
}

impl Change {
    /// What the user has given a shape of, and its rank; chunks and shards are of one rank.
    pub(crate) fn shape(&self) -> Option<(&'static str, usize)> {
        match (&self.chunks, &self.shards) {
            (Some(chunks), _) => Some(("chunk", chunks.rank())),
            (None, Some(Shards::Of(shards))) => Some(("shard", shards.rank())),
            _ => None,
        }
    }

    /// Whether there is an option at all.
    pub(crate) fn is_any(&self) -> bool {
        self.codecs.is_some() || self.chunks.is_some() || self.shards.is_some()
    }

    /// The format of the copy of a node of a format: a format that is only read becomes the newest.
    pub(crate) fn format_of(&self, source: Format) -> Format {
        self.format.unwrap_or(if source == Format::V1 { Format::V3 } else { source })
    }

    /// The layout of the copy of `source`. An array of another rank keeps its shapes.
    ///
    /// Chunks and codecs are those that work on elements: inside of shards, where there are any. Whoever changes one of
    /// them says how the copy is stored, so that it has shards if and only if they are asked for. Format 2 has none.
    pub(crate) fn layout(&self, source: &Array) -> Result<Layout, Failure> {
        let codecs = source.metadata().document().codecs();
        let to_old = self.format_of(source.metadata().format()) == Format::V2;
        let fits = |lengths: &&Lengths| lengths.rank() == source.shape().len();
        let chunks = self.chunks.as_ref().filter(fits).cloned();
        let shards = match &self.shards {
            Some(Shards::Of(_)) if to_old => return Err(Failure::usage("format 2 has no shards")),
            Some(Shards::Of(lengths)) => Some(lengths).filter(fits).cloned(),
            _ => None,
        };
        let (given, old) = match &self.codecs {
            None => (None, Members2::default()),
            Some(Codecs::List(codecs)) => (Some(codecs.clone()), Members2::default()),
            // What is said in the terms of format 2 comes on top of elements as they are.
            Some(Codecs::Old(old)) if to_old => (Some(Vec::new()), old.clone()),
            Some(Codecs::Old(_)) => {
                let message = "--codecs: codecs of format 3 are a list, this is an object of format 2";
                return Err(Failure::usage(message));
            }
        };
        let unsharded = self.shards == Some(Shards::None) || to_old;
        if given.is_none() && chunks.is_none() && shards.is_none() && !unsharded {
            return Ok(Layout { chunks: grid_shape(source), shards: None, codecs: codecs.to_vec(), old });
        }
        // Codecs with shards of their own are those of the whole grid.
        let chunks = match chunks {
            None if shards.is_none() && given.as_deref().is_some_and(has_shards) => grid_shape(source),
            None => inner_shape(source)?,
            chunks => chunks,
        };
        if let (None, Some(shards)) = (&self.chunks, &shards) {
            check_kept(chunks.as_ref(), shards)?;
        }
        Ok(Layout { chunks, shards, codecs: given.unwrap_or_else(|| inner_codecs(codecs)), old })
    }

    /// Whether the copy of `source` has lost its shards without the user saying so.
    pub(crate) fn loses_shards(&self, source: &Array, layout: &Layout) -> bool {
        self.shards != Some(Shards::None)
            && self.format_of(source.metadata().format()) == Format::V3
            && has_shards(source.metadata().document().codecs())
            && !(layout.shards.is_some() || has_shards(&layout.codecs))
    }
}

/// The chunks of the source must fit into shards that are given without chunks.
fn check_kept(chunks: Option<&Lengths>, shards: &Lengths) -> Result<(), Failure> {
    let Some(chunks) = chunks.and_then(Lengths::shape) else {
        return Err(Failure::usage(
            "its chunks are of several shapes, give one for those in shards with --chunks",
        ));
    };
    // Shards that differ are looked at one by one where the metadata is made.
    let Some(shards) = shards.shape() else { return Ok(()) };
    if shards.iter().zip(chunks).all(|(shard, chunk)| shard % chunk == 0) {
        return Ok(());
    }
    let message = format!(
        "shards of {shards:?} are no multiple of its chunks of {chunks:?}, give others with --chunks"
    );
    Err(Failure::usage(message))
}

/// The shape of the chunks that codecs work on.
fn inner_shape(source: &Array) -> Result<Option<Lengths>, Failure> {
    match inner_chunk_shapes(source.metadata().document().codecs()) {
        Some(mut shapes) => Ok(shapes.pop().map(Lengths::Shape).or_else(|| grid_shape(source))),
        None => Err(Failure::usage(
            "the shape of the chunks inside of its shards is not known, give one with --chunks",
        )),
    }
}

/// The shape of the chunks of the grid, where all have the same.
fn grid_shape(source: &Array) -> Option<Lengths> {
    if source.metadata().document().chunk_grid().name() != "regular" {
        return None;
    }
    only_shape(source.chunk_grid(), source.shape()).map(Lengths::Shape)
}

/// The chunks of the grid, as they are given on the command line.
pub(crate) fn given(source: &Array) -> Option<Lengths> {
    let lists = || source.metadata().document().chunk_grid().configuration().get("chunk_shapes");
    grid_shape(source).or_else(|| Some(Lengths::Uneven(lists()?.elements()?.collect())))
}

fn has_shards(codecs: &[Extension]) -> bool {
    codecs.iter().any(|codec| codec.name() == Sharding::NAME)
}

impl FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" { Ok(Self::None) } else { text.parse().map(Self::Of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_lengths_or_none() {
        assert_eq!("none".parse(), Ok(Shards::None));
        assert_eq!("6,8".parse(), Ok(Shards::Of(Lengths::Shape(vec![6, 8]))));
        assert!("no".parse::<Shards>().is_err());
    }
}
