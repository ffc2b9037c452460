// The simplest store: a starting point for third parties, and the base of the flawed stores.

use std::collections::BTreeMap;
use std::sync::Mutex;

use zarr_traits::{store::*, *};

#[derive(Debug, Default)]
pub struct Plain(Mutex<Content>);

#[derive(Debug, Default)]
struct Content {
    objects: BTreeMap<Key, (Bytes, Version)>,
    puts: u64,
}

impl Store for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        ready(self.0.lock().unwrap().answer(op))
    }
}

impl Content {
    fn answer(&mut self, op: Op<'_>) -> StoreResult<Answer> {
        match op {
            Op::Read(read) => match self.objects.get(read.key) {
                Some((value, version)) => read.answer(value, Some(version.clone())),
                None => Ok(Answer::Read(None)),
            },
            Op::Head(head) => Ok(Answer::Head(self.objects.get(head.key).map(meta))),
            Op::List(list) => Ok(list.answer(self.objects.keys())),
            Op::ListDir(list) => list.answer(self.objects.keys()),
            Op::Put(put) => self.put(put).map(Answer::Write),
            Op::Delete(delete) => Ok(Answer::Write(self.delete(delete))),
            Op::DeletePrefix(prefix) => {
                self.objects.retain(|key, _| prefix.strip(key).is_none());
                Ok(Answer::Done)
            }
            Op::Sync => Ok(Answer::Done),
            op => op.unsupported(),
        }
    }

    fn put(&mut self, put: Put<'_>) -> StoreResult<Outcome> {
        let now = self.objects.get(put.key).map(|(_, version)| version);
        let holds = match put.mode {
            PutMode::Replace => true,
            PutMode::Create => now.is_none(),
            PutMode::IfUnchanged(version) => now == Some(version),
            _ => return put.unsupported_mode(),
        };
        if !holds {
            return Ok(Outcome::Conflict);
        }
        self.puts += 1;
        let version = Version::new(&self.puts.to_be_bytes()[..]);
        self.objects.insert(put.key.clone(), (put.parts.concat().into(), version.clone()));
        Ok(Outcome::Done(Some(version)))
    }

    fn delete(&mut self, delete: Delete<'_>) -> Outcome {
        let now = self.objects.get(delete.key).map(|(_, version)| version);
        if now.is_some_and(|now| delete.version.is_some_and(|version| version != now)) {
            return Outcome::Conflict;
        }
        self.objects.remove(delete.key);
        Outcome::Done(None)
    }
}

fn meta((value, version): &(Bytes, Version)) -> ObjectMeta {
    ObjectMeta::new(value.len() as u64, Some(version.clone()))
}
