//! Walks over all nodes below a group, parents before children.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use zarr_array::Format;
use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;

use crate::child::{Child, Found};
use crate::children::children;
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
    /// The nodes found but not returned yet; the next one is last.
    stack: Vec<(Child, usize)>,
    /// The group to enter next.
    pending: Option<Below>,
    /// Children of later groups, listed in advance.
    ahead: HashMap<Prefix, HierarchyResult<Vec<Child>>>,
    most: usize,
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
    /// that the options allow.
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
            match self.children(&group).await {
                Ok(found) => self.stack.extend(found.into_iter().rev().map(|child| (child, group.depth))),
                Err(e) => {
                    let (shared, prefix) = (self.shared.clone(), group.prefix);
                    let found = Found::Unlisted(e.at(&prefix.node_path()));
                    return Some(Child { shared, prefix, notes: Vec::new(), found });
                }
            }
        }
        let (child, depth) = self.stack.pop()?;
        self.pending = below(&child, depth);
        Some(child)
    }

    /// Lists the children of a group, and in advance those of the next groups.
    async fn children(&mut self, group: &Below) -> HierarchyResult<Vec<Child>> {
        if let Some(found) = self.ahead.remove(&group.prefix) {
            return found;
        }
        let next = self.stack.iter().rev().filter_map(|(child, depth)| below(child, *depth));
        let next = next.filter(|group| group.depth <= self.most && !self.ahead.contains_key(&group.prefix));
        let groups: Vec<Below> = next.take(self.shared.at_once() - 1).collect();
        let looks: Vec<_> = std::iter::once(group)
            .chain(&groups)
            .map(|group| children(&self.shared, &group.prefix, group.format))
            .collect();
        let mut found = join_all(looks).await.into_iter();
        let first = found.next().unwrap_or_else(|| Ok(Vec::new()));
        self.ahead.extend(groups.into_iter().map(|group| group.prefix).zip(found));
        first
    }
}

/// Returns the group to enter, if the child is a group.
fn below(child: &Child, depth: usize) -> Option<Below> {
    match &child.found {
        Found::Node(NodeMeta::Group(meta)) => {
            Some(Below { prefix: child.prefix.clone(), format: meta.format(), depth: depth + 1 })
        }
        _ => None,
    }
}
