//! Listing: the keys below a prefix in ascending order, and what lies directly below it.
//!
//! `object_store` promises no order. Where a service is known to list in the order of keys, a page is one request. Elsewhere
//! everything is listed, sorted, and given as one page. Both are bounded, whatever a service answers.

use std::collections::BTreeSet;

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

/// Names that are asked for at once: what all services give.
const PAGE: usize = 1000;

/// Pages of one listing that may be nearly empty, and the names that the others have on average at least. Services skip what
/// was deleted, and end pages early; this bounds listings that never end.
const SHORT_PAGES: usize = 1000;
const NAMES: usize = 100;

/// Memory for a name beside its bytes.
const OVERHEAD: u64 = 64;

/// An object that a listing names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) path: Path,
    size: u64,
}

impl From<ObjectMeta> for Object {
    fn from(meta: ObjectMeta) -> Self {
        Self { path: meta.location, size: meta.size }
    }
}

/// Objects in ascending order of their paths, and whether more follow: if so there is at least one.
pub(crate) struct Names {
    pub(crate) objects: Vec<Object>,
    pub(crate) more: bool,
}

impl Bucket {
    pub(crate) async fn page(&self, prefix: &Prefix, after: Option<&Key>) -> StoreResult<Page> {
        let mut after = after.map(|after| self.path(after.as_str())).transpose()?;
        for _ in 0..SHORT_PAGES {
            let Names { mut objects, more } = self.names(prefix, after.as_ref()).await?;
            let keys = (0..objects.len()).filter(|at| !marks_folder(&objects, *at));
            let entries: Vec<Listed> = keys.filter_map(|at| self.listed(&objects[at])).collect();
            if !more || !entries.is_empty() {
                return Ok(Page::new(entries, more));
            }
            // These were folders, or are not legal as keys.
            after = objects.pop().map(|last| last.path);
        }
        Err(endless(SHORT_PAGES, 0))
    }

    /// An object under its key, if it has one.
    fn listed(&self, object: &Object) -> Option<Listed> {
        Some(Listed::new(self.key(&object.path)?).with_size(object.size))
    }

    /// The objects below `prefix` that come after `after`.
    pub(crate) async fn names(&self, prefix: &Prefix, after: Option<&Path>) -> StoreResult<Names> {
        let below = format!("{}{prefix}", self.prefix);
        let wanted = |object: &Object| {
            object.path.as_ref().starts_with(&below) && after.is_none_or(|after| object.path > *after)
        };
        let (mut objects, mut more) = (Vec::new(), false);
        match &self.service.pages {
            None => objects.extend(self.stream(prefix).await?.into_iter().filter(&wanted)),
            Some(pages) => {
                let offset = after.filter(|_| self.service.ordered).map(Path::to_string);
                let mut pages = Pages::new(self, &**pages, prefix, offset)?;
                while let Some(page) = pages.next(None).await? {
                    more = pages.token.is_some();
                    let page: Vec<Object> = page.objects.into_iter().map(Object::from).collect();
                    if self.service.ordered {
                        check_order(&page, after)?;
                    }
                    objects.extend(page.into_iter().filter(&wanted));
                    // An object of no bytes is a folder if the next page says so.
                    if self.service.ordered && objects.last().is_some_and(|last| last.size > 0) {
                        break;
                    }
                }
            }
        }
        objects.sort_unstable();
        Ok(Names { objects, more })
    }

    /// All objects below `prefix` in a store that does not give pages.
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
                let mut pages = Pages::new(self, &**pages, prefix, None)?;
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
        dir.objects.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        dir.prefixes.sort_unstable();
        Ok(dir)
    }

    /// The prefix as `object_store` wants it: `None` is the root.
    fn list_prefix(&self, prefix: &Prefix) -> StoreResult<Option<Path>> {
        let path = self.path(prefix.as_str().trim_end_matches('/'))?;
        Ok((!path.as_ref().is_empty()).then_some(path))
    }
}

/// Whether an object of no bytes marks a folder, because others lie below it. Services show folders by such objects.
fn marks_folder(objects: &[Object], at: usize) -> bool {
    let Object { path, size } = &objects[at];
    *size == 0 && {
        let folder = format!("{path}/");
        let below = objects.partition_point(|object| object.path.as_ref() < &*folder);
        objects.get(below).is_some_and(|object| object.path.as_ref().starts_with(&folder))
    }
}

/// Checks that a page is in ascending order and begins behind `after`: of a service that lists otherwise it would never be
/// known what is left out. Objects of no bytes may be folders, `a/`, which are listed elsewhere than `a`.
fn check_order(objects: &[Object], after: Option<&Path>) -> StoreResult<()> {
    let paths = || objects.iter().filter(|object| object.size > 0).map(|object| &object.path);
    if paths().is_sorted() && paths().next().is_none_or(|first| after.is_none_or(|after| first > after)) {
        return Ok(());
    }
    let message = "the service does not list keys in their order, or not behind the key asked for";
    Err(StoreError::new(StoreErrorKind::Io, message))
}

fn endless(pages: usize, names: usize) -> StoreError {
    let message = format!(
        "the listing does not end: after {pages} pages with {names} names the service announces more"
    );
    StoreError::new(StoreErrorKind::Io, message)
}

/// The pages of one listing, each a request.
struct Pages<'a> {
    bucket: &'a Bucket,
    store: &'a dyn PaginatedListStore,
    prefix: String,
    offset: Option<String>,
    /// How the service finds the next page.
    token: Option<String>,
    received: usize,
    names: usize,
    room: Room,
}

impl<'a> Pages<'a> {
    fn new(
        bucket: &'a Bucket,
        store: &'a dyn PaginatedListStore,
        prefix: &Prefix,
        offset: Option<String>,
    ) -> StoreResult<Self> {
        let below = bucket.list_prefix(prefix)?;
        let prefix = below.map_or_else(String::new, |path| format!("{path}/"));
        let room = Room::new(bucket.service.listing);
        Ok(Self { bucket, store, prefix, offset, token: None, received: 0, names: 0, room })
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
            self.store.list_paginated(prefix, options).await.map_err(|e| read_error(&e))?
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
}

/// The memory that the names of a listing may take.
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
            let message = format!("the listing takes more than the {} bytes that are allowed", self.most);
            StoreError::new(StoreErrorKind::LimitExceeded, message)
        })?;
        Ok(())
    }

    fn take_all(&mut self, listed: &ListResult) -> StoreResult<()> {
        let objects = listed.objects.iter().map(|meta| &meta.location);
        objects.chain(&listed.common_prefixes).try_for_each(|path| self.take(path))
    }
}
