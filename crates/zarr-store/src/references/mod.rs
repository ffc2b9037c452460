//! Stores whose keys stand for bytes at hand or for ranges of other objects. **For store authors.** With the feature
//! `references`.
//!
//! A format of references implements [`References`]: it finds the [`Reference`] of a key, and lists the keys.
//! [`ReferenceStore`] makes a read-only store of it:
//!
//! - It reads only from [`Targets`], and from the folder of the references themselves if the location is relative.
//! - A reference to an object that is missing is an error. Only a key without a reference is absent. [`Dangling`], among the
//!   sources of the error, says where the object is and why it cannot be read.
//! - A reference may say what its object was ([`Check`]). That costs no request: stores tell it with the bytes.
//! - Reads of neighbouring ranges of one object are joined into one request, although they are reads of several keys.

mod dangling;
mod joined;
mod kept;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::targets::{Target, Targets, shown};
use crate::url::{PathEncoding, split_adapters};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version,
    store::{Answer, Capabilities, Drive, Head, List, ListDir, ObjectMeta, Op, Read, ReadVersion, Store},
};

pub use dangling::{Dangling, Why};
use joined::Joined;
pub use kept::Kept;

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// These bytes.
    Bytes(Bytes),
    /// A whole object.
    Object(Arc<str>),
    /// `len` bytes of an object from `offset`.
    Range {
        /// Where the object is: a URL, an absolute path, or a path relative to the folder of the references.
        location: Arc<str>,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        len: u64,
        /// What the object must be, if the reference says it.
        check: Option<Check>,
    },
}

/// What a reference says of the object that it was made for. A read of an object that is another one by now, or of which the
/// store does not say it, is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// The object has this entity tag.
    Etag(Arc<str>),
    /// The object has not been changed after this second.
    UnchangedSince(SystemTime),
}

impl Check {
    /// Checks the version of an object that was read.
    fn check(&self, version: Option<&Version>) -> StoreResult<()> {
        let (is_same, what) = match self {
            Self::Etag(tag) => {
                (version.and_then(Version::etag).map(|now| now == tag.trim_matches('"')), "entity tag")
            }
            Self::UnchangedSince(since) => {
                let end = since.checked_add(Duration::from_secs(1));
                let modified = version.and_then(Version::modified);
                (modified.map(|modified| end.is_none_or(|end| modified < end)), "time of the last change")
            }
        };
        let (kind, message) = match is_same {
            Some(true) => return Ok(()),
            Some(false) => (
                StoreErrorKind::Changed,
                format!("the object has another {what} than when the reference was made"),
            ),
            None => (
                StoreErrorKind::Unsupported,
                format!("the store does not say the {what} of the object, which the reference demands"),
            ),
        };
        Err(StoreError::new(kind, message))
    }
}

/// The references of a store, in one format.
pub trait References: Debug + Send + Sync + 'static {
    /// Returns the reference of a key, or `None` if there is no such key.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`] if the reference is invalid; and those of the store that holds the references.
    fn find<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Reference>>>;

    /// Answers a listing of keys.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    fn list<'a>(&'a self, list: List<'a>) -> BoxFuture<'a, StoreResult<Answer>>;

    /// Answers a listing of the keys and prefixes directly below a prefix.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    fn list_dir<'a>(&'a self, list: ListDir<'a>) -> BoxFuture<'a, StoreResult<Answer>>;

    /// The version of bytes that are in the references themselves.
    fn version(&self) -> Option<Version>;

    /// How paths stand in locations that are not those of web servers.
    fn paths(&self) -> PathEncoding;
}

/// A read-only store of [`References`].
#[derive(Debug)]
pub struct ReferenceStore<R> {
    references: R,
    targets: Targets,
    storage: Storage,
    folder: Prefix,
    drive: Drive,
    joined: Joined,
}

impl<R: References> ReferenceStore<R> {
    /// Returns the store of `references`, which may name the places `targets`, and by relative locations also what is below
    /// `folder` of `storage`, the folder that holds the references.
    pub fn new(references: R, targets: Targets, storage: &Storage, folder: Prefix) -> Self {
        let own = storage.capabilities().drive;
        // Whichever is remote decides: a local target is read well by a task that waits for a network.
        let drive = if own == Drive::Inline { targets.drive() } else { own };
        Self { references, targets, storage: storage.clone(), folder, drive, joined: Joined::default() }
    }

    /// Returns the storage and the key of the object that a reference names.
    async fn target(&self, location: &str) -> StoreResult<(Storage, Key)> {
        if location.starts_with('/') || crate::scheme_of(location).is_some() {
            return self.targets.find(&Target::parse(location, self.references.paths())?).await;
        }
        match relative(&self.folder, location) {
            Ok(key) => Ok((self.storage.clone(), Key::new(key)?)),
            // Outside of the storage of the references, but perhaps in a place that is allowed.
            Err(outside) => {
                // An archive has nothing around it.
                let root = self.storage.location().filter(|root| split_adapters(root).1.is_empty());
                let root = root.ok_or_else(|| leads_out(location))?;
                let place = Target::of_url(root).and_then(|root| root.join(&outside));
                self.targets.find(&place.map_err(|_| leads_out(location))?).await
            }
        }
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        let (key, Some(reference)) = (read.key, self.references.find(read.key).await?) else {
            return Ok(Answer::Read(None));
        };
        let (location, spans) = match &reference {
            Reference::Bytes(bytes) => return read.answer(bytes, self.references.version()),
            Reference::Object(location) => (Arc::clone(location), Ok(Vec::new())),
            Reference::Range { location, offset, len, .. } => {
                (Arc::clone(location), spans(&read, *offset, *len))
            }
        };
        // The ranges are those of the caller, or inside of what the reference has.
        let is_exact = spans.is_ok() && matches!(reference, Reference::Range { .. });
        let meta = async {
            let spans = spans?;
            let (storage, at) = self.target(&location).await?;
            let answered = match reference {
                Reference::Range { len, check, .. } => {
                    self.read_spans(read, &storage, &at, &spans, len, check.as_ref()).await
                }
                _ => storage.read(read.at(&at)).await,
            };
            answered?.ok_or_else(missing)
        };
        let meta = meta.await.map_err(|e| of(e, &location, key, is_exact))?;
        Ok(Answer::Read(Some(meta)))
    }

    /// Reads spans of an object, which are ranges of the `len` bytes of a reference, and checks what the object is.
    async fn read_spans(
        &self,
        read: Read<'_>,
        storage: &Storage,
        at: &Key,
        spans: &[Range<u64>],
        len: u64,
        check: Option<&Check>,
    ) -> StoreResult<Option<ObjectMeta>> {
        let is_joined = storage.capabilities().drive != Drive::Inline;
        let meta = if is_joined && !matches!(read.version, ReadVersion::Pinned(_)) {
            let Some((parts, meta)) = self.joined.read(storage, at, spans).await? else { return Ok(None) };
            parts.into_iter().try_for_each(|part| read.into.share(part))?;
            meta
        } else {
            let ranges: Vec<_> = spans.iter().cloned().map(ByteRange::from).collect();
            let version = match read.version {
                ReadVersion::Any if check.is_some() => ReadVersion::Report,
                version => version,
            };
            let inner = Read::new(at, &ranges, &mut *read.into).version(version);
            let Some(meta) = storage.read(inner).await? else { return Ok(None) };
            meta
        };
        // Without a range nothing was asked of the store, so nothing can be of another object.
        let check = check.filter(|_| !spans.is_empty());
        check.map_or(Ok(()), |check| check.check(meta.version.as_ref()))?;
        let version = meta.version.filter(|_| !matches!(read.version, ReadVersion::Any));
        Ok(Some(ObjectMeta::new(len, version)))
    }

    async fn head(&self, head: Head<'_>) -> StoreResult<Answer> {
        let meta = match self.references.find(head.key).await? {
            None => None,
            Some(Reference::Bytes(bytes)) => {
                Some(ObjectMeta::new(bytes.len() as u64, self.references.version()))
            }
            Some(Reference::Range { len, .. }) => Some(ObjectMeta::new(len, None)),
            Some(Reference::Object(location)) => {
                let meta = async {
                    let (storage, at) = self.target(&location).await?;
                    storage.head(&at).await?.ok_or_else(missing)
                };
                Some(meta.await.map_err(|e| of(e, &location, head.key, false))?)
            }
        };
        Ok(Answer::Head(meta))
    }
}

impl<R: References> Store for ReferenceStore<R> {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::inline().read_only();
        capabilities.drive = self.drive;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => Box::pin(self.read(read)),
            Op::Head(head) => Box::pin(self.head(head)),
            Op::List(list) => self.references.list(list),
            Op::ListDir(list) => self.references.list_dir(list),
            op => zarr_traits::store::ready(op.unsupported()),
        }
    }
}

/// Returns the ranges of an object that are the ranges of a read of `len` bytes from `offset` of it.
fn spans(read: &Read<'_>, offset: u64, len: u64) -> StoreResult<Vec<Range<u64>>> {
    if offset.checked_add(len).is_none() {
        let message = format!("{len} bytes at offset {offset} are in no object");
        return Err(StoreError::new(StoreErrorKind::Corrupt, message));
    }
    read.total(len)?;
    // A range inside of `len` bytes ends at most at `offset + len`.
    let inside = |range: &ByteRange| range.resolve(len).map(|span| offset + span.start..offset + span.end);
    read.ranges.iter().map(inside).collect()
}

/// Returns the key of a path relative to a folder; or, if it leads out of the storage, the path relative to its root.
fn relative(folder: &Prefix, path: &str) -> Result<String, String> {
    let mut segments: Vec<&str> = folder.as_str().split_terminator('/').collect();
    let mut out = 0;
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.pop().is_none() => out += 1,
            ".." => {}
            name => segments.push(name),
        }
    }
    let key = segments.join("/");
    if out == 0 { Ok(key) } else { Err("../".repeat(out) + &key) }
}

fn leads_out(path: &str) -> StoreError {
    let message = format!("the relative location {} leads out of the store of the references", shown(path));
    StoreError::new(StoreErrorKind::PermissionDenied, message)
}

fn missing() -> StoreError {
    StoreError::absent("the object that this key refers to does not exist")
}

/// Returns an error of a target as that of the key that refers to it.
fn of(mut error: StoreError, location: &str, key: &Key, is_exact: bool) -> StoreError {
    error.take_key();
    let kind = match error.kind() {
        // A location that no store takes is not the mistake of the caller, who gave only the key.
        StoreErrorKind::InvalidArgument => StoreErrorKind::Corrupt,
        kind => kind,
    };
    StoreError::new(kind, format!("the reference to {} cannot be read", shown(location)))
        .with_key(key)
        .with_source(Dangling::wrapped(error, location, is_exact))
}

#[cfg(test)]
mod tests {
    use zarr_traits::block_on;
    use zarr_traits::store::ready;

    use crate::MemoryStore;

    use super::*;

    /// A store that says more of its versions than that in memory.
    #[derive(Debug)]
    struct Telling(Storage, Option<&'static str>, Option<SystemTime>);

    impl Store for Telling {
        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }

        fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
            Box::pin(async move {
                let Op::Read(read) = op else { return self.0.call(op).await };
                Ok(Answer::Read(self.0.read(read).await?.map(|mut meta| {
                    let version = meta.version.take();
                    meta.version = version.map(|version| {
                        let version = self.1.map_or(version.clone(), |tag| version.with_etag(tag));
                        self.2.map_or(version.clone(), |modified| version.with_modified(modified))
                    });
                    meta
                })))
            })
        }
    }

    /// Every key has the reference that the function returns.
    struct Finds<F>(F);

    impl<F> Debug for Finds<F> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Finds")
        }
    }

    impl<F: Fn(&str) -> Reference + Send + Sync + 'static> References for Finds<F> {
        fn find<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Reference>>> {
            ready(Ok(Some((self.0)(key.as_str()))))
        }

        fn list<'a>(&'a self, list: List<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
            ready(Op::List(list).unsupported())
        }

        fn list_dir<'a>(&'a self, list: ListDir<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
            ready(Op::ListDir(list).unsupported())
        }

        fn version(&self) -> Option<Version> {
            None
        }

        fn paths(&self) -> PathEncoding {
            PathEncoding::Plain
        }
    }

    fn range(location: &str, offset: u64, len: u64, check: Option<Check>) -> Reference {
        Reference::Range { location: location.into(), offset, len, check }
    }

    #[test]
    fn an_object_that_is_another_one_than_a_reference_says_is_an_error() {
        let memory = Storage::from(MemoryStore::new());
        block_on(memory.put(&Key::new("data").unwrap(), "abcd")).unwrap();
        let at = |seconds, nanos| Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
        let (tag, since) = (Check::Etag("\"t1\"".into()), Check::UnchangedSince(at(10, 0).unwrap()));
        let (changed, unsupported) = (Err(StoreErrorKind::Changed), Err(StoreErrorKind::Unsupported));
        for (check, etag, modified, expected) in [
            (&tag, Some("t1"), None, Ok(())),
            (&tag, Some("\"t1\""), at(99, 0), Ok(())),
            (&tag, Some("t2"), None, changed),
            (&tag, None, at(1, 0), unsupported),
            (&since, None, at(9, 0), Ok(())),
            (&since, None, at(10, 999_999_999), Ok(())),
            (&since, None, at(11, 0), changed),
            (&since, Some("t1"), None, unsupported),
        ] {
            let storage = Storage::from(Telling(memory.clone(), etag, modified));
            let only = check.clone();
            let finds = Finds(move |_: &str| range("data", 1, 2, Some(only.clone())));
            let store = ReferenceStore::new(finds, Targets::none(), &storage, Prefix::root());
            let (store, key) = (Storage::from(store), Key::new("a/c/0").unwrap());
            let nothing = block_on(store.get_ranges(&key, &[], ReadVersion::Any, 10)).unwrap().unwrap();
            assert_eq!((nothing.size, nothing.bytes.len()), (Some(2), 0));
            let read = block_on(store.get(&key, 10));
            let found = read.as_ref().map(|_| ()).map_err(StoreError::kind);
            assert_eq!(found, expected, "{check:?} {etag:?} {modified:?}");
            let why = read.as_ref().err().and_then(|e| Dangling::of(e)).map(Dangling::why);
            assert_eq!(why, (found == changed).then_some(Why::Changed));
            if found.is_ok() {
                assert_eq!(read.unwrap().unwrap()[..], *b"bc");
            }
        }
    }

    #[test]
    fn a_reference_that_dangles_says_where_to_and_why() {
        let memory = Storage::from(MemoryStore::new());
        block_on(memory.put(&Key::new("data").unwrap(), "abcd")).unwrap();
        let finds = Finds(|key: &str| match key {
            "whole" => Reference::Object("data".into()),
            "range" => range("data", 1, 9, None),
            "far" => range("https://user:secret@host/data", 1, 9, None),
            "denied" => range("s3://bucket/data?signature=secret", 1, 9, None),
            _ => range("nothing", 1, 9, None),
        });
        let store = Storage::from(ReferenceStore::new(finds, Targets::none(), &memory, Prefix::root()));
        let dangling = |key: &str, range: ByteRange| {
            let key = Key::new(key).unwrap();
            let e = block_on(store.get_ranges(&key, &[range], ReadVersion::Any, 99)).unwrap_err();
            assert!(!format!("{e:#}").contains("secret"), "{e:#}");
            Dangling::of(&e).map(|dangling| (dangling.location().to_owned(), dangling.why()))
        };
        let some = |location: &str, why| Some((location.to_owned(), why));
        let span = |offset, len| ByteRange::Span { offset, len };
        assert_eq!(dangling("gone", ByteRange::All), some("nothing", Why::Missing));
        assert_eq!(dangling("range", ByteRange::All), some("data", Why::TooShort));
        assert_eq!(dangling("denied", ByteRange::All), some("s3://bucket/data?…", Why::NotAllowed));
        // Neither a wrong location nor a range that the caller may not ask for.
        assert_eq!(dangling("far", ByteRange::All), None);
        assert_eq!(dangling("range", span(8, 2)), None);
        assert_eq!(dangling("whole", span(3, 2)), None);
        let e = block_on(store.get(&Key::new("gone").unwrap(), 99)).unwrap_err();
        let said = "key \"gone\": the reference to \"nothing\" cannot be read: the object that this key refers to does not \
                    exist: entity not found";
        assert_eq!(format!("{e:#}"), said);
    }
}
