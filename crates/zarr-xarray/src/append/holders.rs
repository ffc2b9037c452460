//! The consolidated metadata that names the arrays of a group: its own, and those of the groups above it.

use std::time::Duration;

use futures_timer::Delay;
use zarr_array::node::{self, Writing};
use zarr_array::traits::store::ReadVersion;
use zarr_array::traits::{ByteRange, Key, Prefix, Storage};
use zarr_array::{ArrayError, ArrayErrorKind, ArrayResult, Limits, Registry};
use zarr_hierarchy::{Format, Group};
use zarr_meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_meta::{ArrayMeta, DocumentName, Documents, Ignore, MetaError, NodeMeta};

use super::conflict;
use crate::error::{XarrayError, XarrayResult};
use crate::part::Part;

/// The places where consolidated metadata may be, the root first.
#[derive(Debug)]
pub(super) struct Holders {
    storage: Storage,
    registry: Registry,
    form: ConsolidatedForm,
    /// The document of an array that has its shape.
    name: DocumentName,
    places: Vec<(Prefix, Key)>,
}

impl Holders {
    /// Returns the places for a group. Makes no request.
    pub(super) fn above(group: &Group) -> XarrayResult<Self> {
        let form = ConsolidatedForm::of(group.format());
        let mut groups = node::above(group.prefix());
        if !groups.contains(group.prefix()) {
            groups.push(group.prefix().clone());
        }
        let place = |group: Prefix| {
            let key = group.key(form.holder());
            key.map(|key| (group, key))
        };
        let places = groups.into_iter().map(place).collect::<Result<_, _>>();
        Ok(Self {
            storage: group.unconsolidated().clone(),
            registry: group.registry().clone(),
            form,
            name: if group.format() == Format::V3 { DocumentName::Node } else { DocumentName::Array2 },
            places: places.map_err(|error| XarrayError::invalid(format!("{error:#}")))?,
        })
    }

    /// Keeps the places that have consolidated metadata.
    ///
    /// # Errors
    /// `Invalid` if there is none.
    pub(super) async fn find(&mut self) -> XarrayResult<()> {
        let mut found = Vec::new();
        for (group, key) in &self.places {
            let content = self.content(key).await?;
            if content.is_some_and(|content| self.form.is_held(&content, &Limits::default())) {
                found.push((group.clone(), key.clone()));
            }
        }
        self.places = found;
        match self.places.is_empty() {
            false => Ok(()),
            true => Err(XarrayError::invalid(
                "a shared append needs consolidated metadata, which hides unfinished appends from readers",
            )),
        }
    }

    /// Waits until the arrays have the length `start` in the consolidated metadata: until all earlier appends have ended.
    ///
    /// # Errors
    /// `Access` if an earlier append does not end, or the length is larger.
    pub(super) async fn wait_for(&self, leader: &Part, start: u64, most: Duration) -> XarrayResult<()> {
        // The last place is the last that an append changes.
        let Some((group, key)) = self.places.last() else { return Ok(()) };
        let mut patience = Patience::default();
        loop {
            let content = self.content(key).await?.unwrap_or_default();
            let length = self.length(group, leader, &content)?;
            if length == Some(start) {
                return Ok(());
            }
            let name = &leader.name;
            if length.is_none_or(|length| length > start) {
                return Err(conflict(format!(
                    "another writer has changed the length of {name:?} in {:?} to {length:?}, expected {start}",
                    key.as_str()
                )));
            }
            if !patience.wait(length, most).await {
                let length = length.unwrap_or(0);
                return Err(conflict(format!(
                    "an earlier append along {name:?} does not end: the positions {length}..{start} are reserved; if \
                     its writer is dead, release them"
                )));
            }
        }
    }

    /// Sets the length of the arrays in all consolidated metadata.
    ///
    /// # Errors
    /// If it cannot be changed. The documents of the arrays already have the length.
    pub(super) async fn lengthen(&self, parts: &[&Part], length: u64) -> Result<(), Stale> {
        for (position, (group, key)) in self.places.iter().enumerate() {
            let mut how = Writing::default();
            if let Some(part) = parts.first() {
                how.limits = part.array.limits().clone();
            }
            let edited = node::edit_document(&self.storage, key, &how, |content| {
                content.map_or(Ok(None), |content| self.longer(group, content, parts, length).map(Some))
            });
            edited.await.map_err(|error| {
                let is_certain = position == 0 && error.kind() != ArrayErrorKind::Uncertain;
                Stale {
                    error: XarrayError::from(error).within(&format!("key {:?}", key.as_str())),
                    is_certain,
                }
            })?;
        }
        Ok(())
    }

    /// Returns the content of a holder with the new length of the arrays.
    fn longer(&self, group: &Prefix, content: &[u8], parts: &[&Part], length: u64) -> ArrayResult<String> {
        let limits = Limits::default();
        let unchanged = || Ok(String::from_utf8_lossy(content).into_owned());
        if !self.form.is_held(content, &limits) {
            return unchanged();
        }
        let Some(mut index) = ConsolidatedIndex::held(self.form, content, &limits, &mut Ignore)? else {
            return unchanged();
        };
        for part in parts {
            let Some((key, mut meta)) = self.array(&index, group, part)? else { continue };
            let mut shape = meta.shape().to_vec();
            part.axis.and_then(|axis| shape.get_mut(axis)).into_iter().for_each(|of| *of = length);
            meta.resize(&shape, &self.registry, &limits)?;
            let text =
                meta.documents().into_iter().find_map(|(name, text)| text.filter(|_| name == self.name));
            index.insert_text(&key, text.unwrap_or_default().as_bytes(), &limits)?;
        }
        Ok(index.to_holder(Some(content), &limits)?)
    }

    /// Returns the length of an array in a holder.
    fn length(&self, group: &Prefix, part: &Part, content: &[u8]) -> XarrayResult<Option<u64>> {
        let index = ConsolidatedIndex::held(self.form, content, &Limits::default(), &mut Ignore)?;
        let array = index.map_or(Ok(None), |index| self.array(&index, group, part))?;
        Ok(array.and_then(|(_, meta)| meta.shape().get(part.axis?).copied()))
    }

    /// Returns the metadata of an array in an index, and its key.
    fn array(
        &self,
        index: &ConsolidatedIndex,
        group: &Prefix,
        part: &Part,
    ) -> Result<Option<(String, ArrayMeta)>, MetaError> {
        let path = part.array.path().trim_start_matches('/');
        let key = format!("{}/{}", path.strip_prefix(group.as_str()).unwrap_or(path), self.name);
        let Some(document) = index.get(&key) else { return Ok(None) };
        let documents = Documents::new().with(self.name, document.as_raw().as_bytes().to_vec());
        let node = NodeMeta::parse(&documents, &Limits::default(), &mut Ignore)?;
        Ok(node.and_then(NodeMeta::array).map(|meta| (key, meta)))
    }

    /// Reads an object, bypassing caches.
    async fn content(&self, key: &Key) -> XarrayResult<Option<Vec<u8>>> {
        let limit = Limits::default().metadata_bytes;
        let reply = self.storage.get_ranges(key, &[ByteRange::All], ReadVersion::Report, limit).await;
        let reply = reply.map_err(ArrayError::from)?;
        Ok(reply.map(|reply| reply.bytes.into_iter().next().unwrap_or_default().to_vec()))
    }
}

/// Consolidated metadata that could not be changed.
#[derive(Debug)]
pub(super) struct Stale {
    pub(super) error: XarrayError,
    /// Whether nothing of it is changed for certain.
    pub(super) is_certain: bool,
}

/// The longest wait between two looks.
const LONGEST: Duration = Duration::from_millis(250);

/// The waits for earlier appends. They begin again whenever one of them ends.
#[derive(Debug, Default)]
struct Patience {
    length: Option<u64>,
    next: Duration,
    waited: Duration,
}

impl Patience {
    /// Waits. Returns `false` if the length has not changed for `most`.
    async fn wait(&mut self, length: Option<u64>, most: Duration) -> bool {
        if self.length != length {
            *self = Self { length, next: Duration::from_millis(1), waited: Duration::ZERO };
        }
        if self.waited >= most {
            return false;
        }
        // There is no clock in a browser. The requests are a wait, too.
        if !cfg!(target_family = "wasm") {
            Delay::new(self.next).await;
        }
        self.waited += self.next;
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}
