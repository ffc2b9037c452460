//! A pyramid to be planned: the array and the settings.

use zarr_array::meta::multiscale::OmeVersion;
use zarr_array::{Format, Registry, Storage};

use super::factors::Factors;
use super::group::MultiscaleMetadata;
use super::levels::LevelCount;
use super::method::Downsample;
use super::missing::MissingValues;
use crate::change::Shards;
use crate::codecs::Codecs;
use crate::lengths::Lengths;
use crate::memory::Allowed;

/// A pyramid to be planned: an array, and the levels to make of it. [`plan`](Self::plan) looks at the array and at the group
/// around it; the [`PyramidPlan`](crate::pyramid::PyramidPlan)
/// runs.
///
/// ```
/// # #[cfg(feature = "standard")] {
/// # use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, DataType, Storage, block_on, blocking::Array, standard};
/// # use zarr_copy::zarr_hierarchy::blocking::Group;
/// use zarr_copy::RunOptions;
/// use zarr_copy::pyramid::{LevelCount, Pyramid};
///
/// # let storage = Storage::from(zarr_store::MemoryStore::new());
/// # Group::create(storage.clone(), "/", &standard())?;
/// # let meta = ArrayMeta::builder([4, 600], DataType::UInt16).chunks([4, 64]).dimension_names(["y", "x"]).build()?;
/// # Array::create(storage.clone(), "/0", meta, &standard())?;
/// let pyramid = Pyramid::new(storage.clone(), "/0", &standard()).levels(LevelCount::Further(2));
/// let plan = block_on(pyramid.plan())?; // reads documents, writes nothing
/// assert_eq!((plan.levels()[1].path.as_str(), &plan.levels()[1].shape[..]), ("2", &[1, 150][..]));
///
/// block_on(plan.run(RunOptions::new(), &|_| {}))?;
/// assert_eq!(Array::open(storage, "/2", &standard())?.shape(), [1, 150]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[doc(alias("multiscale", "overview", "downsample"))]
pub struct Pyramid {
    pub(super) storage: Storage,
    pub(super) path: String,
    pub(super) registry: Registry,
    pub(super) format: Option<Format>,
    pub(super) method: Option<Downsample>,
    pub(super) factors: Option<Factors>,
    pub(super) levels: LevelCount,
    pub(super) missing: MissingValues,
    pub(super) metadata: Option<Vec<MultiscaleMetadata>>,
    pub(super) ome_version: Option<OmeVersion>,
    pub(super) name: String,
    pub(super) chunks: Option<Lengths>,
    pub(super) shards: Option<Shards>,
    pub(super) codecs: Option<Codecs>,
    pub(super) memory: Allowed,
    pub(super) threads: usize,
    pub(super) replace: bool,
    pub(super) recorded: u64,
}

impl Pyramid {
    /// Makes a pyramid of the array at `path`, or of the image of the group at `path`: level 0 of its multiscales, its only
    /// array of two or more dimensions, or its only group with the number 0. In such a group all arrays that have dimensions
    /// which become shorter get levels, coordinates their means; the others are copied.
    pub fn new(storage: impl Into<Storage>, path: &str, registry: &Registry) -> Self {
        Self {
            storage: storage.into(),
            path: path.to_owned(),
            registry: registry.clone(),
            format: None,
            method: None,
            factors: None,
            levels: LevelCount::default(),
            missing: MissingValues::default(),
            metadata: None,
            ome_version: None,
            name: "image".to_owned(),
            chunks: None,
            shards: None,
            codecs: None,
            memory: Allowed::Usual,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            replace: false,
            recorded: 64 << 20,
        }
    }

    /// Sets the format of the node, if it must be given. By default it is found.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets how elements are reduced. By default it is the mode for labels, booleans and arrays with `flag_values`, nearest
    /// for `flag_masks`, and else the mean.
    #[must_use]
    pub fn method(mut self, method: impl Into<Option<Downsample>>) -> Self {
        self.method = method.into();
        self
    }

    /// Sets the factors. By default it is 2 for the two dimensions of the image: the last two of the type `space`, those of
    /// `spatial:dimensions`, those with usual names, or the last two.
    #[must_use]
    pub fn factors(mut self, factors: impl Into<Option<Factors>>) -> Self {
        self.factors = factors.into();
        self
    }

    /// Sets how many levels are made. By default there are levels until no dimension that becomes shorter is longer than
    /// 256.
    #[must_use]
    pub fn levels(mut self, levels: LevelCount) -> Self {
        self.levels = levels;
        self
    }

    /// Sets the values that do not count. By default they are those that the array declares.
    #[must_use]
    pub fn missing(mut self, missing: MissingValues) -> Self {
        self.missing = missing;
        self
    }

    /// Sets the metadata of the group that names the levels; an empty list for none. By default it is what the group has,
    /// else the convention for arrays with `spatial:` or `proj:` attributes, else OME-Zarr if the names of the dimensions
    /// fit.
    #[must_use]
    pub fn metadata(mut self, metadata: impl IntoIterator<Item = MultiscaleMetadata>) -> Self {
        self.metadata = Some(metadata.into_iter().collect());
        self
    }

    /// Sets the version of OME-Zarr. By default it is that of the group, else 0.5 in format 3 and 0.4 in format 2.
    #[must_use]
    pub fn ome_version(mut self, version: impl Into<Option<OmeVersion>>) -> Self {
        self.ome_version = version.into();
        self
    }

    /// Sets the name of a new image of OME-Zarr in the root of a store; `image` by default. Others have the name of their
    /// group.
    #[must_use]
    pub fn root_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the chunks of the levels; in shards, of inner chunks. By default they are those of level 0, but no longer than
    /// the level.
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<Option<Lengths>>) -> Self {
        self.chunks = chunks.into();
        self
    }

    /// Sets the shards of the levels. By default they are those of level 0, if `chunks` is not given.
    #[must_use]
    pub fn shards(mut self, shards: impl Into<Option<Shards>>) -> Self {
        self.shards = shards.into();
        self
    }

    /// Sets the codecs of the levels. By default they are those of level 0.
    #[must_use]
    pub fn codecs(mut self, codecs: impl Into<Option<Codecs>>) -> Self {
        self.codecs = codecs.into();
        self
    }

    /// Sets the memory for elements and chunks, in bytes. It is divided before it is taken. By default it is 512 MiB, or as
    /// much as one chunk or shard needs. Contexts of compressors are not counted.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.memory = Allowed::Set(bytes);
        self
    }

    /// Sets the number of threads. 0 stands for the calling task. The default is the number of processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether levels that the group names are replaced. The group names level 0 only while they are made.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets after how many bytes of level 0 the finished work is recorded; 64 MiB by default. A run that is interrupted
    /// repeats about as much when it is [resumed](crate::RunOptions::resume).
    #[must_use]
    pub fn record_bytes(mut self, bytes: u64) -> Self {
        self.recorded = bytes;
        self
    }
}
