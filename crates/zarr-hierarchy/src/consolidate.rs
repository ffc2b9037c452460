//! Writes, checks and removes consolidated metadata.

use std::sync::Arc;

use zarr_array::meta::consolidated::{ConsolidatedForm, ConsolidatedIndex, Difference};
use zarr_array::meta::json::Value;
use zarr_array::meta::{DocumentName, Ignore, NodeMeta};
use zarr_array::node;
use zarr_array::traits::{Key, Prefix};
use zarr_array::{ArrayError, ArrayErrorKind, Format};

use crate::child::ChildState;
use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};
use crate::options::{Formats, GroupOptions, ImplicitGroups};

/// How consolidating treats arrays that use an unknown codec or data type. One such array makes zarr-python refuse
/// the whole group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UnresolvedArrays {
    /// Fail with an error that names the first one, and write nothing. The same for invalid documents.
    #[default]
    Refuse,
    /// Leave them out: readers of consolidated metadata do not see them. The same for invalid documents.
    LeaveOut,
    /// Include them like other arrays. Invalid documents are left out.
    Include,
}

/// The result of consolidating.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The number of consolidated nodes below the group.
    pub nodes: usize,
    /// The paths of nodes that were left out, with the reasons.
    pub left_out: Vec<(String, HierarchyError)>,
}

impl Group {
    /// Writes consolidated metadata of all nodes below this group: in format 3 into the group's document, in format 2
    /// into an object beside it. Nodes that are created or changed meanwhile may be missing from it.
    ///
    /// Costs a [`walk`](Self::walk) that reads the documents, one read and one put.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) if the store cannot list; errors of [`UnresolvedArrays::Refuse`];
    /// errors of the store.
    #[doc(alias = "consolidate_metadata")]
    pub async fn consolidate(&mut self) -> HierarchyResult<Report> {
        self.consolidate_with(UnresolvedArrays::default()).await
    }

    /// As [`consolidate`](Self::consolidate); `unresolved` says what happens to arrays that the registry cannot
    /// resolve.
    ///
    /// # Errors
    /// As [`consolidate`](Self::consolidate).
    pub async fn consolidate_with(&mut self, unresolved: UnresolvedArrays) -> HierarchyResult<Report> {
        let (index, report) = self.collect(Some(unresolved)).await?;
        let limits = &self.shared.options.writing.limits;
        let written = self.change_consolidated(|old| Ok(Some(index.to_holder(old, limits)?)));
        written.await?;
        self.reload().await?;
        Ok(report)
    }

    /// Compares the consolidated metadata of this group with the documents. Returns the differences ordered by path, or
    /// `None` if there is no consolidated metadata.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) if the store cannot list; [`Metadata`](ArrayErrorKind::Metadata) if
    /// the consolidated metadata cannot be read; errors of the store.
    pub async fn check_consolidated(&self) -> HierarchyResult<Option<Vec<Difference>>> {
        let limits = &self.shared.options.writing.limits;
        let bytes = self.unconsolidated().get(&self.holder()?, limits.metadata_bytes).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        let consolidated = ConsolidatedIndex::held(self.form(), &bytes, limits, &mut Ignore)?;
        let Some(consolidated) = consolidated else { return Ok(None) };
        let (stored, _) = self.collect(None).await?;
        Ok(Some(consolidated.differences(&stored)))
    }

    /// Removes the consolidated metadata of this group, if there is any.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn remove_consolidated(&mut self) -> HierarchyResult<()> {
        let limits = &self.shared.options.writing.limits;
        let form = self.form();
        let without = |old: &[u8]| form.without(old, limits);
        let removed = self.change_consolidated(|old| Ok(old.map(without).transpose()?.flatten()));
        removed.await?;
        Arc::make_mut(&mut self.meta).remove_consolidated();
        self.shared = self.unlayered(self.shared.options.clone());
        Ok(())
    }

    fn form(&self) -> ConsolidatedForm {
        ConsolidatedForm::of(self.format())
    }

    /// Returns the key of the object that holds the consolidated metadata of this group.
    fn holder(&self) -> HierarchyResult<Key> {
        Ok(self.prefix.key(self.form().holder())?)
    }

    async fn change_consolidated(
        &self,
        change: impl Fn(Option<&[u8]>) -> Result<Option<String>, ArrayError>,
    ) -> HierarchyResult<()> {
        let edited =
            node::edit_document(self.storage(), &self.holder()?, &self.shared.options.writing, change).await;
        edited.map_err(|e| HierarchyError::from(e).at(self.storage(), &self.path()))
    }

    /// Reads the documents of all nodes below this group from the store.
    async fn collect(
        &self,
        unresolved: Option<UnresolvedArrays>,
    ) -> HierarchyResult<(ConsolidatedIndex, Report)> {
        let real = self.real();
        let (mut index, mut report) = (ConsolidatedIndex::new(self.form()), Report::default());
        let limits = &self.shared.options.writing.limits;
        if index.form() == ConsolidatedForm::Object
            && let Some((own, _)) =
                node::read(self.unconsolidated(), &self.prefix, Some(self.format()), limits, false).await?
        {
            self.insert(&mut index, &self.prefix, &own)?;
        }
        let mut walk = real.walk();
        while let Some(child) = walk.next().await {
            let problem = match &child.found {
                ChildState::Undocumented => continue,
                ChildState::Unlisted(_) => return Err(child.open().err().unwrap_or_else(unreadable)),
                // An error of the store says nothing about the node.
                ChildState::Broken(e) if is_of_store(e) => {
                    return Err(child.open().err().unwrap_or_else(unreadable));
                }
                ChildState::Broken(_) => true,
                ChildState::Node(NodeMeta::Array(meta)) => {
                    let must = !matches!(unresolved, None | Some(UnresolvedArrays::Include));
                    must && meta.resolve(self.registry(), limits, &mut Ignore).is_err()
                }
                ChildState::Node(NodeMeta::Group(_)) => false,
            };
            match (child.metadata(), unresolved) {
                (Some(meta), _) if !problem => {
                    self.insert(&mut index, &child.prefix, meta)?;
                    report.nodes += 1;
                }
                // The node is broken, so no consolidated entry can match it; record `null`.
                (_, None) => {
                    let path = &child.prefix.as_str()[self.prefix.as_str().len()..];
                    let name =
                        if self.format() == Format::V3 { DocumentName::Node } else { DocumentName::Group2 };
                    index.insert(&format!("{path}{name}"), Value::from(None::<bool>));
                }
                (_, Some(UnresolvedArrays::Refuse)) => {
                    return Err(child.open().err().unwrap_or_else(unreadable));
                }
                (_, Some(_)) => {
                    let path = child.path();
                    report.left_out.push((path, child.open().err().unwrap_or_else(unreadable)));
                }
            }
        }
        Ok((index, report))
    }

    /// Returns this group without consolidated metadata.
    fn real(&self) -> Self {
        let options = GroupOptions { strict: false, ..self.shared.options.clone() };
        let options = options.formats(Formats::Same).implicit_groups(ImplicitGroups::Ignore);
        Self { shared: self.unlayered(options), ..self.clone() }
    }

    fn unlayered(&self, options: GroupOptions) -> Arc<Shared> {
        Arc::new(Shared::new(self.unconsolidated().clone(), self.registry(), &options))
    }

    fn insert(&self, index: &mut ConsolidatedIndex, prefix: &Prefix, meta: &NodeMeta) -> HierarchyResult<()> {
        let path = &prefix.as_str()[self.prefix.as_str().len()..];
        for (name, text) in meta.documents() {
            if let Some(text) = text {
                let limits = &self.shared.options.writing.limits;
                index.insert_text(&format!("{path}{name}"), text.as_bytes(), limits)?;
            }
        }
        Ok(())
    }
}

/// Whether the store caused the error.
fn is_of_store(e: &HierarchyError) -> bool {
    use ArrayErrorKind as Kind;
    matches!(e.kind(), Kind::Io | Kind::Uncertain | Kind::Unavailable | Kind::PermissionDenied)
}

fn unreadable() -> HierarchyError {
    HierarchyError::invalid("the node cannot be read")
}
