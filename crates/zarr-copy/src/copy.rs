//! A copy to be planned: the source and the settings.

use zarr_array::{Axis, Format, Registry, Selection, Storage};

use crate::change::Shards;
use crate::codecs::Codecs;
use crate::memory::Allowed;
use crate::part::Parts;
use crate::rules::{ChunkChoice, Rule, Rules};
use crate::size::Size;

/// A copy of a node with everything below it. [`plan`](Self::plan) looks at the source; the [`CopyPlan`](crate::CopyPlan) runs.
///
/// The copy keeps shape, data type, fill value, dimension names and attributes, and also chunks, shards and codecs
/// unless a setting changes them. If the chunks and codecs of an array stay the same, its stored objects are copied
/// byte for byte. Otherwise its elements are encoded again, and chunks that hold only the fill value are not stored.
#[derive(Debug, Clone)]
#[doc(alias = "rechunk")]
pub struct Copy {
    pub(crate) storage: Storage,
    pub(crate) path: String,
    pub(crate) format: Option<Format>,
    pub(crate) registry: Registry,
    pub(crate) rules: Rules,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) parts: Parts,
    pub(crate) memory: Allowed,
    pub(crate) threads: usize,
    name: Option<String>,
}

impl Copy {
    /// Makes a copy of the node at `path` (`/`, `a/b`, `/a/b`). `registry` has the codecs and data types.
    pub fn new(storage: impl Into<Storage>, path: &str, registry: &Registry) -> Self {
        Self {
            storage: storage.into(),
            path: format!("/{}", path.trim_matches('/')),
            format: None,
            registry: registry.clone(),
            rules: Rules::default(),
            include: Vec::new(),
            exclude: Vec::new(),
            parts: Parts::default(),
            memory: Allowed::Usual,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            name: None,
        }
    }

    /// Sets the format of the source, if it must be given. By default it is found.
    #[must_use]
    pub fn source_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets the name of the source that a marker of an unfinished copy records, such as a URL without secrets. A copy of
    /// another source is not resumed. The default is the path of the node.
    #[must_use]
    pub fn source_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the format of all nodes of the copy. By default each keeps its format, and format 1 becomes format 3.
    #[must_use]
    pub fn to_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.rules.format = format.into();
        self
    }

    /// Sets the codecs of all arrays; of the inner chunks, if the copy has shards.
    #[must_use]
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.rules.all = self.rules.all.codecs(codecs);
        self
    }

    /// Sets the chunks of all arrays, as [`Lengths`](crate::Lengths) or by the names of dimensions; the inner chunks, if
    /// the copy has shards. Arrays of another rank, or without these dimensions, keep their chunks; a name
    /// that no array has is an error of the plan. If chunks or codecs are set, the copy has shards only with
    /// [`shards`](Self::shards).
    ///
    /// Chunks, shards and codecs of all arrays do not change small coordinates: arrays of one dimension below the source
    /// that have its name and less than 1 MiB. A [`rule`](Self::rule) changes them.
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<ChunkChoice>) -> Self {
        self.rules.all = self.rules.all.chunks(chunks);
        self
    }

    /// Sets the lengths of shards, or that there are no shards.
    #[must_use]
    pub fn shards(mut self, shards: Shards) -> Self {
        self.rules.all = self.rules.all.shards(shards);
        self
    }

    /// Sets the size of chunks whose lengths are not given: the longest dimension of the array is halved until a chunk
    /// has at most `bytes` bytes.
    #[must_use]
    pub fn target_chunk_size(mut self, bytes: Size) -> Self {
        self.rules.target = Some(bytes);
        self
    }

    /// Adds a rule for arrays that match its pattern. The first rule that matches counts; what it does not give is as for
    /// all arrays.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.rules.push(rule);
        self
    }

    /// Copies only nodes whose path below the source matches one of these patterns, everything in them, and the groups
    /// above them: `*` matches within a name, `**/` matches any groups.
    #[must_use]
    pub fn include<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.include.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Leaves out nodes whose path below the source matches one of these patterns, and everything in them.
    #[must_use]
    pub fn exclude<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.exclude.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Copies only the selected elements of the array at `below`, a path below the source; `""` is the source itself. The
    /// copy has the shape of the selection and all dimensions of the array: a range of one element keeps its dimension. Its
    /// elements are encoded again.
    #[must_use]
    pub fn select(mut self, below: &str, selection: impl Into<Selection>) -> Self {
        self.parts.arrays.insert(below.trim_matches('/').to_owned(), selection.into());
        self
    }

    /// Copies only the selected positions along the dimension `name` of all arrays in the group at `below`, a path below
    /// the source. Arrays without this dimension are copied as a whole, and so are the arrays of groups below.
    ///
    /// ```
    /// # use zarr_copy::Copy;
    /// # fn example(copy: Copy) -> Copy {
    /// copy.select_dimension("", "time", 151..181) // of `t2m`, and of the coordinate `time`
    /// # }
    /// ```
    #[must_use]
    pub fn select_dimension(mut self, below: &str, name: &str, positions: impl Into<Axis>) -> Self {
        let key = (below.trim_matches('/').to_owned(), name.to_owned());
        self.parts.dimensions.insert(key, positions.into());
        self
    }

    /// Sets the memory for elements, chunks and objects, in bytes. It is divided before it is taken, so several blocks
    /// are under way as far as it allows. A chunk or shard that needs more is an error of the plan. By default it is 512
    /// MiB, or as much as one chunk, shard or object needs. Contents of variable length count 64 bytes each,
    /// because their lengths are unknown before they are read.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.memory = Allowed::Set(bytes);
        self
    }

    /// Sets the number of threads that decode and encode. 0 stands for the calling task. The default is the number of
    /// processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.path.clone())
    }
}
