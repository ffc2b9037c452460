//! The inner chunks of a shard, from its index.

use std::error::Error;

use zarr_array::InnerChunk;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Object;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::traits::Span;

use crate::exit::Failure;
use crate::out::json;
use crate::out::table::{Table, bytes};

/// Whether the chunks of an array are shards.
pub(super) fn is_sharded(array: &Array) -> bool {
    inner_chunk_shapes(array.metadata().document().codecs()).is_none_or(|shapes| !shapes.is_empty())
}

/// The inner chunks of a shard, if they are known.
pub(super) enum Inside {
    /// The stored inner chunks, and the number of those that are not stored.
    Known { stored: Vec<Inner>, missing: u64 },
    /// Unknown without decoding the shard: other codecs are around it.
    Hidden,
    /// Unknown: the index is broken or cannot be read.
    Unreadable(Failure),
}

/// A stored inner chunk.
pub(super) struct Inner {
    start: Vec<u64>,
    shape: Vec<u64>,
    span: Span,
}

impl Inside {
    /// Reads the index of a shard. Returns `None` if the object no longer exists.
    pub(super) fn of(array: &Array, index: &[u64]) -> Option<Self> {
        let chunks = match array.inner_chunks(index) {
            Ok(chunks) => chunks?,
            // The row names the array and the shard, so the cause is enough.
            Err(e) => {
                let message = e.source().map_or_else(|| format!("{e:#}"), |cause| format!("{cause:#}"));
                return Some(Self::Unreadable(Failure::new(Failure::from(e).exit(), message)));
            }
        };
        if chunks.is_empty() {
            return Some(Self::Hidden);
        }
        let all = chunks.len() as u64;
        let inner =
            |chunk: InnerChunk| Some(Inner { start: chunk.start, shape: chunk.shape, span: chunk.span? });
        let stored: Vec<Inner> = chunks.into_iter().filter_map(inner).collect();
        let missing = all - stored.len() as u64;
        Some(Self::Known { stored, missing })
    }

    /// Returns how many inner chunks are stored, and how many there could be.
    pub(super) fn count(&self) -> Option<(u64, u64)> {
        let Self::Known { stored, missing } = self else { return None };
        Some((stored.len() as u64, stored.len() as u64 + missing))
    }

    /// Adds the members to the JSON of the shard.
    pub(super) fn set_members(&self, object: &mut Object) {
        match self {
            Self::Known { stored, missing } => {
                object.set("inner_chunks", stored.iter().map(Inner::to_json).collect::<Vec<_>>());
                object.set("missing_inner_chunks", *missing);
            }
            Self::Hidden => object.set("inner_chunks", None::<u64>),
            Self::Unreadable(e) => object.set("error", e.message()),
        }
    }

    /// Returns one cell of the table.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Unreadable(e) => format!("unreadable: {}", e.message()),
            known => {
                known.count().map_or("hidden by a codec around the shard".to_owned(), |(stored, all)| {
                    format!("{stored} of {all}")
                })
            }
        }
    }

    /// Returns a row for each stored inner chunk.
    pub(super) fn to_text(&self) -> String {
        let mut table = Table::default();
        if let Self::Known { stored, .. } = self {
            for Inner { start, span, .. } in stored {
                let place = format!("at byte {}", span.offset);
                table.row([&format!("{start:?}"), &bytes(span.len.into()), &place]);
            }
        }
        table.to_text("    ")
    }
}

impl Inner {
    fn to_json(&self) -> Object {
        json::object([
            ("start", self.start.clone().into()),
            ("shape", self.shape.clone().into()),
            ("offset", self.span.offset.into()),
            ("length", self.span.len.into()),
        ])
    }
}
