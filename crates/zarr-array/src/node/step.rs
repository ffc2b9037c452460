//! Keeping consolidated metadata up to date with the documents.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_engine::run::{ATTEMPTS, BackOff};
use zarr_meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_meta::{DocumentName, Documents, Format, Ignore};
use zarr_traits::{Key, Prefix, Storage};

use super::put::{delete, put};
use super::{Writing, at_once, document, stored};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// How consolidated metadata above a node is treated if the node is created, changed or erased. Readers trust it, so
/// stale metadata hides the change from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConsolidatedPolicy {
    /// It is brought up to date.
    #[default]
    Update,
    /// It is removed. Readers then use the documents themselves.
    Drop,
    /// It stays unchanged. For many changes with a new consolidation at the end.
    Keep,
}

/// Returns the groups above a node, the root first.
pub fn above(prefix: &Prefix) -> Vec<Prefix> {
    let path = prefix.as_str();
    let ends = path.char_indices().filter(|(_, c)| *c == '/').map(|(i, _)| i + 1);
    let ends = std::iter::once(0).chain(ends).filter(|end| *end < path.len());
    ends.filter_map(|end| Prefix::new(&path[..end]).ok()).collect()
}

/// Updates or removes consolidated metadata in the groups above `node`, as `how` says. `touched` are the nodes whose
/// documents changed: `node` itself and nodes above and below it.
///
/// The cost is a read for each group above the node. Each group with consolidated metadata adds another read, a read of
/// each touched node (of each of its documents in format 2), and a put.
///
/// # Errors
/// When consolidated metadata cannot be written. It is stale then, and the message says so.
pub async fn refresh(
    storage: &Storage,
    node: &Prefix,
    touched: &[Prefix],
    format: Format,
    how: &Writing,
) -> ArrayResult<()> {
    refresh_in(storage, &above(node), touched, format, how).await
}

/// As [`refresh`], for nodes in any places.
///
/// # Errors
/// As [`refresh`].
pub async fn refresh_all(
    storage: &Storage,
    touched: &[Prefix],
    format: Format,
    how: &Writing,
) -> ArrayResult<()> {
    let groups: BTreeSet<Prefix> = touched.iter().flat_map(above).collect();
    let groups: Vec<Prefix> = groups.into_iter().collect();
    refresh_in(storage, &groups, touched, format, how).await
}

/// As [`refresh`], in the given groups.
pub(super) async fn refresh_in(
    storage: &Storage,
    groups: &[Prefix],
    touched: &[Prefix],
    format: Format,
    how: &Writing,
) -> ArrayResult<()> {
    if how.consolidated == ConsolidatedPolicy::Keep || format == Format::V1 {
        return Ok(());
    }
    let holders = groups.iter().map(|group| holder(storage, group, format, how));
    let holders = try_join_all(holders).await.map_err(|e| {
        let message = "the node is changed, but the groups above it cannot be searched for consolidated metadata; \
                       `ConsolidatedPolicy::Keep` does not search them";
        e.while_doing(message.to_owned())
    })?;
    for (group, key) in groups.iter().zip(holders) {
        let Some(key) = key else { continue };
        let below: Vec<&Prefix> = touched.iter().filter(|node| is_in(group, node, format)).collect();
        if !below.is_empty() {
            let updated = update(storage, group, &key, &below, format, how).await;
            updated.map_err(|e| {
                e.while_doing(format!("the consolidated metadata in {:?} is stale", key.as_str()))
            })?;
        }
    }
    Ok(())
}

/// Returns the key of the consolidated metadata of a group, if it has some.
async fn holder(
    storage: &Storage,
    group: &Prefix,
    format: Format,
    how: &Writing,
) -> ArrayResult<Option<Key>> {
    let form = ConsolidatedForm::of(format);
    let key = group.key(form.holder())?;
    let found = document(storage, &key, &how.limits).await?;
    Ok(found.filter(|(bytes, _)| form.is_held(bytes, &how.limits)).map(|_| key))
}

/// Whether the consolidated metadata of a group includes the documents of a node.
fn is_in(group: &Prefix, node: &Prefix, format: Format) -> bool {
    node.as_str().starts_with(group.as_str()) && (node != group || format == Format::V2)
}

/// Brings the consolidated metadata of one group up to date.
///
/// The nodes are read after the consolidated document. A writer that changes a node later also updates that document
/// later, or this put fails and is repeated. So the state of the last writer wins.
async fn update(
    storage: &Storage,
    group: &Prefix,
    key: &Key,
    nodes: &[&Prefix],
    format: Format,
    how: &Writing,
) -> ArrayResult<()> {
    let mut back_off = BackOff::new(storage);
    for _ in 0..ATTEMPTS {
        let lock = zarr_engine::lock(storage, key).await;
        let Some((old, version)) = document(storage, key, &how.limits).await? else { return Ok(()) };
        let version = version.as_ref();
        let done = match changed(storage, group, nodes, format, how, &old).await? {
            None => true,
            Some(Some(text)) => put(storage, key, text, Some(version), how).await?,
            Some(None) => delete(storage, key, version, how).await?,
        };
        if done {
            return Ok(());
        }
        drop(lock);
        back_off.wait().await;
    }
    Err(ArrayError::new(ArrayErrorKind::Conflict, "other writers keep changing it"))
}

/// Returns the new text of the document with consolidated metadata: `None` if it does not change, `Some(None)` if it
/// must be deleted.
async fn changed(
    storage: &Storage,
    group: &Prefix,
    nodes: &[&Prefix],
    format: Format,
    how: &Writing,
    old: &[u8],
) -> ArrayResult<Option<Option<String>>> {
    if how.consolidated == ConsolidatedPolicy::Drop {
        return Ok(Some(ConsolidatedForm::of(format).without(old, &how.limits)?));
    }
    let index = ConsolidatedIndex::held(ConsolidatedForm::of(format), old, &how.limits, &mut Ignore)?;
    let Some(index) = index else { return Ok(None) };
    let mut new = index.clone();
    let names: Vec<DocumentName> = Documents::steps(Some(format)).concat();
    let found: Vec<_> = nodes.iter().map(|node| stored(storage, node, &names, &how.limits)).collect();
    let found: Vec<_> = stream::iter(found).buffered(at_once(storage)).try_collect().await?;
    for (node, documents) in nodes.iter().zip(found) {
        let path = node.as_str()[group.as_str().len()..].trim_end_matches('/');
        if !documents.iter().any(|document| document.name.makes_node()) {
            new.remove_subtree(path);
            continue;
        }
        for name in &names {
            let key = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
            match documents.iter().find(|document| document.name == *name) {
                Some(document) => new.insert_text(&key, &document.bytes, &how.limits)?,
                None => drop(new.remove(&key)),
            }
        }
    }
    if index.documents().eq(new.documents()) {
        return Ok(None);
    }
    Ok(Some(Some(new.to_holder(Some(old), &how.limits)?)))
}
