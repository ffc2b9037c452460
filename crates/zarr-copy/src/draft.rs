//! The planned copy of an array, and whether its chunks must be encoded again.

use zarr_array::Array;
use zarr_array::meta::codecs::{lossy, portable, rare};
use zarr_array::meta::{ArrayMeta, Format, Resolved};
use zarr_array::traits::extension::is_private;
use zarr_array::{Limits, Registry};

use crate::change::{Change, Layout};
use crate::document;
use crate::error::{CopyError, CopyResult};

/// The planned copy of an array.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) layout: Layout,
    pub(crate) meta: ArrayMeta,
    pub(crate) resolved: Resolved,
    /// Whether the stored chunks of the source are those of the copy.
    pub(crate) moves: bool,
}

impl Draft {
    /// Plans the copy of `source`, or of a part of it that has the shape of `source`, with `change`. If chunks are encoded
    /// again for format 3 and the user gave no codecs, codecs are replaced by those that every reader has, where there are
    /// such.
    pub(crate) fn new(
        source: &Array,
        change: &Change,
        registry: &Registry,
        limits: &Limits,
        is_part: bool,
    ) -> CopyResult<Self> {
        let format = change.format_of(source.metadata().format());
        let make = |layout: Layout| {
            let meta = document::array(source, &layout, format, registry)?;
            let resolved = meta.resolve(registry, limits, &mut Vec::new())?;
            Ok::<_, CopyError>(Self { layout, meta, resolved, moves: false })
        };
        let mut draft = make(change.layout(source, registry)?)?;
        let same_chunks = draft.meta.has_same_chunks(source.metadata(), registry, limits)?;
        if same_chunks && !is_part && draft.keeps_missing(source) {
            return Ok(Self { moves: true, ..draft });
        }
        if format == Format::V3 && change.codecs.is_none() {
            draft.layout.codecs = portable(&draft.layout.codecs);
            return make(draft.layout);
        }
        Ok(draft)
    }

    /// Whether elements that are not stored mean the same in the copy as in the source.
    pub(crate) fn keeps_missing(&self, source: &Array) -> bool {
        let becomes_undefined = self.meta.fill_is_undefined() && !source.metadata().fill_is_undefined();
        self.resolved.fill == *source.fill() && !becomes_undefined
    }

    /// Whether elements may change.
    pub(crate) fn is_lossy(&self) -> bool {
        !self.moves && !lossy(self.meta.document().codecs()).is_empty()
    }

    /// Returns notes about what the codecs of the copy lose, and about codecs that some readers lack.
    pub(crate) fn notes(&self, source: &Array, change: &Change) -> Vec<String> {
        let mut notes = Vec::new();
        let codecs = self.meta.document().codecs();
        if self.is_lossy() {
            let names = named(&lossy(codecs));
            notes.push(format!("its elements are encoded again by {names}, which may change values"));
        }
        let becomes_3 = self.meta.format() == Format::V3 && source.metadata().format() != Format::V3;
        if becomes_3 && self.meta.document().data_type().name() == "struct" {
            notes.push("its data type becomes \"struct\", which zarr-python 3.1 does not read".to_owned());
        }
        let is_new = !self.moves || source.metadata().format() != Format::V3;
        if self.meta.format() != Format::V3 || change.codecs.is_some() || !is_new {
            return notes;
        }
        let names = source.metadata().document().codecs().iter().map(|codec| codec.name().to_owned());
        let private: Vec<String> = names.filter(|name| is_private(name)).collect();
        if !private.is_empty() {
            notes.push(format!("format 3 has no equivalent of {}, which is left out", named(&private)));
        }
        let rare = rare(codecs);
        if !rare.is_empty() {
            let names = named(&rare);
            notes.push(format!("it keeps {names}, which not every reader supports; `codecs` chooses others"));
        }
        notes
    }
}

fn named(codecs: &[String]) -> String {
    codecs.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}
