//! Writing: whole values, in parts where they are large, on conditions where these are wanted.
//!
//! A conditional put whose answer is lost is not sent again blindly: what is there is read, and says what became of it. Bytes
//! equal to those sent are ours, or as good as ours; an object that still meets the condition was not written, and is put
//! again; anything else is a conflict (conditional puts of several machines, each exactly once).

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, WriteMultipart};
use zarr_traits::{
    BoxFuture, Key, Outcome, Prefix, Put, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
    pause, ready,
};

use crate::error::{is_absent, write_error};
use crate::store::{Bucket, ObjectStorage, update_of, version};

/// How often a conditional put is sent at most. Each further one comes after a look at what is there.
const SENT: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Bytes of one part of a large value, and how many of them are under way at once.
const PART: usize = 16 << 20;
const PARTS_AT_ONCE: usize = 8;

/// On what condition.
#[derive(Debug, Clone)]
enum Condition {
    Absent,
    Is(Version),
}

impl Bucket {
    async fn replace(&self, path: &Path, payload: PutPayload) -> StoreResult<Outcome> {
        if payload.content_length() > self.traits.multipart {
            return self.replace_in_parts(path, payload).await;
        }
        let result = self.store.put(path, payload).await.map_err(|e| write_error(&e))?;
        Ok(Outcome::Done(version(result.e_tag.as_deref(), result.version.as_deref())))
    }

    /// Nothing of it is seen before all parts are there.
    async fn replace_in_parts(&self, path: &Path, payload: PutPayload) -> StoreResult<Outcome> {
        let upload = self.store.put_multipart(path).await.map_err(|e| write_error(&e))?;
        let mut writing = WriteMultipart::new_with_chunk_size(upload, PART);
        for part in payload.clone() {
            if let Err(e) = writing.wait_for_capacity(PARTS_AT_ONCE).await {
                // What is left of a broken upload is the service's to clean up, should this fail as well.
                let _ = writing.abort().await;
                return Err(write_error(&e));
            }
            writing.put(part);
        }
        // `finish` gives up the upload when a part fails.
        let e = match writing.finish().await {
            Ok(done) => return Ok(Outcome::Done(version(done.e_tag.as_deref(), done.version.as_deref()))),
            Err(e) => e,
        };
        let told = write_error(&e);
        let lost = matches!(told.kind(), StoreErrorKind::Uncertain | StoreErrorKind::Unavailable);
        // There is no such upload any more once it has been completed, also by a request whose answer was lost.
        if (lost || matches!(e, Error::NotFound { .. }))
            && let Ok(Seen::Ours(version)) = self.look(path, &payload, &Condition::Absent).await
        {
            return Ok(Outcome::Done(version));
        }
        Err(told)
    }

    async fn put_if(&self, path: &Path, payload: PutPayload, condition: Condition) -> StoreResult<Outcome> {
        let mode = match &condition {
            Condition::Absent => PutMode::Create,
            Condition::Is(version) => PutMode::Update(update_of(version)),
        };
        // Whether something was sent of which nobody knows what became.
        let mut lost = !self.traits.definite;
        let mut sent = 0;
        loop {
            sent += 1;
            let options = PutOptions::from(mode.clone());
            let e = match self.store.put_opts(path, payload.clone(), options).await {
                Ok(done) => {
                    return Ok(Outcome::Done(version(done.e_tag.as_deref(), done.version.as_deref())));
                }
                Err(e) => e,
            };
            let told = write_error(&e);
            let refused = match e {
                // Nothing of ours was sent but this, and this was refused: the object is another, or gone.
                Error::Precondition { .. } | Error::NotFound { .. } if !lost => return Ok(Outcome::Conflict),
                // A service says the same of an object that is there, and of somebody who writes one at this moment.
                Error::Precondition { .. } | Error::NotFound { .. } | Error::AlreadyExists { .. } => true,
                _ if matches!(told.kind(), StoreErrorKind::Uncertain | StoreErrorKind::Unavailable) => {
                    lost = true;
                    false
                }
                _ => return Err(told),
            };
            match self.look(path, &payload, &condition).await {
                Ok(Seen::Ours(version)) if lost => return Ok(Outcome::Done(version)),
                Ok(Seen::Ours(_) | Seen::Another) => return Ok(Outcome::Conflict),
                Ok(Seen::AsBefore) if sent < SENT => {
                    tokio::time::sleep(pause(FIRST_PAUSE, LONGEST_PAUSE, sent)).await
                }
                Ok(Seen::AsBefore) if refused => return Ok(Outcome::Conflict),
                Ok(Seen::AsBefore) => return Err(told),
                Err(e) => {
                    let message =
                        "the answer to a conditional put was lost, and what is there cannot be read";
                    return Err(StoreError::new(StoreErrorKind::Uncertain, message).with_source(e));
                }
            }
        }
    }

    /// What is there after a put of which nothing is known.
    async fn look(&self, path: &Path, sent: &PutPayload, condition: &Condition) -> StoreResult<Seen> {
        let Some(stat) = self.stat(path).await? else {
            return Ok(match condition {
                Condition::Absent => Seen::AsBefore,
                Condition::Is(_) => Seen::Another,
            });
        };
        if matches!(condition, Condition::Is(version) if stat.version.as_ref() == Some(version)) {
            return Ok(Seen::AsBefore);
        }
        if stat.size != sent.content_length() as u64 {
            return Ok(Seen::Another);
        }
        let there = match self.store.get(path).await {
            Ok(there) => there,
            Err(e) if is_absent(&e) => return Ok(Seen::Another),
            Err(e) => return Err(write_error(&e)),
        };
        let version = version(there.meta.e_tag.as_deref(), there.meta.version.as_deref());
        let bytes = there.bytes().await.map_err(|e| write_error(&e))?;
        let equal = bytes.len() == sent.content_length() && {
            let mut rest = &bytes[..];
            sent.iter().all(|part| {
                let (head, tail) = rest.split_at(part.len());
                rest = tail;
                head == &part[..]
            })
        };
        Ok(if equal { Seen::Ours(version) } else { Seen::Another })
    }

    async fn delete(&self, path: &Path) -> StoreResult<()> {
        match self.store.delete(path).await {
            Err(e) if !is_absent(&e) => Err(write_error(&e)),
            _ => Ok(()),
        }
    }

    async fn delete_below(&self, prefix: &Prefix) -> StoreResult<()> {
        let found = self.everything_below(prefix).await?;
        let paths = stream::iter(found.into_iter().map(Ok)).boxed();
        let mut deleted = self.store.delete_stream(paths);
        while let Some(one) = deleted.next().await {
            match one {
                Err(e) if !is_absent(&e) => return Err(write_error(&e)),
                _ => {}
            }
        }
        Ok(())
    }

    async fn everything_below(&self, prefix: &Prefix) -> StoreResult<Vec<Path>> {
        let listed = self.store.list(self.list_prefix(prefix)?.as_ref());
        let paths = listed.map_ok(|meta| meta.location).try_collect::<Vec<_>>().await;
        paths.map_err(|e| crate::error::read_error(&e))
    }
}

/// What a look finds.
enum Seen {
    /// The bytes that were sent.
    Ours(Option<Version>),
    /// What was there before.
    AsBefore,
    /// Neither.
    Another,
}

impl WriteStore for ObjectStorage {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let path = self.bucket.path(key.as_str())?;
            let payload: PutPayload = parts.iter().filter(|part| !part.is_empty()).cloned().collect();
            let condition = match how {
                Put::Replace => None,
                Put::Create => Some(Condition::Absent),
                Put::IfUnchanged(version) => Some(Condition::Is(version.clone())),
                _ => {
                    let e = StoreError::new(StoreErrorKind::Unsupported, "this way to put is not known here");
                    return Err(e.with_key(key));
                }
            };
            let running = self.run(|bucket| async move {
                match condition {
                    None => bucket.replace(&path, payload).await,
                    Some(condition) => bucket.put_if(&path, payload, condition).await,
                }
            });
            running.await.map_err(|e| e.with_key(key))
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            if version.is_some() {
                let message = "object stores delete on no condition";
                return Err(StoreError::new(StoreErrorKind::Unsupported, message).with_key(key));
            }
            let path = self.bucket.path(key.as_str())?;
            let running = self.run(|bucket| async move { bucket.delete(&path).await });
            running.await.map_err(|e| e.with_key(key))?;
            Ok(Outcome::Done(None))
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            let below = prefix.clone();
            let running = self.run(|bucket| async move { bucket.delete_below(&below).await });
            running.await.map_err(|e| e.with_key(prefix))
        })
    }

    /// What a service has acknowledged is durable.
    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        ready(Ok(()))
    }
}
