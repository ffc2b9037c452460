//! The content of shards: the configuration of the codec `sharding_indexed`.
//!
//! A shard is a chunk of the array's grid that is divided into inner chunks, each encoded by its own codecs; an inner
//! chunk may be a shard again. [`Sharding`] is one such level, [`inner_chunk_shapes`] and [`inner_codecs`] cover all of
//! them.
//!
//! The rules are in [sharding](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/sharding.md#configuration).

use zarr_traits::Limits;

use super::extension::{Extension, extensions};
use super::members::{lengths, required};
use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaResult};
use crate::json::Value;
use crate::names::{Role, SHARDING, role};

/// The configuration of a codec `sharding_indexed`.
///
/// ```
/// use zarr_meta::v3::{Extension, sharding::Sharding};
///
/// let codec = Sharding::new([100, 100], vec![Extension::new("bytes")]).to_extension();
/// let sharding = Sharding::parse(&codec)?.unwrap();
/// assert_eq!((&*sharding.chunk_shape, sharding.codecs[0].name()), (&[100, 100][..], "bytes"));
/// assert_eq!(Sharding::parse(&Extension::new("gzip"))?, None);
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharding {
    /// The shape of an inner chunk, in the dimensions of the array that reaches this codec.
    pub chunk_shape: Vec<u64>,
    /// The codecs of an inner chunk.
    pub codecs: Vec<Extension>,
    /// The codecs of the index.
    pub index_codecs: Vec<Extension>,
    /// The place of the index in the shard.
    pub index_location: IndexLocation,
}

/// The place of the index in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IndexLocation {
    /// Before the inner chunks.
    Start,
    /// After the inner chunks.
    #[default]
    End,
}

impl Sharding {
    /// The name of the codec.
    pub const NAME: &str = SHARDING;

    /// Returns shards in the form that every implementation reads: a little-endian index with a checksum, at the end.
    pub fn new(chunk_shape: impl Into<Vec<u64>>, codecs: Vec<Extension>) -> Self {
        let index_codecs = vec![Extension::new("bytes").with("endian", "little"), Extension::new("crc32c")];
        Self { chunk_shape: chunk_shape.into(), codecs, index_codecs, index_location: IndexLocation::End }
    }

    /// Reads the configuration of `codec`, or returns `None` for another codec.
    ///
    /// # Errors
    /// If a member is missing or of the wrong kind, with its place in `codec`.
    pub fn parse(codec: &Extension) -> MetaResult<Option<Self>> {
        if codec.name() != Self::NAME {
            return Ok(None);
        }
        Self::read(codec).map(Some).map_err(|e| e.at("/configuration"))
    }

    fn read(codec: &Extension) -> MetaResult<Self> {
        let (members, limits) = (codec.configuration(), Limits::unlimited());
        let list = |place| extensions(&required(&members, place)?, place, &limits, &mut Ignore);
        let chunk_shape = required(&members, "/chunk_shape")?;
        let index_location = match members.get("index_location") {
            None => IndexLocation::default(),
            Some(location) => match &*location.to_text().map_err(|e| e.at("/index_location"))? {
                "start" => IndexLocation::Start,
                "end" => IndexLocation::End,
                other => {
                    let message = format!("expected \"start\" or \"end\", found {other:?}");
                    return Err(MetaError::invalid(message).at("/index_location"));
                }
            },
        };
        Ok(Self {
            chunk_shape: lengths(&chunk_shape, "/chunk_shape", limits.rank, &mut Ignore)?,
            codecs: list("/codecs")?,
            index_codecs: list("/index_codecs")?,
            index_location,
        })
    }

    /// Returns the codec with all members.
    pub fn to_extension(&self) -> Extension {
        let location = match self.index_location {
            IndexLocation::Start => "start",
            IndexLocation::End => "end",
        };
        Extension::new(Self::NAME)
            .with("chunk_shape", self.chunk_shape.iter().copied().collect::<Value>())
            .with("codecs", self.codecs.clone())
            .with("index_codecs", self.index_codecs.clone())
            .with("index_location", location)
    }
}

/// Returns the shapes of inner chunks in the dimensions of the array, from the outermost to the innermost; empty if
/// `codecs` do not shard.
///
/// Returns `None` if the shapes are unknown: a configuration is invalid, or a codec before the shards changes the shape
/// in an unknown way.
pub fn inner_chunk_shapes(codecs: &[Extension]) -> Option<Vec<Vec<u64>>> {
    let Some(at) = codecs.iter().position(|codec| codec.name() == Sharding::NAME) else {
        return Some(Vec::new());
    };
    let sharding = Sharding::parse(&codecs[at]).ok()??;
    let mut shapes = vec![sharding.chunk_shape];
    shapes.extend(inner_chunk_shapes(&sharding.codecs)?);
    for codec in codecs[..at].iter().rev() {
        shapes = shapes.iter().map(|shape| before(codec, shape)).collect::<Option<_>>()?;
    }
    Some(shapes)
}

/// Returns the codecs of the innermost chunks, with those around the shards; `codecs` themselves if they do not shard.
/// An array with these codecs, in chunks of the innermost shape, stores the same elements without shards.
pub fn inner_codecs(codecs: &[Extension]) -> Vec<Extension> {
    let inner = |codec: &Extension| match Sharding::parse(codec) {
        Ok(Some(sharding)) => inner_codecs(&sharding.codecs),
        _ => vec![codec.clone()],
    };
    codecs.iter().flat_map(inner).collect()
}

/// Returns the shape that `codec` turns into `shape`.
fn before(codec: &Extension, shape: &[u64]) -> Option<Vec<u64>> {
    match codec.name() {
        "transpose" => {
            let mut before = vec![None; shape.len()];
            for (length, dim) in shape.iter().zip(order(codec, shape.len())?) {
                *before.get_mut(dim)? = Some(*length);
            }
            before.into_iter().collect()
        }
        "reshape" | "squeeze" => None,
        name => (role(name) == Some(Role::ArrayArray)).then(|| shape.to_vec()),
    }
}

/// Returns the order of a transpose. Drafts of the specification had "C" and "F".
fn order(codec: &Extension, rank: usize) -> Option<Vec<usize>> {
    let order = codec.configuration().get("order")?;
    if let Ok(text) = order.to_text() {
        return match &*text {
            "C" => Some((0..rank).collect()),
            "F" => Some((0..rank).rev().collect()),
            _ => None,
        };
    }
    let dims = lengths(&order, "", rank, &mut Ignore).ok()?;
    dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec(json: &str) -> Extension {
        Extension::parse(&Value::parse(json).unwrap(), &mut Ignore).unwrap()
    }

    fn transpose(order: &str) -> Extension {
        codec(&format!(r#"{{"name":"transpose","configuration":{{"order":{order}}}}}"#))
    }

    fn shards(chunk_shape: &[u64], codecs: Vec<Extension>) -> Extension {
        Sharding::new(chunk_shape, codecs).to_extension()
    }

    #[test]
    fn a_configuration_is_read_as_it_was_written() {
        let mut sharding = Sharding::new([2, 3], vec![codec("\"bytes\""), codec("\"gzip\"")]);
        for location in [IndexLocation::Start, IndexLocation::End] {
            sharding.index_location = location;
            assert_eq!(Sharding::parse(&sharding.to_extension()).unwrap(), Some(sharding.clone()));
        }
        // The end is the default (rule D7.1).
        let text = r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[2.0],"codecs":[],"index_codecs":[]}}"#;
        let read = Sharding::parse(&codec(text)).unwrap().unwrap();
        assert_eq!((read.chunk_shape, read.index_location), (vec![2], IndexLocation::End));
    }

    #[test]
    fn errors_name_the_missing_or_wrong_member() {
        for (members, place) in [
            (r#""codecs":[],"index_codecs":[]"#, "/configuration/chunk_shape"),
            (r#""chunk_shape":[-1],"codecs":[],"index_codecs":[]"#, "/configuration/chunk_shape/0"),
            (r#""chunk_shape":[1],"index_codecs":[]"#, "/configuration/codecs"),
            (r#""chunk_shape":[1],"codecs":[7],"index_codecs":[]"#, "/configuration/codecs/0"),
            (r#""chunk_shape":[1],"codecs":[]"#, "/configuration/index_codecs"),
            (
                r#""chunk_shape":[1],"codecs":[],"index_codecs":[],"index_location":"middle""#,
                "/configuration/index_location",
            ),
        ] {
            let codec = codec(&format!(r#"{{"name":"sharding_indexed","configuration":{{{members}}}}}"#));
            assert_eq!(Sharding::parse(&codec).unwrap_err().pointer(), place);
            assert_eq!(inner_chunk_shapes(&[codec]), None);
        }
    }

    #[test]
    fn inner_chunk_shapes_are_in_the_dimensions_of_the_array() {
        let bytes = || vec![Extension::new("bytes")];
        assert_eq!(inner_chunk_shapes(&bytes()), Some(vec![]));
        assert_eq!(inner_chunk_shapes(&[shards(&[2, 3], bytes())]), Some(vec![vec![2, 3]]));
        let nested = shards(&[4, 6, 8], vec![transpose("[2,0,1]"), shards(&[1, 2, 3], bytes())]);
        assert_eq!(
            inner_chunk_shapes(std::slice::from_ref(&nested)),
            Some(vec![vec![4, 6, 8], vec![2, 3, 1]])
        );
        assert_eq!(
            inner_chunk_shapes(&[transpose("\"F\""), nested.clone()]),
            Some(vec![vec![8, 6, 4], vec![1, 3, 2]])
        );
        for (order, shape) in
            [("[0,0,1]", None), ("[0,1]", None), ("[0,1,3]", None), ("\"C\"", Some(vec![5; 3]))]
        {
            let codecs = [transpose(order), shards(&[5; 3], bytes())];
            assert_eq!(inner_chunk_shapes(&codecs), shape.map(|shape| vec![shape]), "{order}");
        }
        let known = |name| inner_chunk_shapes(&[Extension::new(name), shards(&[5], bytes())]).is_some();
        assert_eq!(["cast_value", "reshape", "of-next-year"].map(known), [true, false, false]);
    }

    #[test]
    fn codecs_around_and_inside_of_shards_follow_each_other() {
        let inside = vec![Extension::new("bytes"), Extension::new("zstd")];
        let codecs = [transpose("[0]"), shards(&[2], vec![shards(&[1], inside)]), Extension::new("crc32c")];
        let names: Vec<String> = inner_codecs(&codecs).iter().map(|c| c.name().to_owned()).collect();
        assert_eq!(names, ["transpose", "bytes", "zstd", "crc32c"]);
    }
}
