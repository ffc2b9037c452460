//! Opening and creating.

use zarr_meta::{ArrayMeta, Diagnostic};
use zarr_traits::{Located, Prefix, Registry, Storage, block_on};

use super::Array;
use crate::element::borrowed::ArrayValues;
use crate::element::{WriteElement, data_type_of};
use crate::error::ArrayResult;
use crate::handles::create::CreateOptions;
use crate::handles::open::OpenOptions;

impl Array {
    /// Opens the array at `path` (`/`, `a/b`, `/a/b`). Deviations from the specification that do no harm are tolerated
    /// and listed by [`diagnostics`](Self::diagnostics).
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, Storage, blocking::Array, standard};
    /// # let storage = Storage::from(zarr_store::MemoryStore::new());
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Float32).chunks([2, 3]).build()?;
    /// # Array::create(storage.clone(), "/t2m", meta, &standard())?;
    /// let array = Array::open(storage, "/t2m", &standard())?;
    /// assert_eq!(array.shape(), [4, 6]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::open`](crate::Array::open).
    pub fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> ArrayResult<Self> {
        block_on(crate::Array::open(storage, path, registry)).map(Self::from)
    }

    /// Opens the array at `path` with options: strictness, limits, the format, the separator of chunk keys.
    ///
    /// # Errors
    /// As [`zarr_array::Array::open_with`](crate::Array::open_with).
    pub fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &OpenOptions,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::open_with(storage, path, registry, options)).map(Self::from)
    }

    /// Opens the array that a URL names, in the format that the URL asks for, if any.
    ///
    /// ```
    /// # use zarr_array::{ArrayResult, Registry, block_on, blocking::Array};
    /// # use zarr_store::{Access, Schemes};
    /// # fn example(schemes: Schemes, registry: &Registry) -> ArrayResult<()> {
    /// let t2m = Array::open_at(&block_on(schemes.open("weather.zarr|zarr3:t2m", &Access::new()))?, registry)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::open_at`](crate::Array::open_at).
    #[doc(alias = "open_url")]
    pub fn open_at(located: &Located, registry: &Registry) -> ArrayResult<Self> {
        block_on(crate::Array::open_at(located, registry)).map(Self::from)
    }

    /// Opens the array at `prefix` from metadata that was read before, with the diagnostics of that read. Makes no request.
    ///
    /// # Errors
    /// As [`zarr_array::Array::from_metadata`](crate::Array::from_metadata).
    pub fn from_metadata(
        storage: impl Into<Storage>,
        prefix: Prefix,
        meta: ArrayMeta,
        diagnostics: Vec<Diagnostic>,
        registry: &Registry,
        options: &OpenOptions,
    ) -> ArrayResult<Self> {
        crate::Array::from_metadata(storage, prefix, meta, diagnostics, registry, options).map(Self::from)
    }

    /// Creates an array at `path` and writes its metadata, but no chunk. Missing parent groups are created first.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, Storage, blocking::Array, standard};
    /// # let storage = Storage::from(zarr_store::MemoryStore::new());
    /// let meta = ArrayMeta::builder([24, 180, 360], DataType::Float32).chunks([12, 90, 90]).build()?;
    /// let array = Array::create(storage, "/surface/t2m", meta, &standard())?;
    /// assert_eq!(array.chunk_counts(), [2, 2, 4]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::create`](crate::Array::create).
    pub fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::create(storage, path, meta, registry)).map(Self::from)
    }

    /// Creates an array at `path` with options: what happens to an existing node, to stored chunks and to consolidated
    /// metadata, limits.
    ///
    /// # Errors
    /// As [`zarr_array::Array::create_with`](crate::Array::create_with).
    pub fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::create_with(storage, path, meta, registry, options)).map(Self::from)
    }

    /// Checks whether the metadata of an array can be stored at `path`, as [`create_with`](Self::create_with) does before it
    /// writes. Makes no request.
    ///
    /// # Errors
    /// As [`zarr_array::Array::check_new`](crate::Array::check_new).
    pub fn check_new(
        storage: &Storage,
        path: &str,
        meta: &ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<()> {
        crate::Array::check_new(storage, path, meta, registry, options)
    }

    /// Checks that no chunks are stored at `path`, as [`create_with`](Self::create_with) does before it writes.
    ///
    /// # Errors
    /// As [`zarr_array::Array::check_no_chunks`](crate::Array::check_no_chunks).
    pub fn check_no_chunks(
        storage: &Storage,
        path: &str,
        meta: &ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<()> {
        block_on(crate::Array::check_no_chunks(storage, path, meta, registry, options))
    }

    /// Creates an array at `path` that holds `values` in their shape; a slice has one dimension. It has the defaults of
    /// [`ArrayBuilder`](zarr_meta::ArrayBuilder): compressed, with chunks of a suitable shape.
    ///
    /// ```
    /// # use zarr_array::{ArrayResult, NdVec, blocking::Array, standard};
    /// let values = NdVec::new([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let array = Array::create_from(zarr_store::MemoryStore::new(), "/t2m", &values, &standard())?;
    /// assert_eq!(array.read::<f32>(..)?, values);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::create_from`](crate::Array::create_from).
    pub fn create_from<T: WriteElement>(
        storage: impl Into<Storage>,
        path: &str,
        values: &(impl ArrayValues<T> + ?Sized),
        registry: &Registry,
    ) -> ArrayResult<Self> {
        let view = values.as_view();
        let meta = ArrayMeta::builder(view.shape(), data_type_of::<T>()?).build()?;
        let array = Self::create(storage, path, meta, registry)?;
        array.write(.., values)?;
        Ok(array)
    }

    /// Deletes the node at `path`, if any, with all nodes below it, and creates an array there.
    ///
    /// # Errors
    /// As [`zarr_array::Array::replace`](crate::Array::replace).
    pub fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::replace(storage, path, meta, registry)).map(Self::from)
    }
}
