//! What is inside of a shard: the configuration of the codec `sharding_indexed` (checklist D.7).
//!
//! A shard is a chunk of the array's grid that is itself cut into chunks, each encoded by codecs of their own; these may
//! be shards once more. [`Sharding`] is one level of that, [`inner_chunk_shapes`] and [`inner_codecs`] are all of them.

use zarr_traits::Limits;

use super::Extension;
use super::array::extensions;
use super::node::{lengths, required};
use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaResult};
use crate::json::Value;
use crate::names::{Role, role};

/// What a codec `sharding_indexed` says.
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
    /// The shape of an inner chunk, in the dimensions that reach this codec.
    pub chunk_shape: Vec<u64>,
    /// The codecs of an inner chunk.
    pub codecs: Vec<Extension>,
    /// The codecs of the index.
    pub index_codecs: Vec<Extension>,
    /// Where in the shard the index lies.
    pub index_location: IndexLocation,
}

/// Where in a shard its index lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexLocation {
    /// In front of the inner chunks.
    Start,
    /// Behind them.
    #[default]
    End,
}

impl Sharding {
    /// The name of the codec.
    pub const NAME: &str = "sharding_indexed";

    /// Shards in the form that every implementation reads: a little-endian index with a checksum, at the end (checklist
    /// L40).
    pub fn new(chunk_shape: impl Into<Vec<u64>>, codecs: Vec<Extension>) -> Self {
        let index_codecs = vec![Extension::new("bytes").with("endian", "little"), Extension::new("crc32c")];
        Self { chunk_shape: chunk_shape.into(), codecs, index_codecs, index_location: IndexLocation::End }
    }

    /// Reads the configuration of `codec`; `None` when that is another codec.
    ///
    /// # Errors
    /// When a member is missing or of the wrong kind (checklist D7.1), with its place in `codec`.
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

    /// The codec, with all members.
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

/// The shapes of the chunks inside of shards, from the outermost in, in the dimensions of the array; none where `codecs`
/// do not shard.
///
/// `None` when they cannot be told: a configuration is wrong, or a codec in front of the shards changes the shape in a
/// way that is not known here.
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

/// The codecs of the chunks inside of shards, however deep, with those around the shards; `codecs` themselves where they
/// do not shard. An array of these codecs, in chunks of the innermost shape, holds the same without shards.
pub fn inner_codecs(codecs: &[Extension]) -> Vec<Extension> {
    let inner = |codec: &Extension| match Sharding::parse(codec) {
        Ok(Some(sharding)) => inner_codecs(&sharding.codecs),
        _ => vec![codec.clone()],
    };
    codecs.iter().flat_map(inner).collect()
}

/// The shape that `codec` turns into `shape`.
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

/// The order of a transpose; drafts had "C" and "F".
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
        // D7.1: the end is the default.
        let text = r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[2.0],"codecs":[],"index_codecs":[]}}"#;
        let read = Sharding::parse(&codec(text)).unwrap().unwrap();
        assert_eq!((read.chunk_shape, read.index_location), (vec![2], IndexLocation::End));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
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
    fn shapes_are_those_of_the_array() {
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
