//! Finds the children of a group.

use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::path::{ListedName, listed};
use zarr_array::meta::{Code, DocumentName, GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{ArrayErrorKind, Diagnostic, Format, block_on, node};

use crate::child::{Child, ChildState};
use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};
use crate::options::{Formats, GroupOptions, ImplicitGroups};

impl Group {
    /// Lists the children, ordered by name. A broken child is listed with its error.
    ///
    /// Costs one request for the names, one for each child of format 3, two for each array of format 2, and three for
    /// each group of format 2, many at once. With consolidated metadata it costs no request.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) if the store cannot list and there is no consolidated metadata;
    /// errors of the store.
    #[doc(alias = "members")]
    pub async fn children(&self) -> HierarchyResult<Vec<Child>> {
        children(&self.shared, &self.prefix, self.format())
            .await
            .map_err(|e| e.at(self.storage(), &self.path()))
    }
}

/// Lists the children of the group at a prefix.
pub(crate) async fn children(
    shared: &Arc<Shared>,
    prefix: &Prefix,
    format: Format,
) -> HierarchyResult<Vec<Child>> {
    let found = children_of(shared, vec![(prefix.clone(), format)]).await?.pop();
    found.unwrap_or_else(|| Ok(Vec::new()))
}

/// Lists the children of several groups. The threads of the storage share the listings and the documents of a local store.
pub(crate) async fn children_of(
    shared: &Arc<Shared>,
    groups: Vec<(Prefix, Format)>,
) -> HierarchyResult<Vec<HierarchyResult<Vec<Child>>>> {
    if !shared.is_read_by_threads() {
        let groups: Vec<_> = groups.into_iter().map(|group| requested(shared, group)).collect();
        return Ok(join_all(groups).await);
    }
    let listed = by_threads(shared, groups, |shared, group| block_on(names(shared, group))).await?;
    let all = listed.iter().flatten().flatten().cloned().collect();
    let read = by_threads(shared, all, |shared, name: &Name| block_on(look(shared, name.clone()))).await?;
    let mut read = read.into_iter();
    let children = listed.into_iter().map(|names| {
        let own: Vec<_> = read.by_ref().take(names?.len()).collect();
        own.into_iter().filter_map(Result::transpose).collect()
    });
    Ok(children.collect())
}

/// Lists the children of a group, with as many requests at once as the store recommends.
async fn requested(shared: &Arc<Shared>, group: (Prefix, Format)) -> HierarchyResult<Vec<Child>> {
    let looks = names(shared, &group).await?.into_iter().map(|name| look(shared, name));
    let children: Vec<_> = stream::iter(looks).buffered(shared.at_once).try_collect().await?;
    Ok(children.into_iter().flatten().collect())
}

/// The least number of items that threads share: to wake a thread takes as long as to read some documents.
pub(crate) const SHARED: usize = 16;

/// Returns the results of `work`, which the threads of the storage share if the items are many.
async fn by_threads<T: Send + Sync + 'static, R: Send + Sync + 'static>(
    shared: &Arc<Shared>,
    items: Vec<T>,
    work: fn(&Arc<Shared>, &T) -> R,
) -> HierarchyResult<Vec<R>> {
    if items.len() < SHARED {
        return Ok(items.iter().map(|item| work(shared, item)).collect());
    }
    let (inside, count) = (shared.clone(), items.len());
    Ok(node::on_threads(&shared.storage, count, move |number| work(&inside, &items[number])).await?)
}

/// Returns the names below a group that can be those of nodes.
async fn names(shared: &Shared, (prefix, format): &(Prefix, Format)) -> HierarchyResult<Vec<Name>> {
    let names = match &shared.layer {
        Some(layer) => layer.children(prefix)?,
        None => list(shared, prefix).await?,
    };
    Ok(candidates(prefix, names, *format).collect())
}

/// A child that is listed, but not read.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    prefix: Prefix,
    note: Option<Diagnostic>,
    /// The format of the group.
    format: Format,
}

impl Name {
    /// Reads the child. Returns `None` if it is not to be listed.
    pub(crate) async fn read(self, shared: &Arc<Shared>) -> Option<Child> {
        let prefix = self.prefix.clone();
        look(shared, self).await.unwrap_or_else(|e| {
            let found = ChildState::Broken(e.at(&shared.storage, &prefix.node_path()));
            Some(Child { shared: shared.clone(), prefix, notes: Vec::new(), found })
        })
    }
}

/// Returns the names below the group at a prefix that can be those of nodes.
pub(crate) fn candidates(
    prefix: &Prefix,
    names: Vec<Prefix>,
    format: Format,
) -> impl DoubleEndedIterator<Item = Name> {
    let start = prefix.as_str().len();
    names.into_iter().filter_map(move |prefix| {
        let name = prefix.as_str()[start..].trim_end_matches('/');
        // Format 2 has no reserved names.
        let note = match if format == Format::V3 { listed(name) } else { ListedName::Node } {
            ListedName::Node => None,
            ListedName::Odd(note) => Some(note),
            _ => return None,
        };
        Some(Name { prefix, note, format })
    })
}

async fn list(shared: &Shared, prefix: &Prefix) -> HierarchyResult<Vec<Prefix>> {
    let unable =
        "the store cannot list, and the group has no consolidated metadata: open nodes by their paths";
    if !shared.storage.capabilities().list {
        return Err(HierarchyError::new(ArrayErrorKind::Unsupported, unable));
    }
    let _permit = shared.gate.enter(0).await;
    Ok(shared.storage.list_dir(prefix).await?.prefixes)
}

/// Reads one child. Returns `None` if the child is not to be listed.
async fn look(shared: &Arc<Shared>, name: Name) -> HierarchyResult<Option<Child>> {
    let Name { prefix, note, format } = name;
    let shown = match shared.options.formats {
        Formats::Same => Some(format),
        Formats::Both => shared.only,
    };
    let permit = shared.gate.enter(0).await;
    let GroupOptions { strict, writing, .. } = &shared.options;
    let expected = DocumentName::Array2;
    let read = node::read_expected(&shared.storage, &prefix, shown, expected, &writing.limits, *strict).await;
    drop(permit);
    let read = read.map_err(HierarchyError::from);
    let read = read.and_then(|read| {
        if let (Some(note), Some(_)) = (&note, &read) {
            shared.tolerate(note)?;
        }
        Ok(read)
    });
    let mut notes = Vec::from_iter(note);
    let found = match read {
        Ok(Some((meta, more))) => {
            notes.extend(more);
            ChildState::Node(meta)
        }
        Ok(None) => match shared.options.implicit {
            ImplicitGroups::Ignore => return Ok(None),
            ImplicitGroups::Report if is_hidden(&prefix) => return Ok(None),
            ImplicitGroups::Report => ChildState::Undocumented,
            ImplicitGroups::Treat => {
                let message = "there is no document; treated as a group";
                notes.push(Diagnostic::new(Code::ImplicitGroup, "", message));
                ChildState::Node(NodeMeta::Group(GroupMeta::new(format)?))
            }
        },
        Err(e) => ChildState::Broken(e.at(&shared.storage, &prefix.node_path())),
    };
    Ok(Some(Child { shared: shared.clone(), prefix, notes, found }))
}

fn is_hidden(prefix: &Prefix) -> bool {
    let path = prefix.as_str().trim_end_matches('/');
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}
