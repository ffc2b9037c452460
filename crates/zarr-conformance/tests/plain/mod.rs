// The plainest store there can be: what a third party starts from, and what the flaws are built into.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use zarr_traits::store::copy_into;
use zarr_traits::*;

#[derive(Debug, Default)]
pub struct Plain(Mutex<Objects>);

#[derive(Debug, Default)]
struct Objects {
    objects: BTreeMap<Key, (Bytes, Version)>,
    puts: u64,
}

impl Plain {
    fn open(&self) -> MutexGuard<'_, Objects> {
        self.0.lock().unwrap()
    }

    fn get(&self, key: &Key, ranges: &[ByteRange], when: If<'_>) -> StoreResult<Option<Reply>> {
        let Some((value, version)) = self.open().objects.get(key).cloned() else {
            return Ok(None);
        };
        if matches!(when, If::Pinned(wanted) if *wanted != version) {
            return Err(StoreError::new(StoreErrorKind::Changed, "another version"));
        }
        let slice = |range: &ByteRange| {
            let span = range.resolve(value.len() as u64)?;
            Ok(value.slice(span.start as usize..span.end as usize))
        };
        let bytes = ranges.iter().map(slice).collect::<StoreResult<_>>()?;
        Ok(Some(Reply { bytes, size: Some(value.len() as u64), version: Some(version) }))
    }
}

impl ReadStore for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        ready(self.get(key, ranges, when))
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        let reply = self.get(key, ranges, when);
        ready(reply.and_then(|reply| reply.map(|reply| copy_into(reply, ranges, into)).transpose()))
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        let stat = |(value, version): &(Bytes, Version)| Stat {
            size: value.len() as u64,
            version: Some(version.clone()),
        };
        ready(Ok(self.open().objects.get(key).map(stat)))
    }
}

impl ListStore for Plain {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        let below = |key: &&Key| prefix.strip(key).is_some() && after.is_none_or(|after| *key > after);
        let keys = self.open().objects.keys().filter(below).cloned().collect();
        ready(Ok(Page { keys, more: false }))
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        let mut dir = Dir::default();
        for key in self.open().objects.keys() {
            match prefix.strip(key).map(|rest| rest.split_once('/')) {
                None => {}
                Some(None) => dir.keys.push(key.clone()),
                Some(Some((name, _))) => dir.prefixes.push(prefix.child(name).unwrap()),
            }
        }
        dir.prefixes.dedup();
        ready(Ok(dir))
    }
}

impl WriteStore for Plain {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        let mut objects = self.open();
        let now = objects.objects.get(key).map(|(_, version)| version);
        let holds = match how {
            Put::Create => now.is_none(),
            Put::IfUnchanged(version) => now == Some(version),
            _ => true,
        };
        if !holds {
            return ready(Ok(Outcome::Conflict));
        }
        objects.puts += 1;
        let version = Version::new(&objects.puts.to_be_bytes()[..]);
        objects.objects.insert(key.clone(), (parts.concat().into(), version.clone()));
        ready(Ok(Outcome::Done(Some(version))))
    }

    fn delete<'a>(&'a self, key: &'a Key, when: Option<&'a Version>) -> BoxFuture<'a, StoreResult<Outcome>> {
        let mut objects = self.open();
        let now = objects.objects.get(key).map(|(_, version)| version);
        if now.is_some_and(|now| when.is_some_and(|version| version != now)) {
            return ready(Ok(Outcome::Conflict));
        }
        objects.objects.remove(key);
        ready(Ok(Outcome::Done(None)))
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        self.open().objects.retain(|key, _| prefix.strip(key).is_none());
        ready(Ok(()))
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        ready(Ok(()))
    }
}
