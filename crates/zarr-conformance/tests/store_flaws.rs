//! The suite finds what it is there to find: each flaw is reported under the rule that it breaks.

#![allow(clippy::unwrap_used, reason = "it is for tests")]

#[allow(clippy::cast_possible_truncation, unreachable_pub, reason = "it is written as a third party would")]
mod plain;

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use plain::Plain;
use zarr_conformance::store::{check, check_reading};
use zarr_traits::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    NeedsReactor,
    AbsentIsError,
    EmptyIsAbsent,
    SortsRanges,
    ForgetsSize,
    CutsSpansShort,
    NoErrorInReadInto,
    SuffixOfLessOnly,
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
    IgnoresCase,
    EncodesKeys,
}

use Flaw::*;

const FLAWS: &[(Flaw, &str)] = &[
    (NeedsReactor, "1"),
    (AbsentIsError, "2"),
    (EmptyIsAbsent, "3"),
    (SortsRanges, "4"),
    (ForgetsSize, "4"),
    (CutsSpansShort, "5"),
    (NoErrorInReadInto, "5"),
    (SuffixOfLessOnly, "6"),
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
    (IgnoresCase, "E.t3"),
    (EncodesKeys, "E.t8"),
];

#[test]
fn each_flaw_is_reported_under_its_rule() {
    for (flaw, rule) in FLAWS {
        let made = || Storage::from(Flawed { inner: Plain::default().into(), flaw: *flaw });
        let failures = check(made).expect_err(&format!("{flaw:?} was not found"));
        let rules: Vec<_> = failures.as_slice().iter().map(|failure| failure.rule).collect();
        assert!(rules.contains(rule), "{flaw:?} breaks rule {rule}, and this was found:\n{failures}");
    }
}

#[test]
fn a_right_store_passes() {
    check(|| Plain::default().into()).unwrap();
}

#[test]
fn a_store_that_can_only_be_read_passes() {
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
    check(|| {
        let store = Arc::new(Plain::default());
        Storage::new(store.clone(), None, Some(store))
    })
    .unwrap();
}

/// A right store with one flaw.
#[derive(Debug)]
struct Flawed {
    inner: Storage,
    flaw: Flaw,
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

    async fn get(&self, key: &Key, ranges: &[ByteRange], when: If<'_>) -> StoreResult<Option<Reply>> {
        let reader = self.inner.reader();
        let when = if self.flaw == ServesNewestForPinned { If::Versioned } else { when };
        let mut ranges = ranges.to_vec();
        let size = reader.size(key).await?.map_or(0, |stat| stat.size);
        match self.flaw {
            NeedsReactor => panic!("there is no reactor running"),
            AbsentIsError if size == 0 => return Err(StoreError::new(StoreErrorKind::Io, "not found")),
            EmptyIsAbsent if size == 0 => return Ok(None),
            SuffixOfLessOnly if ranges.iter().any(|r| matches!(r, ByteRange::Suffix(n) if *n > size)) => {
                return Err(StoreError::new(StoreErrorKind::Io, "416"));
            }
            SortsRanges => ranges.sort_by_key(|range| range.resolve(size).map_or(0, |span| span.start)),
            CutsSpansShort => {
                for range in &mut ranges {
                    if let ByteRange::Span { offset, len } = range {
                        *offset = size.min(*offset);
                        *len = (*len).min(size - *offset);
                    }
                }
            }
            RangesOneByOne => {
                let mut bytes = Vec::new();
                for range in &ranges {
                    let Some(reply) = reader.get_ranges(key, &[*range], when).await? else {
                        return Ok(None);
                    };
                    bytes.extend(reply.bytes);
                    sleep(Duration::from_micros(100));
                }
                return Ok(reader.get_ranges(key, &[], when).await?.map(|reply| Reply { bytes, ..reply }));
            }
            _ => {}
        }
        let reply = reader.get_ranges(key, &ranges, when).await?;
        Ok(reply.map(|reply| Reply { version: self.version(reply.version), ..reply }))
    }
}

impl ReadStore for Flawed {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move { self.get(&self.key(key), ranges, when).await })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move {
            let mut filled = match self.get(&self.key(key), ranges, when).await {
                Err(_) if self.flaw == NoErrorInReadInto => {
                    return Ok(Some(Filled { len: 0, size: None, version: None }));
                }
                reply => reply?.map(|reply| store::copy_into(reply, ranges, into)).transpose()?,
            };
            if let (ForgetsSize, Some(filled)) = (self.flaw, &mut filled) {
                filled.size = Some(filled.len as u64);
            }
            Ok(filled)
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move {
            let stat = self.inner.reader().size(&self.key(key)).await?;
            Ok(stat.map(|stat| Stat { version: self.version(stat.version), ..stat }))
        })
    }
}

impl ListStore for Flawed {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            let mut page = self.inner.lister()?.list(prefix, after).await?;
            match self.flaw {
                ListsBackwards => page.keys.reverse(),
                ListLosesPages => page.keys.truncate(30),
                AfterIsIncluded => {
                    if let Some(after) = after
                        && self.inner.get(after).await?.is_some()
                        && prefix.strip(after).is_some()
                    {
                        page.keys.insert(0, after.clone());
                    }
                }
                _ => {}
            }
            Ok(page)
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            let mut dir = self.inner.lister()?.list_dir(prefix).await?;
            if self.flaw == ListsEmptyPrefixes && prefix.as_str() == "a/" && !dir.prefixes.is_empty() {
                dir.prefixes.insert(0, Prefix::new("a/b/")?);
                dir.prefixes.dedup();
            }
            Ok(dir)
        })
    }
}

impl WriteStore for Flawed {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let (key, writer) = (&self.key(key), self.inner.writer()?);
            let pause = || sleep(Duration::from_micros(100));
            let how = match (self.flaw, how) {
                (CreateReplaces, Put::Create) | (IfUnchangedReplaces, Put::IfUnchanged(_)) => Put::Replace,
                (_, how) => how,
            };
            match self.flaw {
                PutsInTwoSteps => {
                    let value = Bytes::from(parts.concat());
                    let _ = writer.put(key, &[value.slice(..value.len() / 2)], how).await?;
                    pause();
                    return writer.put(key, parts, Put::Replace).await;
                }
                ListsTemporaries => {
                    let temporary = Key::new(format!("{}.tmp", &key.as_str()[..key.as_str().len().min(3)]))?;
                    let _ = writer.put(&temporary, parts, Put::Replace).await?;
                    pause();
                    let _ = writer.delete(&temporary, None).await?;
                }
                _ => {}
            }
            let outcome = writer.put(key, parts, how).await?;
            if self.flaw == ConflictIsApplied && outcome == Outcome::Conflict {
                let _ = writer.put(key, parts, Put::Replace).await?;
            }
            Ok(outcome)
        })
    }

    fn delete<'a>(&'a self, key: &'a Key, when: Option<&'a Version>) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let key = &self.key(key);
            if self.flaw == DeleteWantsObject && self.inner.get(key).await?.is_none() {
                return Err(StoreError::new(StoreErrorKind::Io, "not found"));
            }
            let when = when.filter(|_| self.flaw != DeletesAnyVersion);
            self.inner.writer()?.delete(key, when).await
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            let text = prefix.as_str().trim_end_matches('/');
            for key in self.inner.list_all(&Prefix::root()).await? {
                let hit = match self.flaw {
                    PrefixWithoutSlash => key.as_str().starts_with(text),
                    PrefixHoldsItsName => key.as_str() == text || prefix.strip(&key).is_some(),
                    _ => prefix.strip(&key).is_some(),
                };
                if hit {
                    let _ = self.inner.writer()?.delete(&key, None).await?;
                }
            }
            Ok(())
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        self.inner.writer().map_or_else(|e| ready(Err(e)), |writer| writer.sync())
    }
}
