//! The suite finds each flaw of a store, and reports it under the right rule.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use crate::plain::Plain;
use zarr_conformance::store::{check, check_reading};
use zarr_traits::{store::*, *};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    NeedsReactor,
    AbsentIsError,
    EmptyIsAbsent,
    SortsRanges,
    TellsSizeOfRanges,
    CutsSpansShort,
    ChecksFirstRangeOnly,
    SuffixOfLessOnly,
    CutsAtLimit,
    TooLargeIsIo,
    RangesOneByOne,
    ServesNewestForPinned,
    ReportsNoVersion,
    PutsInTwoSteps,
    CreateReplaces,
    IfUnchangedReplaces,
    ConflictIsApplied,
    DeletesAnyVersion,
    DeleteWantsObject,
    PrefixWithoutSlash,
    PrefixHoldsItsName,
    ListsTemporaries,
    ListsBackwards,
    ListLosesPages,
    AfterIsIncluded,
    ListsEmptyPrefixes,
    ListsWrongSizes,
    LosesLastRange,
    ReplacesRangesOfAnySize,
    ShiftsRanges,
    RangesUndoPuts,
    IgnoresCase,
    EncodesKeys,
}

use Flaw::*;

const FLAWS: &[(Flaw, &str)] = &[
    (NeedsReactor, "1"),
    (AbsentIsError, "2"),
    (EmptyIsAbsent, "3"),
    (SortsRanges, "4"),
    (TellsSizeOfRanges, "4"),
    (CutsSpansShort, "5"),
    (ChecksFirstRangeOnly, "5"),
    (SuffixOfLessOnly, "6"),
    (CutsAtLimit, "16"),
    (TooLargeIsIo, "16"),
    (RangesOneByOne, "7"),
    (ServesNewestForPinned, "8"),
    (ReportsNoVersion, "9"),
    (PutsInTwoSteps, "10"),
    (CreateReplaces, "11"),
    (IfUnchangedReplaces, "11"),
    (ConflictIsApplied, "11"),
    (DeletesAnyVersion, "11"),
    (DeleteWantsObject, "12"),
    (PrefixWithoutSlash, "13"),
    (PrefixHoldsItsName, "13"),
    (ListsTemporaries, "14"),
    (ListsBackwards, "14"),
    (ListLosesPages, "14"),
    (AfterIsIncluded, "E.t1"),
    (ListsEmptyPrefixes, "14"),
    (ListsWrongSizes, "E.t1"),
    (LosesLastRange, "18"),
    (ReplacesRangesOfAnySize, "18"),
    (ShiftsRanges, "18"),
    (RangesUndoPuts, "18"),
    (IgnoresCase, "E.t3"),
    (EncodesKeys, "E.t8"),
];

#[test]
fn each_flaw_is_reported_under_its_rule() {
    for (flaw, rule) in FLAWS {
        let made = || Storage::from(Flawed { inner: Plain::default().into(), flaw: *flaw });
        let failures = check(made).expect_err(&format!("{flaw:?} was not found"));
        let rules: Vec<_> = failures.as_slice().iter().map(|failure| failure.rule).collect();
        assert!(rules.contains(rule), "{flaw:?} breaks rule {rule}, found:\n{failures}");
    }
}

#[test]
fn a_right_store_passes() {
    check(|| Plain::default().into()).unwrap();
}

#[test]
fn a_read_only_store_passes() {
    check_reading(|objects| {
        let storage = Storage::from(Plain::default());
        for (key, value) in objects {
            block_on(storage.put(key, value.clone())).unwrap();
        }
        storage.read_only()
    })
    .unwrap();
}

#[test]
fn a_store_that_does_not_list_passes() {
    check(|| Storage::from(Listless(Plain::default().into()))).unwrap();
}

/// A store that does not list.
#[derive(Debug)]
struct Listless(Storage);

impl Store for Listless {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities().without_list()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        if op.lists() { ready(op.unsupported()) } else { self.0.call(op) }
    }
}

#[test]
fn a_version_that_comes_back_after_a_delete_is_found() {
    // The row id of SQLite without AUTOINCREMENT, and a counter in each object.
    let row: Next = |objects, _| objects.values().map(|(_, version)| version + 1).max().unwrap_or(1);
    let counter: Next = |objects, key| objects.get(key).map_or(1, |(_, version)| version + 1);
    for next in [row, counter] {
        let failures = check(|| Storage::from(Counted { objects: Mutex::default(), next })).unwrap_err();
        let rules: Vec<_> = failures.as_slice().iter().map(|failure| failure.rule).collect();
        assert_eq!(rules, ["9"], "{failures}");
    }
}

#[test]
fn a_version_may_be_a_digest_of_the_content() {
    let digest: Next = |_, _| 0;
    check(|| Storage::from(Counted { objects: Mutex::default(), next: digest })).unwrap();
}

type Objects = BTreeMap<Key, (Bytes, u64)>;

/// Returns the version of the next content of a key; 0: the content is the version.
type Next = fn(&Objects, &Key) -> u64;

/// A store that chooses versions in its own way, and is otherwise correct.
#[derive(Debug)]
struct Counted {
    objects: Mutex<Objects>,
    next: Next,
}

impl Store for Counted {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        let objects = &mut *self.objects.lock().unwrap();
        let version = |(value, number): &(Bytes, u64)| match number {
            0 => Version::new(&value[..]),
            _ => Version::new(&number.to_be_bytes()[..]),
        };
        let is = |now: Option<&(Bytes, u64)>, wanted: &Version| now.map(version).as_ref() == Some(wanted);
        ready(match op {
            Op::Read(read) => match objects.get(read.key) {
                Some(object) => read.answer(&object.0, Some(version(object))),
                None => Ok(Answer::Read(None)),
            },
            Op::Head(head) => Ok(Answer::Head(
                objects
                    .get(head.key)
                    .map(|object| ObjectMeta::new(object.0.len() as u64, Some(version(object)))),
            )),
            Op::List(list) => Ok(list.answer(objects.keys())),
            Op::ListDir(list) => list.answer(objects.keys()),
            Op::Put(put) => {
                let now = objects.get(put.key);
                let holds = match put.mode {
                    PutMode::Create => now.is_none(),
                    PutMode::IfUnchanged(wanted) => is(now, wanted),
                    _ => true,
                };
                Ok(Answer::Write(if holds {
                    let object = (Bytes::from(put.parts.concat()), (self.next)(objects, put.key));
                    let version = version(&object);
                    objects.insert(put.key.clone(), object);
                    Outcome::Done(Some(version))
                } else {
                    Outcome::Conflict
                }))
            }
            Op::Delete(delete) => {
                let now = objects.get(delete.key);
                let holds = now.is_none() || delete.version.is_none_or(|wanted| is(now, wanted));
                Ok(Answer::Write(if holds {
                    objects.remove(delete.key);
                    Outcome::Done(None)
                } else {
                    Outcome::Conflict
                }))
            }
            Op::DeletePrefix(prefix) => {
                objects.retain(|key, _| prefix.strip(key).is_none());
                Ok(Answer::Done)
            }
            Op::Sync => Ok(Answer::Done),
            op => op.unsupported(),
        })
    }
}

/// A correct store with one flaw.
#[derive(Debug)]
struct Flawed {
    inner: Storage,
    flaw: Flaw,
}

impl Store for Flawed {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.inner.capabilities();
        capabilities.put_ranges = true;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            match op {
                Op::Read(read) => self.read(read).await.map(Answer::Read),
                Op::Head(head) => self.head(head).await.map(Answer::Head),
                Op::List(list) => self.list(list).await.map(Answer::List),
                Op::ListDir(list) => self.list_dir(list).await.map(Answer::ListDir),
                Op::Put(put) => self.put(put).await.map(Answer::Write),
                Op::PutRanges(put) => self.put_ranges(put).await.map(Answer::Write),
                Op::Delete(delete) => self.delete(delete).await.map(Answer::Write),
                Op::DeletePrefix(prefix) => self.delete_prefix(prefix).await.map(|()| Answer::Done),
                op => self.inner.call(op).await,
            }
        })
    }
}

impl Flawed {
    fn key(&self, key: &Key) -> Key {
        match self.flaw {
            IgnoresCase => Key::new(key.as_str().to_lowercase()).unwrap(),
            EncodesKeys => Key::new(key.as_str().replace('#', "%23")).unwrap(),
            _ => key.clone(),
        }
    }

    fn version(&self, version: Option<Version>) -> Option<Version> {
        version.filter(|_| self.flaw != ReportsNoVersion)
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        let (key, into) = (&self.key(read.key), read.into);
        let size = self.inner.size(key).await?.unwrap_or(0);
        let longer = |range: &ByteRange| matches!(range, ByteRange::Suffix(n) if *n > size);
        match self.flaw {
            NeedsReactor => panic!("there is no reactor running"),
            AbsentIsError if size == 0 => return Err(StoreError::new(StoreErrorKind::Io, "not found")),
            EmptyIsAbsent if size == 0 => return Ok(None),
            SuffixOfLessOnly if read.ranges.iter().any(longer) => {
                return Err(StoreError::new(StoreErrorKind::Io, "416"));
            }
            _ => {}
        }
        let ranges = self.ranges(read.ranges, size);
        let version = if self.flaw == ServesNewestForPinned { ReadVersion::Report } else { read.version };
        let meta = match self.flaw {
            RangesOneByOne => self.one_by_one(key, &ranges, version, into).await,
            CutsAtLimit => self.cut_at_limit(key, &ranges, version, into).await,
            _ => self.inner.read(Read::new(key, &ranges, &mut *into).version(version)).await,
        };
        let meta = meta.map_err(|e| match (self.flaw, e.kind()) {
            (TooLargeIsIo, StoreErrorKind::TooLarge { .. }) => {
                StoreError::new(StoreErrorKind::Io, "too much")
            }
            _ => e,
        })?;
        Ok(meta.map(|ObjectMeta { size, version, .. }| {
            let size = if self.flaw == TellsSizeOfRanges { Some(into.len() as u64) } else { size };
            ObjectMeta::new(size, self.version(version))
        }))
    }

    /// Returns the ranges that are read from an object of `size` bytes in place of the wanted ranges.
    fn ranges(&self, wanted: &[ByteRange], size: u64) -> Vec<ByteRange> {
        let mut ranges = wanted.to_vec();
        let unchecked = match self.flaw {
            CutsSpansShort => 0,
            ChecksFirstRangeOnly => 1,
            _ => ranges.len(),
        };
        for range in ranges.iter_mut().skip(unchecked) {
            if let ByteRange::Span { offset, len } = range {
                *offset = size.min(*offset);
                *len = (*len).min(size - *offset);
            }
        }
        if self.flaw == SortsRanges {
            ranges.sort_by_key(|range| range.resolve(size).map_or(0, |span| span.start));
        }
        ranges
    }

    async fn one_by_one(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
        into: &mut ReadBuffer,
    ) -> StoreResult<Option<ObjectMeta>> {
        for range in ranges {
            let reply = self.inner.get_ranges(key, &[*range], version, into.limit()).await?;
            let Some(mut reply) = reply else { return Ok(None) };
            into.share(reply.bytes.remove(0))?;
            sleep(Duration::from_micros(100));
        }
        let reply = self.inner.get_ranges(key, &[], version, 0).await?;
        Ok(reply.map(|reply| ObjectMeta::new(reply.size, reply.version)))
    }

    async fn cut_at_limit(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
        into: &mut ReadBuffer,
    ) -> StoreResult<Option<ObjectMeta>> {
        let reply = self.inner.get_ranges(key, ranges, version, u64::MAX).await?;
        let Some(reply) = reply else { return Ok(None) };
        let bytes = reply.bytes.concat();
        let limit = usize::try_from(into.limit()).unwrap_or(usize::MAX);
        into.append(&bytes[..bytes.len().min(limit)])?;
        Ok(Some(ObjectMeta::new(reply.size, reply.version)))
    }

    async fn head(&self, head: Head<'_>) -> StoreResult<Option<ObjectMeta>> {
        let meta = self.inner.head(&self.key(head.key)).await?;
        Ok(meta.map(|meta| ObjectMeta::new(meta.size, self.version(meta.version))))
    }

    async fn list(&self, list: List<'_>) -> StoreResult<Page> {
        let mut page = self.inner.list(list.prefix, list.after).await?;
        match self.flaw {
            ListsBackwards => page.entries.reverse(),
            ListLosesPages => page.entries.truncate(30),
            ListsWrongSizes => page.entries.iter_mut().for_each(|listed| listed.meta.size = Some(1)),
            AfterIsIncluded => {
                if let Some(after) = list.after
                    && self.inner.exists(after).await?
                    && list.prefix.strip(after).is_some()
                {
                    page.entries.insert(0, Listed::new(after.clone()));
                }
            }
            _ => {}
        }
        Ok(page)
    }

    async fn list_dir(&self, list: ListDir<'_>) -> StoreResult<Dir> {
        let mut dir = self.inner.list_dir(list.prefix).await?;
        if self.flaw == ListsEmptyPrefixes && list.prefix.as_str() == "a/" && !dir.prefixes.is_empty() {
            dir.prefixes.insert(0, Prefix::new("a/b/")?);
            dir.prefixes.dedup();
        }
        Ok(dir)
    }

    async fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        let (key, parts) = (&self.key(put.key), put.parts);
        let pause = || sleep(Duration::from_micros(100));
        let mode = match (self.flaw, put.mode) {
            (CreateReplaces, PutMode::Create) | (IfUnchangedReplaces, PutMode::IfUnchanged(_)) => {
                PutMode::Replace
            }
            (_, mode) => mode,
        };
        match self.flaw {
            PutsInTwoSteps => {
                let value = Bytes::from(parts.concat());
                let _ = self.inner.put_if(key, &[value.slice(..value.len() / 2)], mode).await?;
                pause();
                return self.inner.put_if(key, parts, PutMode::Replace).await;
            }
            ListsTemporaries => {
                let temporary = Key::new(format!("{}.tmp", &key.as_str()[..key.as_str().len().min(3)]))?;
                let _ = self.inner.put_if(&temporary, parts, PutMode::Replace).await?;
                pause();
                self.inner.delete(&temporary).await?;
            }
            _ => {}
        }
        let outcome = self.inner.put_if(key, parts, mode).await?;
        if self.flaw == ConflictIsApplied && outcome == Outcome::Conflict {
            let _ = self.inner.put_if(key, parts, PutMode::Replace).await?;
        }
        Ok(outcome)
    }

    async fn put_ranges(&self, put: PutRanges<'_>) -> StoreResult<Outcome> {
        let mut parts = put.parts()?;
        if self.flaw == LosesLastRange && parts.len() > 1 {
            parts.pop();
        }
        loop {
            let found =
                self.inner.get_ranges(put.key, &[ByteRange::All], ReadVersion::Report, u64::MAX).await?;
            let Some(found) = found else { return Ok(Outcome::Conflict) };
            if found.size != Some(put.size) && self.flaw != ReplacesRangesOfAnySize {
                return Ok(Outcome::Conflict);
            }
            let (mut value, version) = (found.bytes.concat(), found.version.unwrap());
            for (span, part) in &parts {
                let start = usize::try_from(span.offset).unwrap();
                let start = if self.flaw == ShiftsRanges { start & !4095 } else { start };
                value[start..start + part.len()].copy_from_slice(part);
            }
            let mode = match self.flaw {
                RangesUndoPuts => {
                    sleep(Duration::from_micros(100));
                    PutMode::Replace
                }
                _ => PutMode::IfUnchanged(&version),
            };
            if self.inner.put_if(put.key, &[value.into()], mode).await? != Outcome::Conflict {
                return Ok(Outcome::Done(None));
            }
        }
    }

    async fn delete(&self, delete: Delete<'_>) -> StoreResult<Outcome> {
        let key = &self.key(delete.key);
        if self.flaw == DeleteWantsObject && !self.inner.exists(key).await? {
            return Err(StoreError::new(StoreErrorKind::Io, "not found"));
        }
        self.inner.delete_if(key, delete.version.filter(|_| self.flaw != DeletesAnyVersion)).await
    }

    async fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        let text = prefix.as_str().trim_end_matches('/');
        for Listed { key, .. } in self.inner.list_all(&Prefix::root()).await? {
            let hit = match self.flaw {
                PrefixWithoutSlash => key.as_str().starts_with(text),
                PrefixHoldsItsName => key.as_str() == text || prefix.strip(&key).is_some(),
                _ => prefix.strip(&key).is_some(),
            };
            if hit {
                self.inner.delete(&key).await?;
            }
        }
        Ok(())
    }
}
