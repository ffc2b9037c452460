//! Writing: whole values, large ones in parts, and with conditions.
//!
//! A conditional put whose answer is lost is not repeated blindly. Every put that may need it carries [`Marks`]: its own,
//! and those of the puts before it. A look at the object then tells what happened to the put:
//!
//! | answer | was an earlier answer lost? | the object | result |
//! | --- | --- | --- | --- |
//! | done | | | done |
//! | the condition does not hold | no | | conflict |
//! | an object exists, or another put is running | no | exists | conflict |
//! | the same | no | does not exist | repeated, in the end a conflict |
//! | the same | no | cannot be read | the error of reading it: nothing was applied |
//! | lost, or any of these after a lost one | | has our mark, as its own or as one before it | done |
//! | | | is unchanged | repeated, in the end uncertain |
//! | | | follows the value that we should have replaced | conflict |
//! | | | is another one, or cannot be read | uncertain: ours may have been replaced |
//! | any other error | no | | that error |
//! | any other error | yes | | uncertain |

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, MultipartUpload, ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, Result,
};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult, Version, store::Outcome};

use crate::bucket::Bucket;
use crate::error::{is_absent, read_error, write_error};
use crate::get::{update_of, version, version_of};
use crate::marks::{Fate, Marks};
use crate::retries::Tries;

/// The size of a part of a large value, in bytes.
const PART: usize = 16 << 20;

/// The number of parts of a value that are sent at once.
const PARTS_AT_ONCE: usize = 8;

/// The condition of a put.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Absent,
    Is(Version),
}

/// The object after a put whose answer was lost.
enum Seen {
    /// The value of this put, or one that has replaced it. Then the version is not known.
    Ours(Option<Version>),
    /// The value from before.
    AsBefore,
    /// A value that was put in place of this one.
    NotOurs,
    /// Another value, or none.
    Another,
}

/// The reason why a conditional put failed.
enum Failed {
    /// The condition did not hold when the service checked it.
    Condition,
    /// An object exists, or another writer is creating one: services answer both in the same way.
    Perhaps,
    /// The put may have been applied.
    Lost,
    /// The put was not applied.
    Otherwise,
}

impl Failed {
    fn of(e: &Error) -> Self {
        match e {
            Error::Precondition { .. } | Error::NotFound { .. } => Self::Condition,
            Error::AlreadyExists { .. } => Self::Perhaps,
            e if write_error(e).kind() == StoreErrorKind::Uncertain => Self::Lost,
            _ => Self::Otherwise,
        }
    }
}

impl Bucket {
    /// Puts a value without a condition.
    pub(crate) async fn replace(&self, path: &Path, payload: PutPayload) -> StoreResult<Outcome> {
        if payload.content_length() > self.service.multipart {
            return self.replace_in_parts(path, payload).await;
        }
        let _slot = self.slot().await;
        let done = self.store.put(path, payload).await;
        done.map(|done| applied(&done, Marks::default())).map_err(|e| write_error(&e))
    }

    /// Puts a value in parts. No part is visible before the last request.
    async fn replace_in_parts(&self, path: &Path, payload: PutPayload) -> StoreResult<Outcome> {
        let marks = Marks::new();
        let mut upload = self.begin(path, &marks).await.map_err(|e| write_error(&e))?;
        let e = match self.send_parts(&mut *upload, payload).await {
            Ok(done) => return Ok(applied(&done, marks)),
            Err(e) => e,
        };
        let told = write_error(&e);
        // A completed upload no longer exists, even if the request that completed it got no answer.
        let perhaps = told.kind() == StoreErrorKind::Uncertain || matches!(e, Error::NotFound { .. });
        if perhaps && let Ok(Seen::Ours(version)) = self.look(path, &marks, &Condition::Absent).await {
            return Ok(Outcome::Done(version));
        }
        // If this fails as well, the service must remove the parts.
        let _slot = self.slot().await;
        let _ = upload.abort().await;
        Err(told)
    }

    async fn begin(&self, path: &Path, marks: &Marks) -> Result<Box<dyn MultipartUpload>> {
        let _slot = self.slot().await;
        let options = PutMultipartOptions { attributes: marks.attributes(), ..Default::default() };
        match self.store.put_multipart_opts(path, options).await {
            Err(e) if has_no_marks(&e) => self.store.put_multipart(path).await,
            upload => upload,
        }
    }

    async fn send_parts(&self, upload: &mut dyn MultipartUpload, payload: PutPayload) -> Result<PutResult> {
        let sent = stream::iter(parts(&payload, PART)).map(|part| {
            let sent = upload.put_part(part);
            async move {
                let _slot = self.slot().await;
                sent.await
            }
        });
        sent.buffer_unordered(PARTS_AT_ONCE).try_collect::<()>().await?;
        let _slot = self.slot().await;
        upload.complete().await
    }

    /// Puts a value with a condition: see the table above.
    pub(crate) async fn put_if(
        &self,
        path: &Path,
        payload: PutPayload,
        condition: &Condition,
    ) -> StoreResult<Outcome> {
        let marks = match condition {
            Condition::Absent => Marks::first(),
            Condition::Is(version) => Marks::after(version),
        };
        let mut tries = Tries::new(&self.service.retries);
        let mut lost = !self.service.definite;
        loop {
            let e = match self.send(path, &payload, condition, &marks).await {
                Ok(done) => return Ok(applied(&done, marks)),
                Err(e) => e,
            };
            match Failed::of(&e) {
                Failed::Condition if !lost => return Ok(Outcome::Conflict),
                Failed::Otherwise if lost && self.service.definite => {
                    return Err(uncertain().with_source(write_error(&e)));
                }
                Failed::Otherwise => return Err(write_error(&e)),
                Failed::Lost => lost = true,
                Failed::Condition | Failed::Perhaps => {}
            }
            match self.look(path, &marks, condition).await {
                Ok(Seen::Ours(version)) => return Ok(Outcome::Done(version)),
                Ok(Seen::NotOurs) => return Ok(Outcome::Conflict),
                Ok(Seen::Another) if !lost => return Ok(Outcome::Conflict),
                Ok(Seen::Another) => return Err(uncertain()),
                Ok(Seen::AsBefore) if tries.next(None).await => {}
                Ok(Seen::AsBefore) if !lost => return Ok(Outcome::Conflict),
                Ok(Seen::AsBefore) => return Err(uncertain().with_source(write_error(&e))),
                Err(e) if !lost => return Err(e),
                Err(e) => return Err(uncertain().with_source(e)),
            }
        }
    }

    async fn send(
        &self,
        path: &Path,
        payload: &PutPayload,
        condition: &Condition,
        marks: &Marks,
    ) -> Result<PutResult> {
        let mode = match condition {
            Condition::Absent => PutMode::Create,
            Condition::Is(version) => PutMode::Update(update_of(version)),
        };
        let _slot = self.slot().await;
        let options =
            PutOptions { mode: mode.clone(), attributes: marks.attributes(), ..PutOptions::default() };
        match self.store.put_opts(path, payload.clone(), options).await {
            Err(e) if has_no_marks(&e) => self.store.put_opts(path, payload.clone(), mode.into()).await,
            sent => sent,
        }
    }

    /// Looks at the object after a put with these marks. Its bytes would tell less: another writer may put the same bytes.
    async fn look(&self, path: &Path, marks: &Marks, condition: &Condition) -> StoreResult<Seen> {
        let _slot = self.slot().await;
        let there = match self.store.get_opts(path, GetOptions { head: true, ..GetOptions::default() }).await
        {
            Ok(there) => there,
            Err(e) if is_absent(&e) => {
                return Ok(match condition {
                    Condition::Absent => Seen::AsBefore,
                    Condition::Is(_) => Seen::Another,
                });
            }
            Err(e) => return Err(read_error(&e)),
        };
        let version = version_of(&there);
        Ok(match (Marks::of(&there.attributes).fate(marks), condition) {
            (Fate::Stored, _) => Seen::Ours(version),
            (Fate::Replaced, _) => Seen::Ours(None),
            (_, Condition::Is(before)) if version.as_ref() == Some(before) => Seen::AsBefore,
            (Fate::NotApplied, _) => Seen::NotOurs,
            (Fate::Unknown, _) => Seen::Another,
        })
    }
}

fn applied(done: &PutResult, marks: Marks) -> Outcome {
    let version = version(done.e_tag.as_deref(), done.version.as_deref());
    Outcome::Done(version.map(|version| marks.on(version)))
}

fn uncertain() -> StoreError {
    let message = "the answer to a conditional put was lost, and the stored object does not tell whether it was applied";
    StoreError::new(StoreErrorKind::Uncertain, message)
}

/// Whether a store refuses user metadata of objects, as directories do.
fn has_no_marks(e: &Error) -> bool {
    matches!(e, Error::NotImplemented { .. } | Error::NotSupported { .. })
}

/// Divides a value into parts of `size` bytes, without a copy. The last part may be smaller.
fn parts(payload: &PutPayload, size: usize) -> Vec<PutPayload> {
    let (mut all, mut part, mut room) = (Vec::new(), Vec::<Bytes>::new(), size);
    for bytes in payload {
        let mut bytes = bytes.clone();
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(room));
            room -= piece.len();
            part.push(piece);
            if room == 0 {
                all.push(std::mem::take(&mut part).into_iter().collect());
                room = size;
            }
        }
    }
    if !part.is_empty() {
        all.push(part.into_iter().collect());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_cut_into_parts_of_one_size() {
        for (pieces, sizes) in [
            (vec![], vec![]),
            (vec![3], vec![3]),
            (vec![4], vec![4]),
            (vec![9], vec![4, 4, 1]),
            (vec![1, 2, 3, 4, 5], vec![4, 4, 4, 3]),
            (vec![4, 0, 4], vec![4, 4]),
        ] {
            let value: Vec<u8> = (0..pieces.iter().sum::<usize>()).map(|n| n.to_le_bytes()[0]).collect();
            let mut rest = Bytes::from(value.clone());
            let payload: PutPayload = pieces.iter().map(|len| rest.split_to(*len)).collect();
            let parts = parts(&payload, 4);
            assert_eq!(parts.iter().map(PutPayload::content_length).collect::<Vec<_>>(), sizes, "{pieces:?}");
            let joined: Vec<u8> = parts.into_iter().flatten().flatten().collect();
            assert_eq!(joined, value, "{pieces:?}");
        }
    }
}
