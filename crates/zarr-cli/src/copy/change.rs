//! What the options of a copy change, and how the elements of an array are stored by that.

use std::str::FromStr;

use zarr_array::blocking::Array;
use zarr_array::meta::Format;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::{Sharding, inner_chunk_shapes, inner_codecs};

use super::codecs::{Codecs, OldCodecs};
use crate::exit::Failure;

/// What the copy shall have that the source has not.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The format of all nodes; `None`: that which each has.
    pub(crate) format: Option<Format>,
    pub(crate) codecs: Option<Codecs>,
    pub(crate) chunks: Option<Lengths>,
    pub(crate) shards: Option<Shards>,
}

/// Lengths above 0, one a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths(pub(crate) Vec<u64>);

/// The argument of `--shards`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shards {
    None,
    Of(Lengths),
}

/// How the elements of a copy are stored.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The shape of the chunks; `None`: the grid of the source.
    pub(crate) chunks: Option<Vec<u64>>,
    /// The shape of the shards that chunks and codecs are inside of.
    pub(crate) shards: Option<Vec<u64>>,
    pub(crate) codecs: Vec<Extension>,
    /// The encoding that format 2 shall have, where it is said in its terms.
    pub(crate) old: Option<OldCodecs>,
}

impl Change {
    /// What the user has given a shape of, and its rank; chunks and shards are of one rank.
    pub(crate) fn shape(&self) -> Option<(&'static str, usize)> {
        match (&self.chunks, &self.shards) {
            (Some(chunks), _) => Some(("chunk", chunks.0.len())),
            (None, Some(Shards::Of(shards))) => Some(("shard", shards.0.len())),
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
        let fits = |lengths: &&Lengths| lengths.0.len() == source.shape().len();
        let chunks = self.chunks.as_ref().filter(fits).map(|lengths| lengths.0.clone());
        let shards = match &self.shards {
            Some(Shards::Of(_)) if to_old => return Err(Failure::usage("format 2 has no shards")),
            Some(Shards::Of(lengths)) => Some(lengths).filter(fits).map(|lengths| lengths.0.clone()),
            _ => None,
        };
        let (given, old) = match &self.codecs {
            None => (None, None),
            Some(Codecs::List(codecs)) => (Some(codecs.clone()), None),
            // What is said in the terms of format 2 comes on top of elements as they are.
            Some(Codecs::Old(old)) if to_old => (Some(Vec::new()), Some(old.clone())),
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
            check_kept(chunks.as_deref(), shards)?;
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
fn check_kept(chunks: Option<&[u64]>, shards: &[u64]) -> Result<(), Failure> {
    let Some(chunks) = chunks else {
        return Err(Failure::usage(
            "its chunks are of several shapes, give one for those in shards with --chunks",
        ));
    };
    if shards.iter().zip(chunks).all(|(shard, chunk)| shard % chunk == 0) {
        return Ok(());
    }
    let message = format!(
        "shards of {shards:?} are no multiple of its chunks of {chunks:?}, give others with --chunks"
    );
    Err(Failure::usage(message))
}

/// The shape of the chunks that codecs work on.
fn inner_shape(source: &Array) -> Result<Option<Vec<u64>>, Failure> {
    match inner_chunk_shapes(source.metadata().document().codecs()) {
        Some(mut shapes) => Ok(shapes.pop().or_else(|| grid_shape(source))),
        None => Err(Failure::usage(
            "the shape of the chunks inside of its shards is not known, give one with --chunks",
        )),
    }
}

/// The shape of a chunk of the grid, where all have the same.
fn grid_shape(source: &Array) -> Option<Vec<u64>> {
    if source.metadata().document().chunk_grid().name() != "regular" {
        return None;
    }
    let grid = source.chunk_grid();
    (0..grid.rank()).map(|dim| grid.lengths(dim).first().copied()).collect()
}

fn has_shards(codecs: &[Extension]) -> bool {
    codecs.iter().any(|codec| codec.name() == Sharding::NAME)
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let length = |part: &str| match part.trim().parse() {
            Ok(n @ 1..) => Ok(n),
            _ => Err(format!("{part:?} is no length above 0")),
        };
        text.split(',').map(length).collect::<Result<_, _>>().map(Self)
    }
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
    fn lengths_are_above_zero() {
        assert_eq!("1, 20".parse(), Ok(Lengths(vec![1, 20])));
        assert_eq!("".parse(), Ok(Lengths(vec![])));
        assert_eq!("none".parse(), Ok(Shards::None));
        assert_eq!("6,8".parse(), Ok(Shards::Of(Lengths(vec![6, 8]))));
        for bad in ["0", "-1", "a", "1,", "1.0", "18446744073709551616"] {
            assert!(bad.parse::<Lengths>().is_err() && bad.parse::<Shards>().is_err(), "{bad}");
        }
    }
}
