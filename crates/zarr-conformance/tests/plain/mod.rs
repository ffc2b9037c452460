// The plainest store there can be: what a third party starts from, and what the flaws are built into.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use zarr_traits::store::{dir_of, page_of, reply, reply_into};
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

    fn get(&self, key: &Key) -> Option<(Bytes, Version)> {
        self.open().objects.get(key).cloned()
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
        ready(self.get(key).map(|(value, version)| reply(&value, Some(version), ranges, when)).transpose())
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        let filled = |(value, version)| reply_into(&value, Some(version), ranges, when, into);
        ready(self.get(key).map(filled).transpose())
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        let stat = |(value, version): (Bytes, _)| Stat { size: value.len() as u64, version: Some(version) };
        ready(Ok(self.get(key).map(stat)))
    }
}

impl ListStore for Plain {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        ready(Ok(page_of(prefix, after, self.open().objects.keys())))
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        ready(dir_of(prefix, self.open().objects.keys()))
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
