//! Whether two arrays have the same chunks.

use zarr_traits::{Limits, Registry};

use crate::codecs::{Element, full};
use crate::diagnostic::Ignore;
use crate::error::MetaResult;
use crate::model::ArrayMeta;
use crate::resolve::Resolved;
use crate::v3::Extension;

impl ArrayMeta {
    /// Whether every stored chunk of this array could be stored in `other`, byte for byte: both have the same shape,
    /// data type, chunk grid and codecs. Formats, keys and fill values may differ.
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
            && a.data_type == b.data_type
            && a.grid.agrees_with(&*b.grid)
            && full_codecs(self, &a, registry) == full_codecs(other, &b, registry))
    }
}

/// Returns the codecs of an array in their full form, in which equal codecs are spelled alike.
fn full_codecs(meta: &ArrayMeta, resolved: &Resolved, registry: &Registry) -> Vec<Extension> {
    let element = Element::of(&resolved.data_type);
    full(meta.document().codecs(), element, meta.shape().len(), registry)
}
