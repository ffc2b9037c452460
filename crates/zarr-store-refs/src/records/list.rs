//! Listings of a directory of references. Those above the arrays read only `.zmetadata`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_map};
use std::iter::Peekable;
use std::ops::Bound;

use zarr_store::references::Reference;
use zarr_traits::store::{Answer, Dir, List, ListDir, Listed, Page};
use zarr_traits::{Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::records::grid::{Grid, Walk};
use crate::records::{ARRAY, Array, Held, Records};
use crate::table::PAGE;

/// Keys in ascending order, from one of several sources.
enum Source<'a> {
    Documents(Peekable<btree_map::Range<'a, String, Bytes>>),
    /// The index of the array.
    Chunks(usize, Walk<'a>, Held),
}

impl Records {
    /// Answers a listing, one page of it.
    pub(super) async fn list_keys(&self, list: List<'_>) -> StoreResult<Answer> {
        let prefix = list.prefix.as_str();
        let after = list.after.map_or("", |after| after.as_str());
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        let documents = self.documents.range::<str, _>((start, Bound::Unbounded)).peekable();
        let mut sources = vec![Source::Documents(documents)];
        // The next key of each source; or of an array whose chunks were not looked at, what is before all of them.
        let mut queue = BinaryHeap::new();
        for index in 0..self.arrays.len() {
            let array = self.arrays[index].prefix.as_str();
            let Some(mut walk) = self.walk(index, prefix)? else { continue };
            if let Some(name) = after.strip_prefix(array) {
                walk.skip(name);
            }
            // All names of chunks begin with a digit.
            if after < format!("{array}:").as_str() {
                queue.push(Reverse((format!("{array}/"), sources.len())));
                sources.push(Source::Chunks(index, walk, None));
            }
        }
        queue.push(Reverse((String::new(), 0)));
        let mut entries: Vec<Listed> = Vec::new();
        let mut waiting: Vec<Option<Listed>> = sources.iter().map(|_| None).collect();
        while let Some(Reverse((_, index))) = queue.pop() {
            if let Some(listed) = waiting[index].take()
                && entries.last().is_none_or(|last| last.key < listed.key)
            {
                if entries.len() == PAGE {
                    return Ok(Answer::List(Page::new(entries, true)));
                }
                entries.push(listed);
            }
            if let Some(listed) = self.next(&mut sources[index], prefix, after).await? {
                queue.push(Reverse((listed.key.as_str().to_owned(), index)));
                waiting[index] = Some(listed);
            }
        }
        Ok(Answer::List(Page::new(entries, false)))
    }

    /// Returns the next key of a source that begins with `prefix` and is behind `after`.
    async fn next(&self, source: &mut Source<'_>, prefix: &str, after: &str) -> StoreResult<Option<Listed>> {
        let (index, walk, held) = match source {
            Source::Documents(documents) => {
                let next = documents.next_if(|(key, _)| key.starts_with(prefix));
                return next.map(|(key, document)| document_of(key, document)).transpose();
            }
            Source::Chunks(index, walk, held) => (*index, walk, held),
        };
        while !walk.done {
            let listed = self.listed(index, walk, held, after).await?;
            walk.advance(usize::MAX);
            if listed.is_some() {
                return Ok(listed);
            }
        }
        Ok(None)
    }

    /// Returns the chunk at which a walk is, if there is a reference, and its key is behind `after`.
    async fn listed(
        &self,
        array: usize,
        walk: &Walk<'_>,
        held: &mut Held,
        after: &str,
    ) -> StoreResult<Option<Listed>> {
        let key = format!("{}{}", self.arrays[array].prefix, walk.name(usize::MAX));
        if key.as_str() <= after {
            return Ok(None);
        }
        let Some(record) = self.record(array, walk.number(), held).await? else { return Ok(None) };
        let listed = Listed::new(Key::new(key)?);
        // A wrong reference is an error when it is read.
        Ok(match self.reference(&record) {
            Ok(None) => None,
            Ok(Some(Reference::Bytes(bytes))) => Some(listed.with_size(bytes.len() as u64)),
            Ok(Some(Reference::Range { len, .. })) => Some(listed.with_size(len)),
            Ok(Some(_)) | Err(_) => Some(listed),
        })
    }

    /// Answers a listing of one level.
    pub(super) async fn list_level(&self, list: ListDir<'_>) -> StoreResult<Answer> {
        let prefix = list.prefix.as_str();
        let mut objects = BTreeMap::new();
        let mut prefixes = BTreeSet::new();
        for (key, document) in self.documents.range::<str, _>((Bound::Included(prefix), Bound::Unbounded)) {
            match key.strip_prefix(prefix).map(|rest| rest.split_once('/')) {
                None => break,
                Some(None) => drop(objects.insert(key.clone(), document_of(key, document)?)),
                Some(Some((name, _))) => drop(prefixes.insert(list.prefix.child(name)?)),
            }
        }
        for index in 0..self.arrays.len() {
            // Chunks further below are below a folder that has a document.
            if !prefix.starts_with(self.arrays[index].prefix.as_str()) {
                continue;
            }
            let Some(mut walk) = self.walk(index, prefix)? else { continue };
            let (mut held, fixed) = (None, walk.fixed);
            let is_deep = self.grid(index)?.has_folders(fixed);
            while !walk.done {
                let Some(listed) = self.listed(index, &walk, &mut held, "").await? else {
                    walk.advance(usize::MAX);
                    continue;
                };
                if is_deep {
                    let folder = format!("{}{}/", self.arrays[index].prefix, walk.name(fixed + 1));
                    prefixes.insert(Prefix::new(folder)?);
                    walk.advance(fixed + 1);
                } else {
                    objects.entry(listed.key.as_str().to_owned()).or_insert(listed);
                    walk.advance(usize::MAX);
                }
            }
        }
        let mut dir = Dir::default();
        dir.objects = objects.into_values().collect();
        dir.prefixes = prefixes.into_iter().collect();
        Ok(Answer::ListDir(dir))
    }

    fn grid(&self, array: usize) -> StoreResult<&Grid> {
        let Array { prefix, grid } = &self.arrays[array];
        grid.as_ref().map_err(|why| corrupt(why).with_key(format!("{prefix}{ARRAY}")))
    }

    /// Returns the chunks of an array whose keys begin with `prefix`; `None` if there are none.
    fn walk(&self, array: usize, prefix: &str) -> StoreResult<Option<Walk<'_>>> {
        let own = self.arrays[array].prefix.as_str();
        let start = match (prefix.strip_prefix(own), own.starts_with(prefix)) {
            (Some(start), _) => start,
            (None, true) => "",
            (None, false) => return Ok(None),
        };
        let grid = self.grid(array)?;
        let Some(walk) = grid.walk(start) else { return Ok(None) };
        let most = self.limits.references as u64;
        if grid.chunks > most {
            let message = format!("the array has {} chunks, listings accept {most}", grid.chunks);
            return Err(StoreError::new(StoreErrorKind::LimitExceeded, message).with_key(own));
        }
        Ok(Some(walk))
    }
}

fn document_of(key: &str, document: &Bytes) -> StoreResult<Listed> {
    Ok(Listed::new(Key::new(key)?).with_size(document.len() as u64))
}
