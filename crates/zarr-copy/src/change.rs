//! The changes that the settings of a copy ask for, and the resulting layout of an array.

use std::str::FromStr;

use zarr_array::meta::codecs::written;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::{Sharding, inner_chunk_shapes, inner_codecs};
use zarr_array::meta::{Format, Members2};
use zarr_array::{Array, Registry};

use crate::codecs::Codecs;
use crate::error::{CopyError, CopyResult};
use crate::lengths::Lengths;

/// The differences between the copy and the source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Change {
    /// The format of all nodes; `None` keeps the format of each.
    pub(crate) format: Option<Format>,
    pub(crate) codecs: Option<Codecs>,
    pub(crate) chunks: Option<Lengths>,
    pub(crate) shards: Option<Shards>,
}

/// The shards of a copy. As text `none`, or [`Lengths`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shards {
    /// Every chunk is an object.
    None,
    /// Objects that hold several chunks: a multiple of the lengths of chunks.
    Of(Lengths),
}

/// The way in which the elements of a copy are stored.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The chunks; `None` keeps the grid of the source.
    pub(crate) chunks: Option<Lengths>,
    /// The shards around the chunks, if any.
    pub(crate) shards: Option<Lengths>,
    pub(crate) codecs: Vec<Extension>,
    /// The members of format 2 that the codecs mean, where a document of format 2 is changed.
    pub(crate) old: Members2,
}

impl Layout {
    /// Returns the members of a document of format 2. `fill_value` replaces the fill value if given.
    pub(crate) fn members2(&self, fill_value: Option<Value>) -> CopyResult<Members2> {
        let chunks = match &self.chunks {
            Some(Lengths::Uneven(_)) => {
                return Err(CopyError::unsupported("in format 2 all chunks must have the same shape"));
            }
            chunks => chunks.as_ref().and_then(Lengths::shape).map(<[u64]>::to_vec),
        };
        let mut members = self.old.clone();
        (members.chunks, members.fill_value) = (chunks, fill_value);
        Ok(members)
    }
}

impl Change {
    /// Returns which shape the user gave, of chunks or shards, and its rank. Both have the same rank.
    pub(crate) fn shape(&self) -> Option<(&'static str, usize)> {
        match (&self.chunks, &self.shards) {
            (Some(chunks), _) => Some(("chunk", chunks.rank())),
            (None, Some(Shards::Of(shards))) => Some(("shard", shards.rank())),
            _ => None,
        }
    }

    /// Whether a setting changes codecs, chunks or shards.
    pub(crate) fn is_any(&self) -> bool {
        self.codecs.is_some() || self.chunks.is_some() || self.shards.is_some()
    }

    /// Returns the format of the copy of a node of format `source`. Format 1 becomes format 3.
    pub(crate) fn format_of(&self, source: Format) -> Format {
        self.format.unwrap_or(if source == Format::V1 { Format::V3 } else { source })
    }

    /// Returns the layout of the copy of `source`. An array of another rank keeps its shapes.
    ///
    /// `chunks` and `codecs` mean the inner chunks of an array with shards. If one of them is given, the copy has
    /// shards only if `shards` is given. Format 2 has no shards.
    pub(crate) fn layout(&self, source: &Array, registry: &Registry) -> CopyResult<Layout> {
        let codecs = source.metadata().document().codecs();
        let to_old = self.format_of(source.metadata().format()) == Format::V2;
        let fits = |lengths: &&Lengths| lengths.rank() == source.shape().len();
        let chunks = self.chunks.as_ref().filter(fits).cloned();
        let shards = match &self.shards {
            Some(Shards::Of(_)) if to_old => return Err(CopyError::settings("format 2 has no shards")),
            Some(Shards::Of(lengths)) => Some(lengths).filter(fits).cloned(),
            _ => None,
        };
        let (given, old) = match &self.codecs {
            None => (None, Members2::default()),
            Some(Codecs::List(codecs)) if to_old && source.metadata().format() == Format::V2 => {
                let full = written(codecs, source.data_type(), source.shape().len(), registry);
                let members = source.metadata().members2_of(&full);
                (Some(codecs.clone()), members.map_err(|e| CopyError::settings(format!("`codecs`: {e:#}")))?)
            }
            Some(Codecs::List(codecs)) => (Some(codecs.clone()), Members2::default()),
            // The members of format 2 replace the codecs.
            Some(Codecs::Old(old)) if to_old => (Some(Vec::new()), old.clone()),
            Some(Codecs::Old(_)) => {
                let message = "`codecs`: format 3 needs a list of codecs, found an object of format 2";
                return Err(CopyError::settings(message));
            }
        };
        let unsharded = self.shards == Some(Shards::None) || to_old;
        if given.is_none() && chunks.is_none() && shards.is_none() && !unsharded {
            return Ok(Layout { chunks: grid_shape(source), shards: None, codecs: codecs.to_vec(), old });
        }
        // A list with its own sharding codec belongs to the chunks of the grid.
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

    /// Whether the copy of `source` has no shards although the user did not ask for that.
    pub(crate) fn loses_shards(&self, source: &Array, layout: &Layout) -> bool {
        self.shards != Some(Shards::None)
            && self.format_of(source.metadata().format()) == Format::V3
            && has_shards(source.metadata().document().codecs())
            && !(layout.shards.is_some() || has_shards(&layout.codecs))
    }
}

/// Checks that the chunks of the source fit into shards that are given without chunks.
fn check_kept(chunks: Option<&Lengths>, shards: &Lengths) -> CopyResult<()> {
    let Some(chunks) = chunks.and_then(Lengths::shape) else {
        return Err(CopyError::settings(
            "its chunks have several shapes; give one shape for the inner chunks with `chunks`",
        ));
    };
    // Lists of lengths are checked when the metadata is built.
    let Some(shards) = shards.shape() else { return Ok(()) };
    if shards.iter().zip(chunks).all(|(shard, chunk)| shard % chunk == 0) {
        return Ok(());
    }
    let message = format!(
        "shards of {shards:?} are not a multiple of its chunks of {chunks:?}; give other chunks with `chunks`"
    );
    Err(CopyError::settings(message))
}

/// Returns the shape of the innermost chunks.
pub(crate) fn inner_shape(source: &Array) -> CopyResult<Option<Lengths>> {
    match inner_chunk_shapes(source.metadata().document().codecs()) {
        Some(mut shapes) => Ok(shapes.pop().map(Lengths::Shape).or_else(|| grid_shape(source))),
        None => Err(CopyError::settings("the shape of its inner chunks is unknown; give one with `chunks`")),
    }
}

/// Returns the shape of the chunks of a regular grid.
fn grid_shape(source: &Array) -> Option<Lengths> {
    if source.metadata().document().chunk_grid().name() != "regular" {
        return None;
    }
    let grid = source.chunk_grid();
    (0..grid.rank()).map(|dim| grid.lengths(dim).pop()).collect::<Option<_>>().map(Lengths::Shape)
}

/// Returns the chunks of the grid.
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
