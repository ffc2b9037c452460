//! The places of the elements of a field.

use zarr_meta::types::{Field, StructType};
use zarr_traits::DataType;

use super::struct_of;
use crate::error::{ArrayError, ArrayResult};

/// A column of a field: the places of its elements in a row.
pub(super) struct Lane {
    pub(super) offset: usize,
    /// The shape of sub-arrays, from the outside in.
    pub(super) shape: Vec<u64>,
    pub(super) strides: Vec<i64>,
    pub(super) data_type: DataType,
    /// The size of an element in bytes.
    pub(super) size: usize,
}

impl Lane {
    pub(super) fn find(data_type: &DataType, path: &str) -> ArrayResult<Self> {
        let (fields, _) = struct_of(data_type)?;
        Self::among(fields, path).ok_or_else(|| {
            let names = fields.iter().filter(|field| !field.is_padding()).map(|field| &field.name);
            ArrayError::invalid(format!("no such field, the fields are {:?}", names.collect::<Vec<_>>()))
        })
    }

    /// Finds a field. A field named like the whole path comes before one named like its first part.
    fn among(fields: &[Field], path: &str) -> Option<Self> {
        let named =
            |name| fields.iter().find(|field| !field.is_padding() && field.name == name).map(Self::of);
        named(path).or_else(|| {
            path.match_indices('.').find_map(|(dot, _)| {
                let outer = named(&path[..dot])?;
                let inner = StructType::of(&outer.data_type)?.fields();
                Self::among(inner, &path[dot + 1..]).map(|inner| outer.around(inner))
            })
        })
    }

    fn of(field: &Field) -> Self {
        let size = field.size / field.count.max(1);
        let mut strides = Vec::with_capacity(field.shape.len());
        let mut next = stride(size);
        for length in field.shape.iter().rev() {
            strides.push(next);
            next = next.saturating_mul(i64::try_from(*length).unwrap_or(i64::MAX));
        }
        strides.reverse();
        let data_type = field.data_type.clone();
        Self { offset: field.offset, shape: field.shape.clone(), strides, data_type, size }
    }

    /// Returns the column of `inner`, a field of the struct in this column.
    fn around(self, inner: Self) -> Self {
        Self {
            offset: self.offset + inner.offset,
            shape: [self.shape, inner.shape].concat(),
            strides: [self.strides, inner.strides].concat(),
            ..inner
        }
    }
}

pub(super) fn stride(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
