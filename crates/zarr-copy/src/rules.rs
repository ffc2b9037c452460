//! The changes per array: settings for all arrays, and rules for arrays whose path matches.

use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use zarr_array::Array;
use zarr_array::meta::{Format, xarray};

use crate::change::{Change, Shards, inner_shape};
use crate::codecs::Codecs;
use crate::elements;
use crate::error::{CopyError, CopyResult};
use crate::lengths::Lengths;
use crate::size::Size;

/// A coordinate whose elements have fewer bytes than this keeps its chunks and codecs, unless a rule changes it.
const SMALL: u64 = 1 << 20;

/// The chunks of a copy. As text [`Lengths`], or by the names of dimensions: `time=24,lat=100`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkChoice {
    /// The length for each dimension.
    Lengths(Lengths),
    /// The lengths for dimensions of these names. Other dimensions keep their length.
    Named(Vec<(String, u64)>),
}

impl From<Lengths> for ChunkChoice {
    fn from(lengths: Lengths) -> Self {
        Self::Lengths(lengths)
    }
}

impl FromStr for ChunkChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('[') || !text.contains('=') {
            return text.parse().map(Self::Lengths);
        }
        let named = |part: &str| {
            let wrong = || format!("{part:?} is not the name of a dimension with a length, such as time=24");
            let (name, length) = part.split_once('=').ok_or_else(wrong)?;
            let length = length.trim().parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
            Ok((name.trim().to_owned(), length))
        };
        text.split(',').map(named).collect::<Result<_, String>>().map(Self::Named)
    }
}

/// Chunks, shards and codecs for arrays whose path below the source matches a pattern. As text
/// `pattern:chunks=…,shards=…,codecs=…`.
///
/// ```
/// use zarr_copy::{ChunkChoice, Rule};
/// let rule: Rule = "**/t2m:chunks=time=24,lat=10,codecs=zstd:5,crc32c".parse()?;
/// let named = vec![("time".to_owned(), 24), ("lat".to_owned(), 10)];
/// assert_eq!(rule, Rule::new("**/t2m").chunks(ChunkChoice::Named(named)).codecs("zstd:5,crc32c".parse()?));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rule {
    pattern: String,
    pub(crate) chunks: Option<ChunkChoice>,
    pub(crate) shards: Option<Shards>,
    pub(crate) codecs: Option<Codecs>,
}

impl Rule {
    /// Makes a rule that changes nothing. In the pattern `*` matches within a name, `**/` matches any groups.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), ..Self::default() }
    }

    /// Sets the chunks.
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<ChunkChoice>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }

    /// Sets the shards.
    #[must_use]
    pub fn shards(mut self, shards: Shards) -> Self {
        self.shards = Some(shards);
        self
    }

    /// Sets the codecs.
    #[must_use]
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = Some(codecs);
        self
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected `pattern:chunks=…,shards=…,codecs=…`";
        let (pattern, rest) = text.split_once(':').ok_or(FORM)?;
        let mut rule = Self::new(pattern);
        let mut starts: Vec<(usize, &str)> = ["chunks=", "shards=", "codecs="]
            .iter()
            .flat_map(|key| rest.match_indices(*key))
            .filter(|(at, _)| *at == 0 || rest[..*at].ends_with(','))
            .collect();
        starts.sort_unstable();
        if starts.first().is_none_or(|(at, _)| *at > 0) {
            return Err(format!("{FORM}, found {rest:?}"));
        }
        let ends = starts.iter().skip(1).map(|(at, _)| at - 1).chain([rest.len()]);
        for ((at, key), end) in starts.iter().zip(ends) {
            let value = &rest[at + key.len()..end];
            let is_first = match *key {
                "chunks=" => rule.chunks.replace(value.parse()?).is_none(),
                "shards=" => rule.shards.replace(value.parse()?).is_none(),
                _ => rule.codecs.replace(value.parse()?).is_none(),
            };
            if !is_first {
                return Err(format!("{key:?} stands twice in {text:?}"));
            }
        }
        Ok(rule)
    }
}

/// All that a copy changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// The format of all nodes; `None` keeps the format of each.
    pub(crate) format: Option<Format>,
    /// The changes of all arrays; the pattern of this rule is not used.
    pub(crate) all: Rule,
    /// The size of chunks of arrays whose chunks are not given.
    pub(crate) target: Option<Size>,
    pub(crate) rules: Vec<Rule>,
}

/// The rules with compiled patterns.
#[derive(Debug)]
pub(crate) struct Matchers<'a> {
    rules: &'a Rules,
    patterns: Vec<GlobMatcher>,
}

/// The changes of an array, with a note for the user.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) change: Change,
    pub(crate) note: Option<String>,
}

impl Rules {
    /// Returns the change of a node without elements.
    pub(crate) fn of_groups(&self) -> Change {
        Change { format: self.format, ..Change::default() }
    }

    pub(crate) fn matchers(&self) -> CopyResult<Matchers<'_>> {
        if let (Some(ChunkChoice::Lengths(chunks)), Some(Shards::Of(shards))) =
            (&self.all.chunks, &self.all.shards)
            && chunks.rank() != shards.rank()
        {
            let [chunks, shards] = [chunks.rank(), shards.rank()];
            return Err(CopyError::settings(format!(
                "`chunks` has rank {chunks}, but `shards` has rank {shards}"
            )));
        }
        let compiled = |rule: &Rule| {
            let glob = GlobBuilder::new(rule.pattern.trim_matches('/')).literal_separator(true).build();
            let glob = glob.map_err(|e| CopyError::settings(format!("`rule` {:?}: {e}", rule.pattern)))?;
            Ok(glob.compile_matcher())
        };
        let patterns = self.rules.iter().map(compiled).collect::<CopyResult<_>>()?;
        Ok(Matchers { rules: self, patterns })
    }

    /// Returns the names of dimensions that are given, each with the setting that names it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = self.all.chunks.iter().map(|chunks| ("chunks", chunks));
        let each = self.rules.iter().filter_map(|rule| Some(("rule", rule.chunks.as_ref()?)));
        all.chain(each).flat_map(|(setting, chunks)| {
            let named = if let ChunkChoice::Named(named) = chunks { named.as_slice() } else { &[] };
            named.iter().map(move |(name, _)| (setting, name.as_str()))
        })
    }

    /// Returns which shape is given for all arrays, of chunks or shards, and its rank.
    pub(crate) fn shape(&self) -> Option<(&'static str, usize)> {
        match (&self.all.chunks, &self.all.shards) {
            (Some(ChunkChoice::Lengths(chunks)), _) => Some(("chunk", chunks.rank())),
            (None, Some(Shards::Of(shards))) => Some(("shard", shards.rank())),
            _ => None,
        }
    }
}

impl Matchers<'_> {
    /// Returns what changes in an array at a place below the source. The first rule that matches counts; what it does
    /// not give is as for all arrays.
    pub(crate) fn change(&self, source: &Array, below: &str) -> CopyResult<Chosen> {
        let Rules { format, all, target, rules } = self.rules;
        let below = below.trim_end_matches('/');
        let at = self.patterns.iter().position(|pattern| pattern.is_match(below));
        let rule = at.and_then(|at| rules.get(at));
        let none = Rule::default();
        let keeps = rule.is_none() && !below.is_empty() && is_small_coordinate(source);
        let all = if keeps { &none } else { all };
        let target = target.filter(|_| !keeps);
        let first = rule.unwrap_or(&none);
        let mut change = Change {
            format: *format,
            codecs: first.codecs.clone().or_else(|| all.codecs.clone()),
            chunks: None,
            shards: first.shards.clone().or_else(|| all.shards.clone()),
        };
        change.chunks = match first.chunks.as_ref().or(all.chunks.as_ref()) {
            Some(ChunkChoice::Lengths(lengths)) => Some(lengths.clone()),
            Some(ChunkChoice::Named(named)) => by_name(source, named)?,
            None => target.map(|target| of_size(source, target)),
        };
        let given = &self.rules.all;
        let is_any = given.chunks.is_some() || given.shards.is_some() || given.codecs.is_some();
        let note = (keeps && (is_any || self.rules.target.is_some())).then(|| {
            let limit = Size(SMALL.into());
            format!("a coordinate of less than {limit} keeps its chunks and codecs; `rule` changes it")
        });
        Ok(Chosen { change, note })
    }
}

/// Whether an array has one dimension, which has the name of the array, and few bytes.
fn is_small_coordinate(source: &Array) -> bool {
    let [length] = source.shape() else { return false };
    let bytes = length.saturating_mul(elements::size(source.data_type()));
    let name = source.path().rsplit('/').next();
    bytes < SMALL && name.is_some() && dimensions(source).first().and_then(Option::as_deref) == name
}

/// Returns the names of dimensions, of format 3 or as xarray writes them to format 2.
pub(crate) fn dimensions(source: &Array) -> Vec<Option<String>> {
    let document = source.metadata().document();
    if let Some(names) = document.dimension_names() {
        return names.to_vec();
    }
    let names = source.attributes().get(xarray::DIMENSIONS);
    let names = names.as_ref().and_then(|names| names.elements()).into_iter().flatten();
    names.map(|name| name.to_text().ok().map(|name| name.into_owned())).collect()
}

/// Returns the chunks with the lengths of some dimensions changed; `None` if the array has none of them.
fn by_name(source: &Array, named: &[(String, u64)]) -> CopyResult<Option<Lengths>> {
    let names = dimensions(source);
    let length = |dim: usize| {
        let name = names.get(dim).and_then(Option::as_ref)?;
        named.iter().find(|(given, _)| given == name).map(|(_, length)| *length)
    };
    let given: Vec<Option<u64>> = (0..source.shape().len()).map(length).collect();
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let kept = inner_shape(source)?;
    let Some(kept) = kept.as_ref().and_then(Lengths::shape) else {
        return Err(CopyError::settings(
            "its chunks have several shapes; give the length of every dimension",
        ));
    };
    let lengths = given.into_iter().zip(kept).map(|(given, kept)| given.unwrap_or(*kept));
    Ok(Some(Lengths::Shape(lengths.collect())))
}

/// Returns chunks of at most `target` bytes: the longest dimension of the array is halved until one fits.
fn of_size(source: &Array, target: Size) -> Lengths {
    let size = elements::size(source.data_type());
    let mut lengths: Vec<u64> = source.shape().iter().map(|length| (*length).max(1)).collect();
    let bytes = |lengths: &[u64]| lengths.iter().fold(size, |bytes, n| bytes.saturating_mul(*n));
    while u128::from(bytes(&lengths)) > target.0
        && let Some(longest) = lengths.iter_mut().max().filter(|n| **n > 1)
    {
        *longest = longest.div_ceil(2);
    }
    Lengths::Shape(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_chunks_have_a_text_form() {
        let shape = |shape: &[u64]| Lengths::Shape(shape.to_vec());
        let named = |name: &str, length| ChunkChoice::Named(vec![(name.to_owned(), length)]);
        assert_eq!("3, 4".parse(), Ok(ChunkChoice::Lengths(shape(&[3, 4]))));
        assert_eq!(" time = 24".parse(), Ok(named("time", 24)));
        assert_eq!("a/*:chunks=2,3,shards=none".parse(), {
            Ok(Rule::new("a/*").chunks(shape(&[2, 3])).shards(Shards::None))
        });
        let codecs: Codecs = "transpose(1,0),zstd:5".parse().unwrap();
        assert_eq!("x:codecs=transpose(1,0),zstd:5,chunks=y=7".parse(), {
            Ok(Rule::new("x").codecs(codecs).chunks(named("y", 7)))
        });
        for bad in
            ["x", "x:", "x:level=3", "x:chunks=0", "x:chunks=1,chunks=2", "x:shards=no", "x:codecs=zip"]
        {
            assert!(bad.parse::<Rule>().is_err(), "{bad}");
        }
        for bad in ["time=", "time=0", "time=2,3", "=a"] {
            assert!(bad.parse::<ChunkChoice>().is_err(), "{bad}");
        }
    }
}
