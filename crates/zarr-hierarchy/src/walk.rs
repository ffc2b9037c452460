//! Walks over all nodes below a group, parents before children.

use std::collections::HashMap;
use std::sync::Arc;

use zarr_array::Format;
use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;

use crate::child::{Child, ChildState};
use crate::children::{Name, SHARED, candidates, children_of};
use crate::error::HierarchyResult;
use crate::group::{Group, Shared};

/// A walk over the nodes below a group, depth first: every group before its children, children ordered by name. Only
/// groups are entered.
///
/// ```
/// # use zarr_hierarchy::{Group, HierarchyResult};
/// # async fn example(group: Group) -> HierarchyResult<()> {
/// let mut walk = group.walk();
/// while let Some(child) = walk.next().await {
///     println!("{}", child.path());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Walk {
    shared: Arc<Shared>,
    /// The nodes found but not returned yet, with their depth; the next one is last.
    stack: Vec<(Next, usize)>,
    /// The group to enter next.
    pending: Option<Below>,
    /// Children of later groups, listed in advance.
    ahead: HashMap<Prefix, HierarchyResult<Vec<Child>>>,
    most: usize,
}

/// A node to return. With consolidated metadata it is read when it is returned, because a document of some megabytes can
/// have very many nodes.
#[derive(Debug)]
enum Next {
    Found(Box<Child>),
    Listed(Name),
}

/// A group to enter.
#[derive(Debug, Clone)]
struct Below {
    prefix: Prefix,
    format: Format,
    /// The depth of its children.
    depth: usize,
}

impl Group {
    /// Walks over all nodes below the group. Each group costs as much as [`children`](Self::children), and nothing with
    /// consolidated metadata. Over a network the children of several groups are listed at once, within the requests
    /// that the options allow; in a local store the threads of the storage list several groups.
    #[doc(alias = "tree")]
    pub fn walk(&self) -> Walk {
        let pending = Some(Below { prefix: self.prefix.clone(), format: self.format(), depth: 1 });
        let (shared, stack, ahead) = (self.shared.clone(), Vec::new(), HashMap::new());
        Walk { shared, stack, pending, ahead, most: usize::MAX }
    }
}

impl Walk {
    /// Limits the walk to `levels`; 1 means the children of the group.
    #[must_use]
    pub fn levels(mut self, levels: usize) -> Self {
        self.most = levels;
        self
    }

    /// Returns the next node or folder, or `None` at the end. A group whose children cannot be listed is returned a
    /// second time, with the error.
    pub async fn next(&mut self) -> Option<Child> {
        if let Some(group) = self.pending.take().filter(|group| group.depth <= self.most) {
            match self.enter(&group).await {
                Ok(()) => {}
                Err(e) => {
                    let (shared, prefix) = (self.shared.clone(), group.prefix);
                    let found = ChildState::Unlisted(e.at(&shared.storage, &prefix.node_path()));
                    return Some(Child { shared, prefix, notes: Vec::new(), found });
                }
            }
        }
        loop {
            let (next, depth) = self.stack.pop()?;
            let child = match next {
                Next::Found(child) => Some(*child),
                Next::Listed(name) => name.read(&self.shared).await,
            };
            if let Some(child) = child {
                self.pending = below(&child, depth);
                return Some(child);
            }
        }
    }

    /// Puts the children of a group on the stack.
    async fn enter(&mut self, group: &Below) -> HierarchyResult<()> {
        if let Some(layer) = &self.shared.layer {
            let names = candidates(&group.prefix, layer.children(&group.prefix)?, group.format);
            self.stack.extend(names.rev().map(|name| (Next::Listed(name), group.depth)));
        } else {
            let found = self.children(group).await?.into_iter().rev();
            self.stack.extend(found.map(|child| (Next::Found(child.into()), group.depth)));
        }
        Ok(())
    }

    /// Lists the children of a group, and in advance those of the next groups.
    async fn children(&mut self, group: &Below) -> HierarchyResult<Vec<Child>> {
        if let Some(found) = self.ahead.remove(&group.prefix) {
            return found;
        }
        let next = self.stack.iter().rev().filter_map(|(next, depth)| match next {
            Next::Found(child) => below(child, *depth),
            Next::Listed(_) => None,
        });
        let next = next.filter(|group| group.depth <= self.most && !self.ahead.contains_key(&group.prefix));
        let most = if self.shared.is_read_by_threads() { SHARED } else { self.shared.at_once };
        let groups = std::iter::once(group.clone()).chain(next).take(most);
        let groups: Vec<_> = groups.map(|group| (group.prefix, group.format)).collect();
        let mut found = children_of(&self.shared, groups.clone()).await?.into_iter();
        let first = found.next().unwrap_or_else(|| Ok(Vec::new()));
        self.ahead.extend(groups.into_iter().skip(1).map(|(prefix, _)| prefix).zip(found));
        first
    }
}

/// Returns the group to enter, if the child is a group.
fn below(child: &Child, depth: usize) -> Option<Below> {
    match &child.found {
        ChildState::Node(NodeMeta::Group(meta)) => {
            Some(Below { prefix: child.prefix.clone(), format: meta.format(), depth: depth + 1 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::Key;
    use zarr_array::{Registry, Storage, block_on};
    use zarr_store::MemoryStore;

    use super::*;

    #[test]
    fn nodes_of_consolidated_metadata_are_read_when_they_are_returned() {
        let node = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
        let nodes: Vec<String> = (0..100).map(|n| format!("\"n{n}\":{node}")).collect();
        let text = format!(
            r#"{{"zarr_format":3,"node_type":"group","attributes":{{}},"consolidated_metadata":{{"kind":"inline",
            "must_understand":false,"metadata":{{{}}}}}}}"#,
            nodes.join(",")
        );
        let storage = Storage::from(MemoryStore::new());
        block_on(storage.put(&Key::new("zarr.json").unwrap(), text)).unwrap();
        let group = block_on(Group::open(storage, "/", &Registry::core())).unwrap();
        let mut walk = group.walk();
        for left in (0..100).rev() {
            assert!(block_on(walk.next()).unwrap().metadata().is_some());
            assert_eq!(walk.stack.len(), left);
            assert!(walk.stack.iter().all(|(next, _)| matches!(next, Next::Listed(_))));
        }
        assert!(block_on(walk.next()).is_none());
    }
}
