//! Views of arrays that read nothing until they are asked: selections of selections, other orders of dimensions, several
//! arrays as one.

mod part;

use std::marker::PhantomData;
use zarr_strided::to_usize;

use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use zarr_strided::{Source, byte_len, bytes_of, bytes_of_mut};
use zarr_traits::{DataType, block_on};

use crate::element::check::{check_size, fresh};
use crate::element::{Element, Form, WriteElement};
use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::handles::blocking;
use crate::handles::explain::Explanation;
use crate::io::fetch::strange;
use crate::node::at_once;
use crate::select::{Along, Selection};
use crate::values::NdVec;
use part::Part;

/// The largest number of arrays that are read or written at once.
const AT_ONCE: usize = 16;

/// A view of an array, or of several arrays as one: a value that says which elements are wanted, in which order. Only
/// [`read`](Self::read) and [`write`](Self::write) access the store.
///
/// A view is made from an array ([`lazy`](Array::lazy)) and from other views: part of it ([`select`](Self::select)), its
/// dimensions in another order ([`transpose`](Self::transpose)), views joined along a dimension
/// ([`concat`](Self::concat)) or along a new one ([`stack`](Self::stack)). A read fetches and decodes only chunks that hold
/// elements of the view, each of them once. `A` is the handle that it was made from, async or blocking.
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, DataType, LazyView, NdVec, Storage, blocking::Array, standard};
/// # let storage = Storage::from(zarr_store::MemoryStore::new());
/// # for year in ["2023", "2024"] {
/// #     let meta = ArrayMeta::builder([365, 4, 8], DataType::Float32).chunks([50, 4, 4]).build()?;
/// #     Array::create(storage.clone(), year, meta, &standard())?;
/// # }
/// let years = ["2023", "2024"].map(|year| Array::open(storage.clone(), year, &standard()));
/// let years = years.into_iter().map(|year| Ok(year?.lazy())).collect::<ArrayResult<Vec<_>>>()?;
/// let both = LazyView::concat(years, 0)?; // 730 days
/// let winter = both.select((334..424, 1, ..))?.transpose(&[1, 0])?;
/// assert_eq!(winter.shape(), [8, 90]);
/// let values: NdVec<f32> = winter.read()?; // two arrays, two chunks each
/// # ArrayResult::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct LazyView<A = Array> {
    shape: Vec<u64>,
    data_type: DataType,
    /// Each element of the view is in one of them.
    parts: Vec<Part>,
    handle: PhantomData<fn() -> A>,
}

impl<A> LazyView<A> {
    fn of(array: Array) -> Self {
        Self {
            shape: array.shape().to_vec(),
            data_type: array.data_type().clone(),
            parts: vec![Part::of(array)],
            handle: PhantomData,
        }
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The data type.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Returns the view of a selection. Positions are those of this view.
    ///
    /// # Errors
    /// When the selection is not inside the view.
    pub fn select(&self, selection: impl Into<Selection>) -> ArrayResult<Self> {
        let places = selection.into().resolve(&self.shape)?;
        let shape = places.iter().filter(|along| along.keeps()).map(Along::count).collect();
        let is_empty = places.iter().any(|along| along.count() == 0);
        let parts = self.parts.iter().filter(|_| !is_empty).flat_map(|part| part.select(&places)).collect();
        Ok(Self { shape, parts, data_type: self.data_type.clone(), handle: PhantomData })
    }

    /// Returns the view with its dimensions in another order: dimension `i` of the result is dimension `order[i]`.
    ///
    /// # Errors
    /// When `order` does not contain each dimension once.
    pub fn transpose(&self, order: &[usize]) -> ArrayResult<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.shape.len()) {
            return Err(ArrayError::invalid(format!(
                "{order:?} is not an order of the {} dimensions of the view",
                self.shape.len()
            )));
        }
        let shape = order.iter().map(|dim| self.shape[*dim]).collect();
        let parts = self.parts.iter().map(|part| part.transpose(order)).collect();
        Ok(Self { shape, parts, data_type: self.data_type.clone(), handle: PhantomData })
    }

    /// Returns views one after the other along dimension `dim`, as one view.
    ///
    /// # Errors
    /// When there is no view, data types differ, or shapes differ in another dimension.
    pub fn concat(views: impl IntoIterator<Item = Self>, dim: usize) -> ArrayResult<Self> {
        let mut views = views.into_iter();
        let mut all = views.next().ok_or_else(|| ArrayError::invalid("there is no view to concatenate"))?;
        if dim >= all.shape.len() {
            let message = format!("there is no dimension {dim} in views of shape {:?}", all.shape);
            return Err(ArrayError::invalid(message));
        }
        for view in views {
            all.check_type(&view)?;
            let is_same = |(at, pair): (usize, (&u64, &u64))| at == dim || pair.0 == pair.1;
            let lengths = all.shape.iter().zip(&view.shape).enumerate();
            if all.shape.len() != view.shape.len() || !lengths.into_iter().all(is_same) {
                return Err(ArrayError::invalid(format!(
                    "a view of shape {:?} cannot follow one of shape {:?} along dimension {dim}",
                    view.shape, all.shape
                )));
            }
            let behind = all.shape[dim];
            let length = behind.checked_add(view.shape[dim]);
            all.shape[dim] = length.ok_or_else(|| ArrayError::invalid("the views are longer than 2^64"))?;
            all.parts.extend(view.parts.into_iter().map(|part| part.behind(dim, behind)));
        }
        Ok(all)
    }

    /// Returns views of the same shape as one view with a new dimension, which is dimension `dim` of the result.
    ///
    /// # Errors
    /// When there is no view, or shapes or data types differ.
    pub fn stack(views: impl IntoIterator<Item = Self>, dim: usize) -> ArrayResult<Self> {
        let deeper = views.into_iter().map(|mut view| {
            if dim > view.shape.len() {
                let message = format!("a view of shape {:?} has no place for dimension {dim}", view.shape);
                return Err(ArrayError::invalid(message));
            }
            view.shape.insert(dim, 1);
            view.parts.iter_mut().for_each(|part| part.insert(dim));
            Ok(view)
        });
        Self::concat(deeper.collect::<ArrayResult<Vec<_>>>()?, dim)
    }

    fn check_type(&self, other: &Self) -> ArrayResult<()> {
        if self.data_type == other.data_type {
            return Ok(());
        }
        let message = format!("a view of {} cannot join one of {}", other.data_type, self.data_type);
        Err(ArrayError::invalid(message))
    }

    async fn read_all<T: Element>(&self) -> ArrayResult<NdVec<T>> {
        if let [part] = &self.parts[..]
            && part.is_in_order()
        {
            let values = part.array().read::<T>(part.selection()).await?;
            return NdVec::new(self.shape.clone(), values.into_vec());
        }
        let (limit, strides) = (self.result_limit(), self.strides()?);
        let elements = match T::reuse(Vec::new(), &self.data_type) {
            Some(_) => self.read_plain::<T>(limit, &strides).await?,
            None => self.read_each::<T>(limit, &strides).await?,
        };
        NdVec::new(self.shape.clone(), elements)
    }

    /// Reads elements that are numbers in memory, and moves rows of them.
    async fn read_plain<T: Element>(&self, limit: u64, strides: &[u64]) -> ArrayResult<Vec<T>> {
        let size = self.data_type.memory_size();
        let mut memory = fresh::<T::Memory>(&self.shape, size, limit)?;
        let mut parts = self.parts_read::<T>();
        while let Some((part, values)) = parts.try_next().await? {
            let (mut shape, values) = values.into_parts();
            shape.insert(0, 1);
            let places = part.places(strides);
            let places: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();
            let values = T::reuse(values, &self.data_type).unwrap_or_default();
            let source = Source::dense(bytes_of(&values), &shape, size)?;
            source.scatter(bytes_of_mut(&mut memory), &places)?;
        }
        T::from_memory(memory, &Form::new(&self.data_type, None, limit, &[]))
    }

    /// Reads elements of any type, and moves them one by one.
    async fn read_each<T: Element>(&self, limit: u64, strides: &[u64]) -> ArrayResult<Vec<T>> {
        check_size(byte_len(&self.shape, self.data_type.memory_size())?, limit)?;
        let count = self.shape.iter().product();
        let mut slots: Vec<Option<T>> = (0..count).map(|_: u64| None).collect();
        let mut parts = self.parts_read::<T>();
        while let Some((part, values)) = parts.try_next().await? {
            for (place, value) in sums(&part.places(strides)).zip(values) {
                slots[place] = Some(value);
            }
        }
        let all: Option<Vec<T>> = slots.into_iter().collect();
        all.ok_or_else(|| strange("an element of the view is in none of its arrays"))
    }

    /// Reads the parts, several at a time.
    fn parts_read<T: Element>(&self) -> impl Stream<Item = ArrayResult<(&Part, NdVec<T>)>> + Unpin {
        let reads = self.parts.iter().map(|part| async move {
            let values = part.array().read::<T>(part.selection()).await?;
            Ok((part, values))
        });
        Box::pin(stream::iter(reads.collect::<Vec<_>>()).buffer_unordered(self.at_once()))
    }

    async fn write_all<T: WriteElement>(&self, values: NdVec<T>) -> ArrayResult<()> {
        if values.shape() != self.shape {
            let message =
                format!("the view has shape {:?}, the values have shape {:?}", self.shape, values.shape());
            return Err(ArrayError::invalid(message));
        }
        if let [part] = &self.parts[..]
            && part.is_in_order()
        {
            let values = NdVec::new(part.shape(), values.into_vec())?;
            return part.array().write(part.selection(), values).await;
        }
        let (strides, values) = (self.strides()?, values.as_slice());
        let writes = self.parts.iter().map(|part| {
            let places = part.places(&strides);
            async move {
                let values = sums(&places).map(|place| values[place].clone()).collect();
                part.array().write(part.selection(), NdVec::new(part.shape(), values)?).await
            }
        });
        let writes = stream::iter(writes.collect::<Vec<_>>()).buffer_unordered(self.at_once());
        writes.try_collect().await
    }

    async fn explain_all(&self) -> ArrayResult<Explanation> {
        let mut all = Explanation::default();
        for part in &self.parts {
            all.join(&part.array().explain(part.selection()).await?);
        }
        Ok(all)
    }

    /// The number of elements between neighbours along each dimension, in C order.
    fn strides(&self) -> ArrayResult<Vec<u64>> {
        byte_len(&self.shape, self.data_type.memory_size())?;
        let mut strides = vec![1; self.shape.len()];
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim] * self.shape[dim];
        }
        Ok(strides)
    }

    fn result_limit(&self) -> u64 {
        self.parts.first().map_or(u64::MAX, |part| part.array().limits().result_bytes)
    }

    /// The number of arrays to read at once. Each read has many requests in flight and uses all threads.
    fn at_once(&self) -> usize {
        let most = self.parts.iter().map(|part| at_once(part.array().storage())).max();
        most.unwrap_or(1).min(AT_ONCE)
    }
}

/// Returns the sum of one item of each list, for all combinations in C order.
fn sums(lists: &[Vec<u64>]) -> impl Iterator<Item = usize> + use<'_> {
    let shape: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let count: u64 = shape.iter().product();
    (0..count).map(move |number| {
        let mut rest = number;
        let dims = lists.iter().zip(&shape).rev();
        let sum: u64 = dims
            .map(|(list, length)| {
                let item = list[to_usize(rest % length)];
                rest /= length;
                item
            })
            .sum();
        to_usize(sum)
    })
}

/// Defines `lazy` for a handle.
macro_rules! lazy {
    ($handle:ty) => {
        impl $handle {
            /// Returns a view of the array that reads nothing until it is asked. Views can be selected, transposed and joined.
            ///
            /// ```
            /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
            /// # let meta = ArrayMeta::builder([4, 5], DataType::Int32).chunks([2, 3]).build()?;
            /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
            /// let columns = array.lazy().transpose(&[1, 0])?;
            /// let last = columns.select((-1, 1..3))?;
            /// assert_eq!(last.read::<i32>()?, array.read((1..3, 4))?);
            /// # ArrayResult::Ok(())
            /// ```
            pub fn lazy(&self) -> LazyView<Self> {
                LazyView::of(self.inner().clone())
            }
        }
    };
}
lazy!(Array);
lazy!(blocking::Array);

impl LazyView<Array> {
    /// Returns the array and the selection that has the elements of this view, in its order; `None` for a view of several
    /// arrays, and for dimensions in another order.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, Axis, Selection};
    /// # fn example(array: &Array) -> ArrayResult<()> {
    /// let every_tenth = array.lazy().select(Axis::step(.., 10))?;
    /// let (_, selection) = every_tenth.select(3..5)?.source().unwrap(); // elements 30 and 40
    /// # Ok(())
    /// # }
    /// ```
    pub fn source(&self) -> Option<(&Array, Selection)> {
        let [part] = &self.parts[..] else { return None };
        (part.is_in_order() && part.shape() == self.shape).then(|| (part.array(), part.selection()))
    }

    /// Reads all elements of the view.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub async fn read<T: Element>(&self) -> ArrayResult<NdVec<T>> {
        self.read_all().await
    }

    /// Writes `values` of the shape of the view.
    ///
    /// # Errors
    /// As [`Array::write`].
    pub async fn write<T: WriteElement>(&self, values: NdVec<T>) -> ArrayResult<()> {
        self.write_all(values).await
    }

    /// Predicts the cost of a read. The counts are sums over the arrays of the view.
    ///
    /// # Errors
    /// As [`Array::explain`].
    pub async fn explain(&self) -> ArrayResult<Explanation> {
        self.explain_all().await
    }
}

impl LazyView<blocking::Array> {
    /// Reads all elements of the view.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read<T: Element>(&self) -> ArrayResult<NdVec<T>> {
        block_on(self.read_all())
    }

    /// Writes `values` of the shape of the view.
    ///
    /// # Errors
    /// As [`Array::write`].
    pub fn write<T: WriteElement>(&self, values: NdVec<T>) -> ArrayResult<()> {
        block_on(self.write_all(values))
    }

    /// Predicts the cost of a read. The counts are sums over the arrays of the view.
    ///
    /// # Errors
    /// As [`Array::explain`].
    pub fn explain(&self) -> ArrayResult<Explanation> {
        block_on(self.explain_all())
    }
}
