//! Whether two arrays have the same chunks.

use zarr_traits::{DataType, Limits, Registry};

use crate::codecs::{Element, full};
use crate::diagnostic::Ignore;
use crate::error::MetaResult;
use crate::model::ArrayMeta;
use crate::resolve::Resolved;
use crate::types::{Field, StructType};
use crate::v3::Extension;

impl ArrayMeta {
    /// Whether every stored chunk of this array could be stored in `other`, byte for byte: both have the same shape,
    /// data type, chunk grid and codecs. Formats, keys, fill values and names of raw bytes (`r<N>`, `raw_bytes`) may
    /// differ.
    ///
    /// Returns false for arrays with storage transformers or skipped codecs.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve) for either array.
    pub fn has_same_chunks(&self, other: &Self, registry: &Registry, limits: &Limits) -> MetaResult<bool> {
        let resolve = |meta: &Self| meta.resolve(registry, limits, &mut Ignore);
        let (a, b) = (resolve(self)?, resolve(other)?);
        let is_plain = |meta: &Self, resolved: &Resolved| {
            meta.document().storage_transformers().is_empty() && resolved.skipped().is_empty()
        };
        Ok(self.shape() == other.shape()
            && is_plain(self, &a)
            && is_plain(other, &b)
            && has_same_elements(&a.data_type, &b.data_type)
            && a.grid.agrees_with(&*b.grid)
            && full_codecs(self, &a, registry) == full_codecs(other, &b, registry))
    }
}

/// Whether elements of the two data types have the same bytes and the same meaning.
fn has_same_elements(a: &DataType, b: &DataType) -> bool {
    match (StructType::of(a), StructType::of(b)) {
        (Some(one), Some(other)) => {
            let is_same = |(one, other): (&Field, &Field)| {
                (&one.name, &one.shape) == (&other.name, &other.shape)
                    && has_same_elements(&one.data_type, &other.data_type)
            };
            let (one, other) = (one.fields(), other.fields());
            a.name() == b.name() && one.len() == other.len() && one.iter().zip(other).all(is_same)
        }
        _ => a == b || is_raw(a) && is_raw(b) && a.size() == b.size(),
    }
}

fn is_raw(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Raw(_)) || data_type.name() == "raw_bytes"
}

/// Returns the codecs of an array in their full form, in which equal codecs are spelled alike.
fn full_codecs(meta: &ArrayMeta, resolved: &Resolved, registry: &Registry) -> Vec<Extension> {
    let element = Element::of(&resolved.data_type);
    full(meta.document().codecs(), element, meta.shape().len(), registry)
}
