//! Rows: elements of structs, read and written by their fields.

mod lane;
#[cfg(feature = "bytemuck")]
mod pod;
mod row;

use zarr_meta::types::{Field, StructType};
use zarr_strided::{Destination, Dims, Source, Swap, byte_len, bytes_of, bytes_of_mut, zeroed};
use zarr_traits::{DataType, FillValue};

use crate::element::check::check_element;
use crate::element::{Element, Form, WriteElement};
use crate::error::{ArrayError, ArrayResult};
use crate::select::Along;
use crate::values::NdVec;

use lane::{Lane, stride};
#[cfg(feature = "bytemuck")]
pub use pod::{check_place, fits_raw, fits_struct};
pub use row::{check_field, is_struct, struct_of_fields, type_of_field};

/// Elements of structs, with a shape. [`Array::read_rows`](crate::Array::read_rows) returns it and
/// [`Array::write_rows`](crate::Array::write_rows) takes it. Each field is a column of elements of its own type.
///
/// A field of a nested struct has a path such as `"position.x"`; a field with exactly that name comes first. A field
/// that is a sub-array adds its dimensions after those of the rows. [`row!`](crate::row) maps structs to Rust types.
///
/// ```
/// # use zarr_array::{ArrayMeta, DataType, NdVec, blocking::Array, data_types, standard};
/// let position = data_types::structure([("lat", DataType::Float32), ("lon", DataType::Float32)])?;
/// let name = data_types::fixed_length_utf32(10)?;
/// let city = data_types::structure([("name", name), ("position", position), ("people", DataType::Int64)])?;
/// let meta = ArrayMeta::builder([100], city).build()?;
/// let array = Array::create(zarr_store::MemoryStore::new(), "/cities", meta, &standard())?;
/// let mut rows = array.rows([2])?; // two rows of the fill value
/// rows.set("name", &["Oslo".to_owned(), "Quito".to_owned()])?;
/// rows.set("position.lat", &[59.9_f32, -0.2])?;
/// array.write_rows(10..12, rows)?;
///
/// let rows = array.read_rows(9..12)?;
/// let names: NdVec<String> = rows.field("name")?;
/// assert_eq!(names.as_slice(), ["", "Oslo", "Quito"]);
/// assert_eq!(rows.field::<f32>("position.lat")?.as_slice(), [0.0, 59.9, -0.2]);
/// assert!(rows.field::<f64>("people").is_err()); // it is int64
/// # Ok::<(), zarr_array::ArrayError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows {
    data_type: DataType,
    shape: Vec<u64>,
    /// The rows, one after the other, in the byte order of this machine.
    bytes: Vec<u8>,
    /// The places of the rows in the array.
    places: Vec<Along>,
}

impl Rows {
    /// Returns rows from their bytes, in C order and the byte order of this machine, as `read_bytes` returns them.
    ///
    /// # Errors
    /// When `data_type` is not a struct, or the number of bytes does not fit the shape.
    pub fn from_bytes(data_type: &DataType, shape: impl Into<Vec<u64>>, bytes: Vec<u8>) -> ArrayResult<Self> {
        let shape = shape.into();
        let expected = byte_len(&shape, struct_of(data_type)?.1)?;
        if expected != bytes.len() {
            let message = format!("rows of shape {shape:?} have {expected} bytes, not {}", bytes.len());
            return Err(ArrayError::invalid(message));
        }
        let places = (0..).zip(&shape).map(|(dim, n)| Along::whole(dim, *n)).collect();
        Ok(Self { data_type: data_type.clone(), shape, bytes, places })
    }

    /// Returns the rows that were read at `places`. The bytes fill the shape.
    pub(crate) fn at(places: Vec<Along>, data_type: DataType, shape: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self { data_type, shape, bytes, places }
    }

    pub(crate) fn filled(data_type: &DataType, fill: &FillValue, shape: &[u64]) -> ArrayResult<Self> {
        let size = struct_of(data_type)?.1;
        let mut bytes = zeroed(byte_len(shape, size)?)?;
        Destination::dense(&mut bytes, shape, size)?.fill(fill.bytes())?;
        Self::from_bytes(data_type, shape, bytes)
    }

    /// The lengths of the dimensions, in rows.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The data type of the rows.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The fields, with those that are padding.
    pub fn fields(&self) -> &[Field] {
        StructType::of(&self.data_type).map_or(&[], StructType::fields)
    }

    /// Returns the bytes of the rows, in C order and the byte order of this machine.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the elements of a field in all rows.
    ///
    /// # Errors
    /// When there is no such field, `T` is not an element type of its data type, or a stored value is not valid for
    /// `T`.
    pub fn field<T: Element>(&self, path: &str) -> ArrayResult<NdVec<T>> {
        self.read(path).map_err(|e| e.while_doing(format!("field {path:?}")))
    }

    fn read<T: Element>(&self, path: &str) -> ArrayResult<NdVec<T>> {
        let lane = Lane::find(&self.data_type, path)?;
        check_element::<T>(&lane.data_type)?;
        let (shape, strides) = self.lane_shape(&lane)?;
        let mut memory = zeroed(byte_len(&shape, lane.size)? / size_of::<T::Memory>().max(1))?;
        let column = Source::strided(&self.bytes, lane.offset, &shape, &strides, lane.size)?;
        Destination::dense(bytes_of_mut(&mut memory), &shape, lane.size)?.put(column, Swap::NONE)?;
        let places = self.lane_places(&lane);
        let elements = T::from_memory(memory, &Form::new(&lane.data_type, None, 0, &places))?;
        NdVec::new([&self.shape[..], &lane.shape].concat(), elements)
    }

    /// Sets a field of all rows to `elements`, in C order.
    ///
    /// # Errors
    /// When there is no such field, `T` is not an element type of its data type, the number of elements is wrong, or
    /// the data type cannot represent an element.
    pub fn set<T: WriteElement>(&mut self, path: &str, elements: &[T]) -> ArrayResult<()> {
        self.write(path, elements).map_err(|e| e.while_doing(format!("field {path:?}")))
    }

    fn write<T: WriteElement>(&mut self, path: &str, elements: &[T]) -> ArrayResult<()> {
        let lane = Lane::find(&self.data_type, path)?;
        check_element::<T>(&lane.data_type)?;
        let (shape, strides) = self.lane_shape(&lane)?;
        if Dims::from(&shape[..]).product() != Some(elements.len() as u64) {
            let rows = [&self.shape[..], &lane.shape].concat();
            return Err(ArrayError::invalid(format!("{} values do not fill shape {rows:?}", elements.len())));
        }
        let places = self.lane_places(&lane);
        let memory = T::as_memory(elements, &Form::new(&lane.data_type, None, 0, &places))?;
        let column = Source::dense(bytes_of(&memory), &shape, lane.size)?;
        let mut dst = Destination::strided(&mut self.bytes, lane.offset, &shape, &strides, lane.size)?;
        Ok(dst.put(column, Swap::NONE)?)
    }

    /// Returns the data type of a field, the shape of its sub-arrays, and its elements as memory.
    #[cfg(feature = "columns")]
    pub(crate) fn column(&self, path: &str) -> ArrayResult<(DataType, Vec<u64>, Vec<u8>)> {
        let lane = Lane::find(&self.data_type, path)?;
        let (shape, strides) = self.lane_shape(&lane)?;
        let mut memory = zeroed(byte_len(&shape, lane.size)?)?;
        let column = Source::strided(&self.bytes, lane.offset, &shape, &strides, lane.size)?;
        Destination::dense(&mut memory, &shape, lane.size)?.put(column, Swap::NONE)?;
        Ok((lane.data_type, lane.shape, memory))
    }

    /// Sets a field of all rows to elements in memory.
    #[cfg(feature = "columns")]
    pub(crate) fn set_column(&mut self, path: &str, elements: &Source<'_>) -> ArrayResult<()> {
        let lane = Lane::find(&self.data_type, path)?;
        let (shape, strides) = self.lane_shape(&lane)?;
        let mut dst = Destination::strided(&mut self.bytes, lane.offset, &shape, &strides, lane.size)?;
        Ok(dst.put(elements.reshape(&shape)?, Swap::NONE)?)
    }

    /// Returns the shape and the strides of a column: one dimension of all rows, then those of its sub-arrays.
    fn lane_shape(&self, lane: &Lane) -> ArrayResult<(Vec<u64>, Vec<i64>)> {
        let size = struct_of(&self.data_type)?.1;
        let count = self.bytes.len() / size;
        Ok(([&[count as u64][..], &lane.shape].concat(), [&[stride(size)][..], &lane.strides].concat()))
    }

    /// Returns the places of the elements of a field. The dimensions of the field come after those of the array.
    fn lane_places(&self, lane: &Lane) -> Vec<Along> {
        let rank = self.places.iter().map(Along::rank).sum();
        let inside = (rank..).zip(&lane.shape).map(|(dim, n)| Along::whole(dim, *n));
        self.places.iter().cloned().chain(inside).collect()
    }
}

/// Rows can be equal at different places in an array.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        (&self.data_type, &self.shape, &self.bytes) == (&other.data_type, &other.shape, &other.bytes)
    }
}

impl Form<'_> {
    /// Returns `memory` as rows. For element types made of the fields of a struct, such as those of
    /// [`row!`](crate::row).
    ///
    /// # Errors
    /// When the data type is not a struct.
    pub fn rows(&self, memory: Vec<u8>) -> ArrayResult<Rows> {
        let size = struct_of(self.data_type())?.1;
        let rows = Rows::from_bytes(self.data_type(), [(memory.len() / size) as u64], memory)?;
        Ok(Rows { places: self.places().to_vec(), ..rows })
    }

    /// Returns `count` rows of zeros, for a caller that then sets all fields: those in `names`.
    ///
    /// # Errors
    /// When the struct has other fields, or a name is the path of a nested field.
    pub fn blank_rows(&self, count: usize, names: &[&str]) -> ArrayResult<Rows> {
        let (fields, size) = struct_of(self.data_type())?;
        let is_field = |name: &&&str| fields.iter().any(|field| !field.is_padding() && field.name == **name);
        if let Some(part) = names.iter().find(|name| !is_field(name)) {
            let message =
                format!("the rows have {part:?}, which is not a whole field, so they can only be read");
            return Err(ArrayError::invalid(message));
        }
        if let Some(field) = fields.iter().find(|f| !f.is_padding() && !names.contains(&f.name.as_str())) {
            let message = format!("the rows have no field {:?}, so they can only be read", field.name);
            return Err(ArrayError::invalid(message));
        }
        self.rows(zeroed(byte_len(&[count as u64], size)?)?)
    }
}

/// Returns the fields of a struct, and its size in bytes, which is not zero.
pub(crate) fn struct_of(data_type: &DataType) -> ArrayResult<(&[Field], usize)> {
    let fields = StructType::of(data_type).map(StructType::fields);
    let size = data_type.size().filter(|size| *size > 0);
    fields
        .zip(size)
        .ok_or_else(|| ArrayError::invalid(format!("the data type is {data_type}, which has no fields")))
}
