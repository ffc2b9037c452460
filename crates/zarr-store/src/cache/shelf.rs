//! The content of a cache: parts of objects by key and place, in the order of their last use.

use std::collections::BTreeMap;
use std::collections::hash_map::{DefaultHasher, HashMap};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::time::Instant;

use zarr_traits::{ByteRange, Bytes, Key, Prefix, Version, store::ReadVersion};

/// The approximate size of a part in bytes, without its content and its key.
const PART: u64 = 160;

/// The number of classes of keys whose writes are counted separately.
const MARKS: usize = 64;

/// Parts of objects, within a budget.
pub(super) struct Shelf {
    budget: u64,
    bytes: u64,
    objects: HashMap<Key, Object>,
    /// The key and place of each part, by the tick of its last use.
    order: BTreeMap<u64, (Key, u64)>,
    tick: u64,
    /// The number of writes, by the hash of the key.
    marks: [u64; MARKS],
    pub(super) evictions: u64,
}

/// The kept state of an object.
struct Object {
    is: Is,
    /// Whether this was the current state in the store. If not, only the version is known.
    current: bool,
    /// The time until which `current` is valid, or `None` for no limit.
    until: Option<Instant>,
    /// The parts, by their start. No part lies inside another, so their ends ascend as well. At least one part exists,
    /// perhaps an empty one, to keep the place of the object in the order of use.
    parts: BTreeMap<u64, Part>,
}

/// The state of one version of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Is {
    Absent,
    Present { version: Option<Version>, size: Option<u64> },
}

struct Part {
    bytes: Bytes,
    tick: u64,
}

/// The kept bytes of some ranges.
pub(super) enum Found {
    Nothing,
    Absent,
    Present {
        /// The bytes of each range, if they are kept.
        bytes: Vec<Option<Bytes>>,
        version: Option<Version>,
        size: Option<u64>,
    },
}

impl Found {
    /// Returns the number of ranges that are not kept, or `None` if the object is not known.
    pub(super) fn missing(&self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Absent => Some(0),
            Self::Present { bytes, .. } => Some(bytes.iter().filter(|bytes| bytes.is_none()).count()),
        }
    }
}

/// New content for the cache.
pub(super) struct News {
    pub(super) is: Is,
    /// The parts: their starts and bytes.
    pub(super) parts: Vec<(u64, Bytes)>,
    /// Whether this is the current state in the store.
    pub(super) current: bool,
    /// The time until which `current` is valid, or `None` for no limit.
    pub(super) until: Option<Instant>,
}

impl Shelf {
    pub(super) fn new(budget: u64) -> Self {
        Self {
            budget,
            bytes: 0,
            objects: HashMap::new(),
            order: BTreeMap::new(),
            tick: 0,
            marks: [0; MARKS],
            evictions: 0,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the kept bytes of `ranges`, of the requested version.
    pub(super) fn find(&mut self, key: &Key, ranges: &[ByteRange], wanted: ReadVersion<'_>) -> Found {
        let Some(object) = self.objects.get_mut(key) else { return Found::Nothing };
        let holds = match (wanted, &object.is) {
            (ReadVersion::Pinned(pinned), Is::Present { version, .. }) => version.as_ref() == Some(pinned),
            (ReadVersion::Pinned(_), Is::Absent) => false,
            _ => object.current && object.until.is_none_or(|until| Instant::now() < until),
        };
        if !holds {
            return Found::Nothing;
        }
        let is = object.is.clone();
        let Is::Present { version, size } = is else {
            self.touch(key, 0);
            return Found::Absent;
        };
        let bytes = ranges.iter().map(|range| self.bytes_of(key, place(*range, size)?, size)).collect();
        Found::Present { bytes, version, size }
    }

    fn bytes_of(&mut self, key: &Key, range: Range<u64>, size: Option<u64>) -> Option<Bytes> {
        if range.is_empty() {
            return size.is_some_and(|size| range.end <= size).then(Bytes::new);
        }
        let (start, part) = self.objects.get(key)?.parts.range(..=range.start).next_back()?;
        let (start, from) = (*start, usize::try_from(range.start - start).ok()?);
        let to = from.checked_add(usize::try_from(range.end - range.start).ok()?)?;
        let bytes = (to <= part.bytes.len()).then(|| part.bytes.slice(from..to))?;
        self.touch(key, start);
        Some(bytes)
    }

    /// Marks a part as used now.
    fn touch(&mut self, key: &Key, start: u64) {
        if let Some(part) = self.objects.get_mut(key).and_then(|object| object.parts.get_mut(&start))
            && let Some(who) = self.order.remove(&part.tick)
        {
            self.tick += 1;
            part.tick = self.tick;
            self.order.insert(self.tick, who);
        }
    }

    /// Returns a mark of `key` that changes with each write to it.
    pub(super) fn mark(&self, key: &Key) -> u64 {
        self.marks[number(key)]
    }

    /// Keeps news of a read that started at this [`mark`](Self::mark), unless the key was written since.
    pub(super) fn keep(&mut self, key: &Key, mut news: News, mark: u64) {
        if self.mark(key) != mark {
            return;
        }
        // A part larger than the budget would evict all others, and then itself.
        news.parts.retain(|(_, bytes)| cost(key, bytes.len()) <= self.budget);
        let joins = self.objects.get(key).is_some_and(|object| object.is.is_of(&news.is));
        if !joins {
            // A pinned read tells nothing about the current version.
            if !news.current && self.objects.get(key).is_some_and(|object| object.current) {
                return;
            }
            self.forget(key);
        }
        let object = self.objects.entry(key.clone()).or_insert_with(|| Object {
            is: news.is.clone(),
            current: false,
            until: None,
            parts: BTreeMap::new(),
        });
        if let (Is::Present { size: size @ None, .. }, Is::Present { size: known, .. }) =
            (&mut object.is, &news.is)
        {
            *size = *known;
        }
        if news.current {
            object.current = true;
            object.until = news.until;
        }
        let bare = object.parts.is_empty() && news.parts.is_empty();
        for (start, bytes) in news.parts.into_iter().chain(bare.then(|| (0, Bytes::new()))) {
            self.put(key, start, bytes);
        }
        while self.bytes > self.budget
            && let Some((_, (key, start))) = self.order.pop_first()
        {
            self.evictions += 1;
            self.remove(&key, start);
        }
    }

    /// Keeps a part, and drops the parts that lie inside it.
    fn put(&mut self, key: &Key, start: u64, bytes: Bytes) {
        let Some(object) = self.objects.get_mut(key) else { return };
        let end = start.saturating_add(bytes.len() as u64);
        let mut before = object.parts.range(..=start);
        if before.next_back().is_some_and(|(at, part)| part.end(*at) >= end) {
            return;
        }
        let inside = object.parts.range(start..).take_while(|(at, part)| part.end(**at) <= end);
        for at in Vec::from_iter(inside.map(|(at, _)| *at)) {
            if let Some(part) = object.parts.remove(&at) {
                self.order.remove(&part.tick);
                self.bytes -= cost(key, part.bytes.len());
            }
        }
        self.tick += 1;
        let part = Part { bytes, tick: self.tick };
        self.bytes += cost(key, part.bytes.len());
        self.order.insert(self.tick, (key.clone(), start));
        object.parts.insert(start, part);
    }

    fn remove(&mut self, key: &Key, start: u64) {
        let Some(object) = self.objects.get_mut(key) else { return };
        if let Some(part) = object.parts.remove(&start) {
            self.order.remove(&part.tick);
            self.bytes -= cost(key, part.bytes.len());
        }
        if object.parts.is_empty() {
            self.objects.remove(key);
        }
    }

    /// Drops all parts of an object.
    pub(super) fn forget(&mut self, key: &Key) {
        let Some(object) = self.objects.remove(key) else { return };
        for part in object.parts.values() {
            self.order.remove(&part.tick);
            self.bytes -= cost(key, part.bytes.len());
        }
    }

    /// Drops a key that was written, and makes sure that news of earlier reads are not kept.
    pub(super) fn written(&mut self, key: &Key) {
        self.marks[number(key)] += 1;
        self.forget(key);
    }

    /// As [`written`](Self::written), for all keys below a prefix.
    pub(super) fn written_below(&mut self, prefix: &Prefix) {
        self.marks.iter_mut().for_each(|mark| *mark += 1);
        let below: Vec<Key> =
            self.objects.keys().filter(|key| prefix.strip(key).is_some()).cloned().collect();
        below.iter().for_each(|key| self.forget(key));
    }
}

impl Is {
    /// Whether parts of both are of the same version.
    fn is_of(&self, news: &Self) -> bool {
        match (self, news) {
            (Self::Absent, Self::Absent) => true,
            (
                Self::Present { version: Some(own), size },
                Self::Present { version: Some(new), size: other },
            ) => own == new && size.zip(*other).is_none_or(|(size, other)| size == other),
            // Without versions only the parts of one answer belong together.
            _ => false,
        }
    }
}

impl Part {
    fn end(&self, start: u64) -> u64 {
        start.saturating_add(self.bytes.len() as u64)
    }
}

fn cost(key: &Key, bytes: usize) -> u64 {
    // The key is stored twice.
    PART + 2 * key.as_str().len() as u64 + bytes as u64
}

fn number(key: &Key) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % MARKS as u64).unwrap_or(0)
}

/// Returns the place of a range in an object of this size, if it can be known.
pub(super) fn place(range: ByteRange, size: Option<u64>) -> Option<Range<u64>> {
    match (range, size) {
        (range, Some(size)) => range.resolve(size).ok(),
        (ByteRange::Span { offset, len }, None) => Some(offset..offset.checked_add(len)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store may still return an old version to pinned reads.
    #[test]
    fn a_pinned_read_does_not_make_its_version_current() {
        let (key, versions) = (Key::new("k").unwrap(), [1_u8, 2].map(|token| Version::new([token])));
        let news = |number: usize, current| News {
            is: Is::Present { version: Some(versions[number].clone()), size: Some(3) },
            parts: vec![(0, ["old", "new"][number].into())],
            current,
            until: None,
        };
        let mut shelf = Shelf::new(1 << 20);
        let found = |shelf: &mut Shelf, version| match shelf.find(&key, &[ByteRange::All], version) {
            Found::Present { bytes, .. } => bytes[0].clone(),
            _ => None,
        };
        shelf.keep(&key, news(0, false), 0);
        assert_eq!(found(&mut shelf, ReadVersion::Any), None);
        assert_eq!(found(&mut shelf, ReadVersion::Pinned(&versions[0])).unwrap(), "old");
        shelf.keep(&key, news(1, true), 0);
        shelf.keep(&key, news(0, false), 0);
        assert_eq!(found(&mut shelf, ReadVersion::Any).unwrap(), "new");
        assert_eq!(found(&mut shelf, ReadVersion::Pinned(&versions[0])), None);
    }
}
