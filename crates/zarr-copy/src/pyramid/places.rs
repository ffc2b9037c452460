//! The places of the levels before a run: empty, of an earlier run, or of levels that are replaced.

use zarr_array::Limits;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::Object;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;

use super::marker::{self, Records};
use super::plan::PyramidPlan;
use crate::document;
use crate::error::{CopyError, CopyErrorKind, CopyResult};

/// What an earlier run has left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Unfinished,
    Complete,
}

impl PyramidPlan {
    /// Checks the places of the levels, and puts the marker.
    pub(super) async fn begin(&self, resume: bool, records: &Records) -> CopyResult<Left> {
        let (key, text) = (marker::key(&self.group)?, self.marker());
        let group = self.group.node_path();
        let there = self.storage.get(&key, marker::LARGEST).await?;
        // A power cut may leave an empty marker, before anything else was done.
        let is_empty = there.as_ref().is_some_and(|there| there.is_empty());
        match there.filter(|_| !is_empty) {
            Some(there) if !resume => {
                let of = marker::level0(&there).unwrap_or_default();
                return Err(taken(format!(
                    "group {group:?}: unfinished levels of {of:?} exist already; `resume` goes on with them"
                )));
            }
            Some(there) if there != text.as_bytes() => {
                let of = marker::level0(&there).unwrap_or_default();
                return Err(taken(format!(
                    "group {group:?}: unfinished levels of {of:?} exist, but with other options or of another array: they \
                     cannot be resumed with these"
                )));
            }
            Some(_) => {
                if self.replace && !records.is_cleared().await? {
                    self.remove(records).await?;
                }
                return Ok(Left::Unfinished);
            }
            None => {}
        }
        if resume && self.is_complete().await? {
            records.clear().await?;
            return Ok(Left::Complete);
        }
        self.check_places().await?;
        // Records of a run that had finished must not be taken for those of this one.
        records.clear().await?;
        if is_empty {
            self.storage.put(&key, text).await?;
        } else if !node::put_new(&self.storage, &key, text).await? {
            return Err(taken(format!("group {group:?}: another writer has begun to make levels")));
        }
        self.storage.sync().await?;
        if self.replace {
            self.remove(records).await?;
        }
        Ok(Left::Nothing)
    }

    /// Returns the text of the marker. The same level 0 with the same settings gives the same text; memory and threads do
    /// not count.
    fn marker(&self) -> String {
        let mut settings =
            vec![format!("{:?} {} {}", self.described.metadata, self.described.version, self.replace)];
        for plan in self.all() {
            settings.push(plan.settings.clone());
            let metas = [plan.level0.metadata()].into_iter().chain(&plan.metas);
            for (level, meta) in plan.described.levels.iter().zip(metas) {
                settings.push(level.path.clone());
                for (name, text) in meta.documents() {
                    settings.extend([name.to_string(), text.unwrap_or_default()]);
                }
            }
        }
        marker::text(self.level0.path(), settings)
    }

    /// Fails if something is where a level is to be, unless it is to be replaced.
    pub(super) async fn check_places(&self) -> CopyResult<()> {
        let mut found = Vec::new();
        for path in self.paths() {
            let place = self.place(path)?;
            let is_named = self.named.iter().any(|named| named == path);
            if !(is_named && self.replace) && self.is_taken(&place).await? {
                if self.replace {
                    let path = place.node_path();
                    return Err(taken(format!(
                        "{path:?} is taken by something that is no level of the group"
                    )));
                }
                found.push(place.node_path());
            }
        }
        for path in &self.named {
            let prefix = self.place(path)?;
            let place = prefix.node_path();
            if self.replace {
                let node = node::read(&self.storage, &prefix, None, &Limits::default(), false).await;
                if self.described.assets.is_none() && matches!(node, Ok(Some((NodeMeta::Group(_), _)))) {
                    return Err(taken(format!("{place:?} is a group, and no level that can be replaced")));
                }
            } else if !found.contains(&place) {
                found.push(place);
            }
        }
        match found.is_empty() {
            true => Ok(()),
            false => Err(taken(format!(
                "{} exist: `replace` makes them again, `resume` goes on",
                found.join(", ")
            ))),
        }
    }

    async fn is_taken(&self, place: &Prefix) -> CopyResult<bool> {
        if self.storage.capabilities().list {
            let page = self.storage.list(place, None).await?;
            return Ok(page.more || !page.entries.is_empty());
        }
        Ok(node::documents(&self.storage, place, None, &Limits::default()).await?.make_node())
    }

    /// Removes the levels that the group names, after the group names level 0 only.
    async fn remove(&self, records: &Records) -> CopyResult<()> {
        records.clear().await?;
        self.edit_group(1).await?;
        self.storage.sync().await?;
        let named = self.named.iter().map(String::as_str);
        for path in named.chain(self.paths()) {
            let place = self.place(path)?;
            if !node::erase(&self.storage, &place, &Writing::default()).await? {
                self.storage.delete_prefix(&place).await?;
            }
        }
        records.set_cleared().await
    }

    /// Whether the levels are there with these documents, and the group names them.
    async fn is_complete(&self) -> CopyResult<bool> {
        for (place, meta) in self.documents()? {
            for (name, text) in meta.documents() {
                let key = place.key(name.as_str())?;
                let there = self.storage.get(&key, Limits::default().metadata_bytes).await?;
                let same = match (&there, &text) {
                    (Some(there), Some(text)) => document::same(there, text.as_bytes(), false),
                    (there, text) => there.is_none() && text.is_none(),
                };
                if !same {
                    return Ok(false);
                }
            }
        }
        let found =
            node::read(&self.storage, &self.group, Some(self.format), &Limits::default(), false).await?;
        let Some((NodeMeta::Group(group), _)) = found else { return Ok(false) };
        let attributes: Object = group.attributes();
        let mut named = attributes.clone();
        self.described.write(&mut named, self.described.levels.len());
        Ok(named.to_value() == attributes.to_value())
    }
}

fn taken(message: String) -> CopyError {
    CopyError::new(CopyErrorKind::Taken, message)
}
