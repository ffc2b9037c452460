//! All nodes below a group, parents before children.

use std::sync::Arc;

use zarr_array::Format;
use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;

use crate::child::{Child, Found};
use crate::children::children;
use crate::group::{Group, Shared};

/// A walk over the nodes below a group, depth first: every group before its children, children in the order of their names.
/// Only groups are descended into (checklist F22).
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
    /// Found, not yet handed out; the next one last.
    stack: Vec<(Child, usize)>,
    /// The group to be descended into next, and how deep its children lie.
    pending: Option<(Prefix, Format, usize)>,
    most: usize,
}

impl Group {
    /// Walks all nodes below the group. Each group costs what [`children`](Self::children) costs; none of it with
    /// consolidated metadata.
    pub fn walk(&self) -> Walk {
        let pending = Some((self.prefix.clone(), self.format(), 1));
        Walk { shared: self.shared.clone(), stack: Vec::new(), pending, most: usize::MAX }
    }
}

impl Walk {
    /// The same walk, which goes no deeper than `levels`: 1 are the children of the group.
    #[must_use]
    pub fn levels(mut self, levels: usize) -> Self {
        self.most = levels;
        self
    }

    /// The next node, or what else was found; nothing at the end. A group whose children cannot be listed comes a second
    /// time, with the error.
    pub async fn next(&mut self) -> Option<Child> {
        if let Some((prefix, format, depth)) = self.pending.take().filter(|(_, _, depth)| *depth <= self.most)
        {
            match children(&self.shared, &prefix, format).await {
                Ok(found) => self.stack.extend(found.into_iter().rev().map(|child| (child, depth))),
                Err(e) => {
                    let found = Found::Unlisted(e.at(&prefix.node_path()));
                    let child = Child { shared: self.shared.clone(), prefix, notes: Vec::new(), found };
                    return Some(child);
                }
            }
        }
        let (child, depth) = self.stack.pop()?;
        if let Found::Node(NodeMeta::Group(meta)) = &child.found {
            self.pending = Some((child.prefix.clone(), meta.format(), depth + 1));
        }
        Some(child)
    }
}
