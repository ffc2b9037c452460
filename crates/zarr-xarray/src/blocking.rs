//! The handles for programs without async: the same names and methods, which return when the work is done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use zarr_array::traits::store::Drive;
use zarr_array::traits::strided::Plain;
use zarr_array::{Element, Located, NdVec, Registry, Storage, block_on};
use zarr_meta::ArrayMeta;
use zarr_meta::json::Object;

/// The group of programs without async. [`zarr_xarray::Group`](crate::Group) is the async one.
pub use zarr_hierarchy::blocking::Group;

use crate::append::{Append, FromOptions, Taken};
use crate::conventions::{DecodeOptions, Decoding};
use crate::decoded::{Decoded, DecodedType, Maskable};
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::Finding;
use crate::flags::Flags;
use crate::handle::{dataset_methods, variable_methods};
use crate::index::Index;
use crate::labels::Labels;
use crate::multiscale::Multiscale;
use crate::new_dataset::NewDataset;
use crate::positions::Picked;
use crate::positions::Positions;
use crate::times::{Spans, Times};

/// Reads what a group says about the levels of an image or a grid; `None` if it says nothing.
///
/// # Errors
/// As [`Multiscale::open`].
pub fn multiscale(group: &Group) -> XarrayResult<Option<Multiscale>> {
    block_on(Multiscale::open(&group.clone().into_async()))
}

/// A group of Zarr as a dataset: variables with named dimensions, coordinates and decoded elements.
///
/// This is [`zarr_xarray::Dataset`](crate::Dataset) for programs without async.
///
/// ```
/// # use zarr_xarray::{Labels, XarrayResult, blocking::{Dataset, Group}};
/// # fn example(group: Group) -> XarrayResult<()> {
/// let dataset = Dataset::open(group)?;
/// let january = dataset.sel([("time", Labels::from("2020-01")), ("lat", Labels::nearest(41.3))])?;
/// let t2m = january.variable("t2m")?.read::<f64>()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Dataset(crate::Dataset);

impl Dataset {
    dataset_methods!();

    /// The group of the dataset.
    pub fn group(&self) -> Group {
        self.0.group().clone().into()
    }

    /// Opens a group as a dataset. Reads no chunk.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::open`](crate::Dataset::open).
    #[doc(alias = "open_dataset")]
    pub fn open(group: Group) -> XarrayResult<Self> {
        block_on(crate::Dataset::open(group.into_async())).map(Self::from)
    }

    /// Opens the group that a URL names as a dataset, in the format that the URL asks for, if any.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::open_at`](crate::Dataset::open_at).
    #[doc(alias = "open_url")]
    pub fn open_at(located: &Located, registry: &Registry) -> XarrayResult<Self> {
        block_on(crate::Dataset::open_at(located, registry)).map(Self::from)
    }

    /// Opens a group as a dataset with options.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::open`](crate::Dataset::open).
    pub fn open_with(group: Group, options: &DecodeOptions) -> XarrayResult<Self> {
        block_on(crate::Dataset::open_with(group.into_async(), options)).map(Self::from)
    }

    /// Creates a group at `path`, with the arrays of a dataset and consolidated metadata, and opens it.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::create`](crate::Dataset::create).
    pub fn create(
        storage: impl Into<Storage>,
        path: &str,
        new: NewDataset,
        registry: &Registry,
    ) -> XarrayResult<Self> {
        block_on(crate::Dataset::create(storage, path, new, registry)).map(Self::from)
    }

    /// Returns the dataset of one array alone, as a variable with this name. Makes no request.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::of_array`](crate::Dataset::of_array).
    pub fn of_array(
        name: &str,
        array: zarr_array::blocking::Array,
        registry: &Registry,
    ) -> XarrayResult<Self> {
        crate::Dataset::of_array(name, array.into_async(), registry).map(Self::from)
    }

    /// Returns a variable.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::variable`](crate::Dataset::variable).
    pub fn variable(&self, name: &str) -> XarrayResult<Variable> {
        self.0.variable(name).map(Variable)
    }

    /// Selects labels along dimensions, by the name of the dimension or of a coordinate with one dimension.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::sel`](crate::Dataset::sel).
    pub fn sel<N: AsRef<str>, L: Into<Labels>>(
        &self,
        labels: impl IntoIterator<Item = (N, L)>,
    ) -> XarrayResult<Self> {
        block_on(self.0.sel(labels)).map(Self)
    }

    /// Selects points: the first labels of all lists are the first point, and so on. The dimensions become one dimension
    /// with the name `dimension`.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::sel_points`](crate::Dataset::sel_points).
    pub fn sel_points<N: AsRef<str>, L: Into<Labels>>(
        &self,
        dimension: &str,
        labels: impl IntoIterator<Item = (N, L)>,
    ) -> XarrayResult<Self> {
        block_on(self.0.sel_points(dimension, labels)).map(Self)
    }

    /// Returns the index of a coordinate with one dimension, after selections. Reads it the first time.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::index`](crate::Dataset::index).
    pub fn index(&self, coordinate: &str) -> XarrayResult<Arc<Index>> {
        block_on(self.0.index(coordinate))
    }

    /// Appends along a dimension. The dataset is then the longer one.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::append`](crate::Dataset::append).
    pub fn append(&mut self, dimension: &str, more: NewDataset) -> XarrayResult<()> {
        block_on(self.0.append(dimension, more))
    }

    /// As [`append`](Self::append); `how` says whether other writers append at the same time.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::append_with`](crate::Dataset::append_with).
    pub fn append_with(&mut self, dimension: &str, more: NewDataset, how: Append) -> XarrayResult<()> {
        block_on(self.0.append_with(dimension, more, how))
    }

    /// Returns the names of variables and of all that belongs to them.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::with_related`](crate::Dataset::with_related).
    pub fn with_related<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> XarrayResult<BTreeSet<String>> {
        self.0.with_related(names)
    }

    /// Returns the dimension along which `more` continues this dataset.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::continued_along`](crate::Dataset::continued_along).
    pub fn continued_along(&self, more: &Self) -> XarrayResult<String> {
        block_on(self.0.continued_along(&more.0))
    }

    /// Appends a stored dataset along a dimension. `told` is called with the number of bytes after each piece.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::append_from`](crate::Dataset::append_from).
    pub fn append_from(
        &mut self,
        dimension: &str,
        more: &Self,
        options: &FromOptions,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<Taken> {
        block_on(self.0.append_from(dimension, &more.0, options, told))
    }

    /// Writes the elements of a stored dataset to a region of this one. `told` is called with the number of bytes after
    /// each piece.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::write_from`](crate::Dataset::write_from).
    pub fn write_from(
        &self,
        part: &Self,
        options: &FromOptions,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<Taken> {
        block_on(self.0.write_from(&part.0, options, told))
    }

    /// Gives back the ranges along a dimension that dead writers of shared appends have reserved.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::release`](crate::Dataset::release).
    pub fn release(&self, dimension: &str) -> XarrayResult<()> {
        block_on(self.0.release(dimension))
    }

    /// Writes parts of variables to the region that the indexes of `part` name.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::write_region`](crate::Dataset::write_region).
    pub fn write_region(&self, part: NewDataset) -> XarrayResult<()> {
        block_on(self.0.write_region(part))
    }

    /// Adds the variables of `more` that the dataset does not have, and overwrites the others.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::add`](crate::Dataset::add).
    pub fn add(&mut self, more: NewDataset) -> XarrayResult<()> {
        block_on(self.0.add(more))
    }

    /// Returns the async handle of the same dataset.
    pub fn into_async(self) -> crate::Dataset {
        crate::Dataset { may_block: false, ..self.0 }
    }

    fn inner(&self) -> &crate::Dataset {
        &self.0
    }

    fn with(
        &self,
        change: impl FnOnce(&crate::Dataset) -> XarrayResult<crate::Dataset>,
    ) -> XarrayResult<Self> {
        change(&self.0).map(Self)
    }
}

impl From<crate::Dataset> for Dataset {
    fn from(dataset: crate::Dataset) -> Self {
        // Several reads from a network wait at the same time only if none of them blocks.
        let may_block = dataset.group().storage().capabilities().drive == Drive::Inline;
        Self(crate::Dataset { may_block, ..dataset })
    }
}

/// A variable of a dataset: reads its elements as the attributes say, or as they are stored.
///
/// This is [`zarr_xarray::Variable`](crate::Variable) for programs without async.
#[derive(Debug, Clone)]
pub struct Variable(crate::Variable);

impl Variable {
    variable_methods!();

    /// Reads decoded numbers. `T` is the type of the decoded elements, such as `f64` for packed numbers. Missing
    /// elements are NaN.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read`](crate::Variable::read).
    pub fn read<T: Element + Plain>(&self) -> XarrayResult<NdVec<T>> {
        block_on(self.0.read())
    }

    /// Reads decoded elements of a type that is known only at run time.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_any`](crate::Variable::read_any).
    pub fn read_any(&self) -> XarrayResult<Decoded> {
        block_on(self.0.read_any())
    }

    /// Reads decoded elements, with `None` for missing ones: `f32` or `f64`, `bool`, `String`, or `Vec<u8>`.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_masked`](crate::Variable::read_masked).
    pub fn read_masked<T: Maskable>(&self) -> XarrayResult<NdVec<Option<T>>> {
        block_on(self.0.read_masked())
    }

    /// Reads times. Those of several dimensions are in C order.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_times`](crate::Variable::read_times).
    pub fn read_times(&self) -> XarrayResult<Times> {
        block_on(self.0.read_times())
    }

    /// Reads spans of time. Those of several dimensions are in C order.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_spans`](crate::Variable::read_spans).
    pub fn read_spans(&self) -> XarrayResult<Spans> {
        block_on(self.0.read_spans())
    }

    /// Reads the elements as they are stored.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_raw`](crate::Variable::read_raw).
    pub fn read_raw<T: Element>(&self) -> XarrayResult<NdVec<T>> {
        block_on(self.0.read_raw())
    }

    /// Writes decoded elements to the part of the variable that is selected.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::write`](crate::Variable::write).
    pub fn write(&self, values: impl Into<Decoded>) -> XarrayResult<()> {
        block_on(self.0.write(values))
    }

    /// Divides the variable into regions of whole chunks, or of whole shards if it has shards.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::partitions`](crate::Variable::partitions).
    pub fn partitions(
        &self,
        bytes: u64,
    ) -> XarrayResult<impl Iterator<Item = BTreeMap<String, Range<i64>>> + use<>> {
        self.0.partitions(bytes)
    }

    pub(crate) fn as_async(&self) -> &crate::Variable {
        &self.0
    }

    fn inner(&self) -> &crate::Variable {
        &self.0
    }

    fn with(
        &self,
        change: impl FnOnce(&crate::Variable) -> XarrayResult<crate::Variable>,
    ) -> XarrayResult<Self> {
        change(&self.0).map(Self)
    }
}

/// A group and all groups below it, each of them a dataset.
///
/// This is [`zarr_xarray::DataTree`](crate::DataTree) for programs without async.
#[derive(Debug, Clone)]
pub struct DataTree(crate::DataTree);

impl DataTree {
    /// Opens a group and all groups below it. Reads documents only.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::open`](crate::DataTree::open).
    pub fn open(group: Group) -> XarrayResult<Self> {
        block_on(crate::DataTree::open(group.into_async())).map(Self)
    }

    /// Opens the group that a URL names and all groups below it, in the format that the URL asks for, if any.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::open_at`](crate::DataTree::open_at).
    #[doc(alias = "open_url")]
    pub fn open_at(located: &Located, registry: &Registry) -> XarrayResult<Self> {
        block_on(crate::DataTree::open_at(located, registry)).map(Self)
    }

    /// Opens a group and all groups below it with options.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::open`](crate::DataTree::open).
    pub fn open_with(group: Group, options: &DecodeOptions) -> XarrayResult<Self> {
        block_on(crate::DataTree::open_with(group.into_async(), options)).map(Self)
    }

    /// Creates a group at `path` and groups below it, each with the arrays of a dataset, and opens them.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::create`](crate::DataTree::create).
    pub fn create<P: AsRef<str>>(
        storage: impl Into<Storage>,
        path: &str,
        datasets: impl IntoIterator<Item = (P, NewDataset)>,
        registry: &Registry,
    ) -> XarrayResult<Self> {
        block_on(crate::DataTree::create(storage, path, datasets, registry)).map(Self)
    }

    /// The paths of all datasets, relative to the root of the tree, in order: `/`, `/a`, `/a/b`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.paths()
    }

    /// Returns the dataset at a path, with inherited coordinates.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::dataset`](crate::DataTree::dataset).
    pub fn dataset(&self, path: &str) -> XarrayResult<Dataset> {
        self.0.dataset(path).map(Dataset::from)
    }

    pub(crate) fn as_async(&self) -> &crate::DataTree {
        &self.0
    }

    /// Checks that dimensions with the same name in a group and in a group above have the same length and equal indexes.
    ///
    /// # Errors
    /// As [`zarr_xarray::DataTree::check_aligned`](crate::DataTree::check_aligned).
    pub fn check_aligned(&self) -> XarrayResult<()> {
        block_on(self.0.check_aligned())
    }
}

#[cfg(feature = "columns")]
impl Variable {
    /// Reads decoded elements in the memory layout of Arrow, in C order. Missing elements are null.
    ///
    /// # Errors
    /// As [`zarr_xarray::Variable::read_column`](crate::Variable::read_column).
    #[doc(alias = "arrow")]
    pub fn read_column(&self) -> XarrayResult<zarr_array::Column> {
        block_on(self.0.read_column())
    }
}

#[cfg(feature = "columns")]
impl Dataset {
    /// Reads variables with the same dimensions as a table, with the indexes of their dimensions: a column of structs.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::read_table`](crate::Dataset::read_table).
    #[doc(alias = "arrow")]
    #[doc(alias = "record_batch")]
    pub fn read_table<N: AsRef<str>>(
        &self,
        variables: impl IntoIterator<Item = N>,
    ) -> XarrayResult<zarr_array::Column> {
        block_on(self.0.read_table(variables))
    }
}
