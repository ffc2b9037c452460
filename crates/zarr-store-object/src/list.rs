//! Lists the keys below a prefix in ascending order, or the entries directly below it.
//!
//! `object_store` guarantees no order. If a service lists in the order of keys, a page is one request. Otherwise
//! everything is listed, sorted, and returned as one page. Both are bounded for any answers of the service.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta};
use zarr_traits::{
    Key, Prefix, StoreError, StoreErrorKind, StoreResult,
    store::{Dir, Listed, Page},
};

use crate::bucket::Bucket;
use crate::error::read_error;

/// The number of names to request at once, which all services support.
const PAGE: usize = 1000;

/// Limits endless listings: the number of pages that may be nearly empty, and the smallest average number of names of
/// the other pages. Services skip deleted objects and end pages early.
const SHORT_PAGES: usize = 1000;
const NAMES: usize = 100;

/// The names per second below which a listing counts as stuck. The time to list the received names at this rate is added
/// to the time limit of an operation.
const SLOWEST: usize = 100;

/// The memory for a name beside its bytes.
const OVERHEAD: u64 = 64;

/// A listed object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) path: Path,
    size: u64,
}

impl From<ObjectMeta> for Object {
    fn from(meta: ObjectMeta) -> Self {
        Self { path: meta.location, size: meta.size }
    }
}

/// Objects in ascending order of their paths. If `more` is set, more follow, and there is at least one here.
pub(crate) struct Names {
    pub(crate) objects: Vec<Object>,
    pub(crate) more: bool,
}

impl Bucket {
    pub(crate) async fn page(&self, prefix: &Prefix, after: Option<&Key>) -> StoreResult<Page> {
        let mut after = after.map(|after| self.path(after.as_str())).transpose()?;
        let began = Instant::now();
        for _ in 0..SHORT_PAGES {
            let Names { mut objects, more } = self.names_since(began, prefix, after.as_ref()).await?;
            let keys = (0..objects.len()).filter(|at| !marks_folder(&objects, *at));
            let entries: Vec<Listed> = keys.filter_map(|at| self.listed(&objects[at])).collect();
            if !more || !entries.is_empty() {
                return Ok(Page::new(entries, more));
            }
            // All of them mark folders, or have names that no key can have.
            after = objects.pop().map(|last| last.path);
        }
        Err(endless(SHORT_PAGES, 0))
    }

    /// Returns an object under its key, or `None` if no key can have this name.
    fn listed(&self, object: &Object) -> Option<Listed> {
        Some(Listed::new(self.key(&object.path)?).with_size(object.size))
    }

    /// Returns the objects below `prefix` that come after `after`.
    pub(crate) async fn names(&self, prefix: &Prefix, after: Option<&Path>) -> StoreResult<Names> {
        self.names_since(Instant::now(), prefix, after).await
    }

    /// Returns the names, within the time limit of an operation that `began` earlier.
    async fn names_since(&self, began: Instant, prefix: &Prefix, after: Option<&Path>) -> StoreResult<Names> {
        let below = format!("{}{prefix}", self.prefix);
        let wanted = |object: &Object| {
            object.path.as_ref().starts_with(&below) && after.is_none_or(|after| object.path > *after)
        };
        let (mut objects, mut more) = (Vec::new(), false);
        match &self.service.pages {
            None => objects.extend(self.stream(prefix).await?.into_iter().filter(&wanted)),
            Some(pages) => {
                let offset = after.filter(|_| self.service.ordered).map(Path::to_string);
                let mut pages = Pages::new(self, &**pages, prefix, offset, began)?;
                while let Some(page) = pages.next(None).await? {
                    more = pages.token.is_some();
                    let page: Vec<Object> = page.objects.into_iter().map(Object::from).collect();
                    if self.service.ordered {
                        check_order(&page, after)?;
                    }
                    objects.extend(page.into_iter().filter(&wanted));
                    // An empty object marks a folder if the next page has objects below it.
                    if self.service.ordered && objects.last().is_some_and(|last| last.size > 0) {
                        break;
                    }
                }
            }
        }
        sort(&mut objects);
        Ok(Names { objects, more })
    }

    /// Lists all objects below `prefix` in a store without pages.
    async fn stream(&self, prefix: &Prefix) -> StoreResult<Vec<Object>> {
        let _slot = self.slot().await;
        let mut listed = self.store.list(self.list_prefix(prefix)?.as_ref());
        let (mut objects, mut room) = (Vec::new(), Room::new(self.service.listing));
        while let Some(meta) = listed.next().await {
            let meta = meta.map_err(|e| read_error(&e))?;
            room.take(&meta.location)?;
            objects.push(meta.into());
        }
        Ok(objects)
    }

    pub(crate) async fn dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let (mut objects, mut prefixes) = (Vec::new(), BTreeSet::new());
        match &self.service.pages {
            Some(pages) => {
                let mut pages = Pages::new(self, &**pages, prefix, None, Instant::now())?;
                while let Some(page) = pages.next(Some("/")).await? {
                    objects.extend(page.objects.into_iter().map(Object::from));
                    prefixes.extend(page.common_prefixes);
                }
            }
            None => {
                let _slot = self.slot().await;
                let below = self.list_prefix(prefix)?;
                let listed =
                    self.store.list_with_delimiter(below.as_ref()).await.map_err(|e| read_error(&e))?;
                Room::new(self.service.listing).take_all(&listed)?;
                objects.extend(listed.objects.into_iter().map(Object::from));
                prefixes.extend(listed.common_prefixes);
            }
        }
        sort(&mut objects);
        self.dir_of(prefix, &objects, &prefixes)
    }

    fn dir_of(&self, prefix: &Prefix, objects: &[Object], prefixes: &BTreeSet<Path>) -> StoreResult<Dir> {
        let mut dir = Dir::default();
        let name = |key: &Key| prefix.strip(key).filter(|name| !name.contains('/')).map(str::to_owned);
        for name in prefixes.iter().filter_map(|path| name(&self.key(path)?)) {
            dir.prefixes.push(prefix.child(&name)?);
        }
        let marks = |object: &&Object| object.size == 0 && prefixes.contains(&object.path);
        let listed = objects.iter().filter(|object| !marks(object)).filter_map(|object| self.listed(object));
        dir.objects = listed.filter(|listed| name(&listed.key).is_some()).collect();
        dir.prefixes.sort_unstable();
        Ok(dir)
    }

    /// Returns the prefix in the form of `object_store`; `None` is the root.
    fn list_prefix(&self, prefix: &Prefix) -> StoreResult<Option<Path>> {
        let path = self.path(prefix.as_str().trim_end_matches('/'))?;
        Ok((!path.as_ref().is_empty()).then_some(path))
    }
}

/// Sorts objects by their paths, and keeps one for each path, the largest: a service may list an object twice while others
/// are written, and a folder `a/` has the path `a`.
fn sort(objects: &mut Vec<Object>) {
    objects.sort_unstable_by(|a, b| a.path.cmp(&b.path).then(b.size.cmp(&a.size)));
    objects.dedup_by(|a, b| a.path == b.path);
}

/// Whether an empty object marks a folder, because others are below it. Services represent folders by such objects.
fn marks_folder(objects: &[Object], at: usize) -> bool {
    let Object { path, size } = &objects[at];
    *size == 0 && {
        let folder = format!("{path}/");
        let below = objects.partition_point(|object| object.path.as_ref() < &*folder);
        objects.get(below).is_some_and(|object| object.path.as_ref().starts_with(&folder))
    }
}

/// Checks that a page is in ascending order and begins after `after`. Otherwise keys could be missing unnoticed. Empty
/// objects may be folders, `a/`, which are sorted elsewhere than `a`.
fn check_order(objects: &[Object], after: Option<&Path>) -> StoreResult<()> {
    let paths = || objects.iter().filter(|object| object.size > 0).map(|object| &object.path);
    if paths().is_sorted() && paths().next().is_none_or(|first| after.is_none_or(|after| first > after)) {
        return Ok(());
    }
    let message = "the service does not list keys in order, or not from the requested key on";
    Err(StoreError::new(StoreErrorKind::Io, message))
}

fn endless(pages: usize, names: usize) -> StoreError {
    let message =
        format!("the listing does not end: after {pages} pages with {names} names there are still more");
    StoreError::new(StoreErrorKind::Io, message)
}

/// The pages of one listing. Each is a request.
struct Pages<'a> {
    bucket: &'a Bucket,
    store: &'a dyn PaginatedListStore,
    prefix: String,
    offset: Option<String>,
    /// The token of the next page.
    token: Option<String>,
    received: usize,
    names: usize,
    room: Room,
    began: Instant,
}

impl<'a> Pages<'a> {
    fn new(
        bucket: &'a Bucket,
        store: &'a dyn PaginatedListStore,
        prefix: &Prefix,
        offset: Option<String>,
        began: Instant,
    ) -> StoreResult<Self> {
        let below = bucket.list_prefix(prefix)?;
        let prefix = below.map_or_else(String::new, |path| format!("{path}/"));
        let room = Room::new(bucket.service.listing);
        Ok(Self { bucket, store, prefix, offset, token: None, received: 0, names: 0, room, began })
    }

    async fn next(&mut self, delimiter: Option<&'static str>) -> StoreResult<Option<ListResult>> {
        if self.received > 0 && self.token.is_none() {
            return Ok(None);
        }
        let options = PaginatedListOptions {
            offset: self.offset.clone(),
            delimiter: delimiter.map(Into::into),
            max_keys: Some(PAGE),
            page_token: self.token.clone(),
            ..PaginatedListOptions::default()
        };
        let prefix = Some(&*self.prefix).filter(|prefix| !prefix.is_empty());
        let page = {
            let _slot = self.bucket.slot().await;
            let page = tokio::time::timeout(self.left(), self.store.list_paginated(prefix, options)).await;
            page.map_err(|_| self.too_slow())?.map_err(|e| read_error(&e))?
        };
        let token = page.page_token.filter(|token| !token.is_empty());
        self.room.take_all(&page.result)?;
        self.received += 1;
        self.names += page.result.objects.len() + page.result.common_prefixes.len();
        let short = self.received > SHORT_PAGES && self.names < NAMES * self.received;
        if short || (token.is_some() && token == self.token) {
            return Err(endless(self.received, self.names));
        }
        self.token = token;
        Ok(Some(page.result))
    }

    /// Returns the time that is left for the listing.
    fn left(&self) -> Duration {
        let moving = Duration::from_secs((self.names / SLOWEST) as u64);
        self.bucket.service.retries.timeout.saturating_add(moving).saturating_sub(self.began.elapsed())
    }

    fn too_slow(&self) -> StoreError {
        let (time, pages, names) = (self.began.elapsed().as_secs(), self.received, self.names);
        let message = format!("the listing takes too long: {pages} pages with {names} names after {time} s");
        StoreError::new(StoreErrorKind::Unavailable, message)
    }
}

/// The memory that the names of a listing may use.
struct Room {
    most: u64,
    left: u64,
}

impl Room {
    fn new(most: u64) -> Self {
        Self { most, left: most }
    }

    fn take(&mut self, path: &Path) -> StoreResult<()> {
        let left = self.left.checked_sub(path.as_ref().len() as u64 + OVERHEAD);
        self.left = left.ok_or_else(|| {
            let message = format!("the listing needs more than the allowed {} bytes", self.most);
            StoreError::new(StoreErrorKind::LimitExceeded, message)
        })?;
        Ok(())
    }

    fn take_all(&mut self, listed: &ListResult) -> StoreResult<()> {
        let objects = listed.objects.iter().map(|meta| &meta.location);
        objects.chain(&listed.common_prefixes).try_for_each(|path| self.take(path))
    }
}
