//! Ranges that lie close together are read as one.

use zarr_traits::store::{copy_into, too_small};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Filled, Hints, If, Key, ReadStore, Reply, Span, Stat, Storage,
    StoreError, StoreErrorKind, StoreResult,
};

use crate::call::{Call, Operation, lists_around, pass, writes_around};

/// The layer that merges ranges of one call which lie close together, and cuts the answer into what was asked for.
///
/// It is for callers that ask for many small ranges, over stores for which each of them is a request. The engine of
/// `zarr-array` merges what it asks for by itself. Suffixes and ranges of no bytes go on as they are: where they lie is
/// not known before the store answers.
///
/// ```
/// # use zarr_store::{Coalesced, Counting, MemoryStore};
/// # use zarr_traits::{ByteRange, Hints, If, Key, Storage, block_on};
/// let (below, counting) = Counting::over(&Storage::from(MemoryStore::new()));
/// let storage = Coalesced::over(&below, Hints { gap: 4, span: 100, whole: 0 });
/// let key = Key::new("k")?;
/// block_on(storage.put(&key, "0123456789"))?;
///
/// let spans = [(7, 3), (0, 2), (1, 3)].map(|(offset, len)| ByteRange::Span { offset, len });
/// let reply = block_on(storage.reader().get_ranges(&key, &spans, If::Any))?.unwrap();
/// assert_eq!(reply.bytes, ["789", "01", "123"]);
/// assert_eq!(counting.counts().ranges, 1);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Coalesced {
    storage: Storage,
    hints: Hints,
}

impl Coalesced {
    /// `storage` with ranges merged as `hints` say, of which `gap` and `span` count. What suits the store is
    /// [`Drive::hints`](zarr_traits::Drive::hints).
    pub fn over(storage: &Storage, hints: Hints) -> Storage {
        storage.overlay(Self { storage: storage.clone(), hints })
    }

    /// How `ranges` are read; `None`: as they are.
    fn plan(&self, ranges: &[ByteRange]) -> Option<Plan> {
        if ranges.len() < 2 {
            return None;
        }
        let spans: Vec<Span> = ranges.iter().filter_map(|range| mergeable(*range)).collect();
        let merged = self.hints.merge(spans.iter().copied()).ok()?;
        if merged.len() == spans.len() {
            return None;
        }
        let others = ranges.iter().copied().filter(|range| mergeable(*range).is_none());
        let asked = merged.iter().map(|span| ByteRange::from(*span)).chain(others).collect();
        Some(Plan { merged, asked })
    }

    /// Reads as planned, and gives what the caller has asked for.
    async fn read(
        &self,
        plan: &Plan,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
    ) -> StoreResult<Option<Reply>> {
        let reply = self.storage.reader().get_ranges(key, &plan.asked, condition).await;
        let reply = reply.map_err(|e| blame(e, ranges))?;
        let cut = |reply: Reply| Ok(Reply { bytes: plan.cut(&reply.bytes, ranges)?, ..reply });
        reply.map(cut).transpose().map_err(|e: StoreError| e.with_key(key))
    }
}

/// What is asked of the store below.
struct Plan {
    /// Disjoint, in ascending order.
    merged: Vec<Span>,
    /// These, and after them, in their order, the ranges that cannot be merged.
    asked: Vec<ByteRange>,
}

impl Plan {
    /// The bytes of `ranges`, of those that were asked for.
    fn cut(&self, read: &[Bytes], ranges: &[ByteRange]) -> StoreResult<Vec<Bytes>> {
        let (merged, others) = read.split_at_checked(self.merged.len()).ok_or_else(short)?;
        let mut others = others.iter();
        let bytes = |range: &ByteRange| {
            let found = match mergeable(*range) {
                Some(span) => span.within(&self.merged).and_then(|(number, within)| {
                    let whole = &merged[number];
                    (within.end <= whole.len()).then(|| whole.slice(within))
                }),
                None => others.next().cloned(),
            };
            found.ok_or_else(short)
        };
        ranges.iter().map(bytes).collect()
    }

    /// Whether what is read, one behind the other, is what `ranges` are.
    fn is_in_place(&self, ranges: &[ByteRange]) -> bool {
        let spans = || ranges.iter().filter_map(|range| mergeable(*range));
        spans().is_sorted_by_key(|span| span.offset)
            && total(spans()) == total(self.merged.iter().copied())
            && self.asked.len() == self.merged.len()
    }
}

/// A range whose place is known, and that holds something.
fn mergeable(range: ByteRange) -> Option<Span> {
    match range {
        ByteRange::Span { offset, len } if len > 0 => {
            let span = Span { offset, len };
            span.end().map(|_| span)
        }
        _ => None,
    }
}

/// The bytes of all of them.
fn total(spans: impl Iterator<Item = Span>) -> u64 {
    spans.fold(0, |sum, span| sum.saturating_add(span.len))
}

/// The error about a merged range, as one about the range that the caller has asked for.
fn blame(error: StoreError, ranges: &[ByteRange]) -> StoreError {
    let StoreErrorKind::RangeNotSatisfiable { size } = error.kind() else { return error };
    let mine = ranges.iter().find_map(|range| range.resolve(size).err());
    match (mine, error.key()) {
        (Some(mine), Some(key)) => mine.with_key(key),
        (Some(mine), None) => mine,
        (None, _) => error,
    }
}

/// The store below has broken its contract.
fn short() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the store has answered with less than it was asked for")
}

impl ReadStore for Coalesced {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        let Some(plan) = self.plan(ranges) else {
            return self.storage.reader().get_ranges(key, ranges, condition);
        };
        Box::pin(async move { self.read(&plan, key, ranges, condition).await })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        let Some(plan) = self.plan(ranges) else {
            return self.storage.reader().read_into(key, ranges, condition, into);
        };
        Box::pin(async move {
            if plan.is_in_place(ranges) {
                let filled = self.storage.reader().read_into(key, &plan.asked, condition, into).await;
                return filled.map_err(|e| blame(e, ranges));
            }
            let wanted = total(ranges.iter().filter_map(|range| mergeable(*range)));
            if wanted > into.len() as u64 {
                return Err(too_small(wanted, into.len()).with_key(key));
            }
            let reply = self.read(&plan, key, ranges, condition).await?;
            reply.map(|reply| copy_into(reply, ranges, into)).transpose().map_err(|e| e.with_key(key))
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        self.storage.reader().size(key)
    }
}

lists_around!(Coalesced, pass);
writes_around!(Coalesced, pass);

#[cfg(test)]
mod tests {
    use zarr_traits::block_on;

    use super::*;
    use crate::{Counting, MemoryStore};

    fn span(offset: u64, len: u64) -> ByteRange {
        ByteRange::Span { offset, len }
    }

    #[test]
    fn close_ranges_are_one_and_the_answer_is_as_if_they_were_not() {
        let (below, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let storage = Coalesced::over(&below, Hints { gap: 4, span: 20, whole: 0 });
        let (key, value) = (Key::new("k").unwrap(), Vec::from_iter(0..100));
        block_on(storage.put(&key, value)).unwrap();
        let table = [
            (vec![span(0, 5), span(9, 5)], 1),
            (vec![span(9, 5), span(0, 5), span(2, 1), span(2, 1)], 1),
            (vec![span(0, 5), span(10, 5)], 2),
            (vec![span(0, 5), span(5, 5), span(10, 90)], 1),
            (vec![ByteRange::Suffix(3), span(0, 5), span(90, 0), span(6, 5), ByteRange::All], 4),
        ];
        for (ranges, read) in table {
            let before = counting.counts();
            let reply = block_on(storage.reader().get_ranges(&key, &ranges, If::Versioned)).unwrap().unwrap();
            assert_eq!((counting.counts() - before).ranges, read, "{ranges:?}");
            let plain = block_on(below.reader().get_ranges(&key, &ranges, If::Versioned)).unwrap().unwrap();
            assert_eq!((reply.bytes, reply.size, reply.version), (plain.bytes, plain.size, plain.version));
        }
        let mut into = [0; 10];
        let spans = [span(9, 5), span(0, 5)];
        let filled = block_on(storage.reader().read_into(&key, &spans, If::Any, &mut into)).unwrap();
        assert_eq!((filled.unwrap().len, into), (10, [9, 10, 11, 12, 13, 0, 1, 2, 3, 4]));
        let late = [span(0, 5), span(99, 1), span(98, 3)];
        let e = block_on(storage.reader().get_ranges(&key, &late, If::Any)).unwrap_err();
        assert_eq!(e.to_string(), "key \"k\": 3 bytes at offset 98 are not inside an object of 100 bytes");
    }
}
