//! Writing, checking and removing consolidated metadata.

use std::sync::Arc;

use zarr_array::meta::consolidated::{Difference, Form, Index};
use zarr_array::meta::json::Value;
use zarr_array::meta::{DocumentName, Ignore, NodeMeta};
use zarr_array::node;
use zarr_array::traits::{Key, Prefix};
use zarr_array::{ArrayError, ArrayErrorKind, Format};

use crate::child::Found;
use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};
use crate::options::{Formats, GroupOptions, ImplicitGroups};

/// What consolidating does with arrays that the registry cannot resolve, because they use an unknown codec or data type. One such
/// array makes zarr-python refuse the whole group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UnresolvedArrays {
    /// It fails with an error that names the first one, and writes nothing. The same holds for invalid documents.
    #[default]
    Refuse,
    /// They are left out, so that readers of consolidated metadata do not see them. The same holds for invalid documents.
    LeaveOut,
    /// They are consolidated like the others. Invalid documents are left out.
    Include,
}

/// What was consolidated.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Nodes below the group that were consolidated.
    pub nodes: usize,
    /// Paths of nodes that were left out, and why.
    pub left_out: Vec<(String, HierarchyError)>,
}

impl Group {
    /// Writes consolidated metadata of all nodes below this group: in format 3 into its document, in format 2 into an object
    /// beside it. Nodes that are created or changed while it is collected may be missing from it.
    ///
    /// The cost is that of a [`walk`](Self::walk) that reads the documents themselves, a read and a put.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) when the store cannot list; those of [`UnresolvedArrays::Refuse`]; those of
    /// the store.
    pub async fn consolidate(&mut self) -> HierarchyResult<Report> {
        self.consolidate_with(UnresolvedArrays::default()).await
    }

    /// As [`consolidate`](Self::consolidate), with a choice of what becomes of arrays that not everybody can read.
    ///
    /// # Errors
    /// As there.
    pub async fn consolidate_with(&mut self, unresolved: UnresolvedArrays) -> HierarchyResult<Report> {
        let (index, report) = self.collect(Some(unresolved)).await?;
        let limits = &self.shared.options.writing.limits;
        let written = self.change_consolidated(|old| Ok(Some(index.to_holder(old, limits)?)));
        written.await?;
        self.reload().await?;
        Ok(report)
    }

    /// In what the consolidated metadata of this group differs from the documents themselves, ordered by path; `None` when
    /// there is no consolidated metadata.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) when the store cannot list;
    /// [`Metadata`](ArrayErrorKind::Metadata) when the consolidated metadata cannot be read; those of the store.
    pub async fn check_consolidated(&self) -> HierarchyResult<Option<Vec<Difference>>> {
        let limits = &self.shared.options.writing.limits;
        let bytes = self.store().get(&self.holder()?, limits.metadata_bytes).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        let consolidated = Index::held(self.form(), &bytes, limits, &mut Ignore)?;
        let Some(consolidated) = consolidated else { return Ok(None) };
        let (stored, _) = self.collect(None).await?;
        Ok(Some(consolidated.differences(&stored)))
    }

    /// Takes the consolidated metadata of this group away; nothing happens when there is none.
    ///
    /// # Errors
    /// Those of the store.
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

    fn form(&self) -> Form {
        Form::of(self.format())
    }

    /// Where the consolidated metadata of this group lies.
    fn holder(&self) -> HierarchyResult<Key> {
        Ok(self.prefix.key(self.form().holder())?)
    }

    async fn change_consolidated(
        &self,
        change: impl Fn(Option<&[u8]>) -> Result<Option<String>, ArrayError>,
    ) -> HierarchyResult<()> {
        let edited =
            node::edit_document(self.storage(), &self.holder()?, &self.shared.options.writing, change).await;
        edited.map_err(|e| HierarchyError::from(e).at(&self.path()))
    }

    /// The documents of all nodes below this group, as they are in the store.
    async fn collect(&self, unresolved: Option<UnresolvedArrays>) -> HierarchyResult<(Index, Report)> {
        let real = self.real();
        let (mut index, mut report) = (Index::new(self.form()), Report::default());
        let limits = &self.shared.options.writing.limits;
        if index.form() == Form::Object
            && let Some((own, _)) =
                node::read(self.store(), &self.prefix, Some(self.format()), limits, false).await?
        {
            self.insert(&mut index, &self.prefix, &own)?;
        }
        let mut walk = real.walk();
        while let Some(child) = walk.next().await {
            let problem = match &child.found {
                Found::Undocumented => continue,
                Found::Unlisted(_) => return Err(child.open().err().unwrap_or_else(unreadable)),
                // An error of the store says nothing about the node.
                Found::Broken(e) if is_of_store(e) => {
                    return Err(child.open().err().unwrap_or_else(unreadable));
                }
                Found::Broken(_) => true,
                Found::Node(NodeMeta::Array(meta)) => {
                    let must = !matches!(unresolved, None | Some(UnresolvedArrays::Include));
                    must && meta.resolve(self.registry(), limits, &mut Ignore).is_err()
                }
                Found::Node(NodeMeta::Group(_)) => false,
            };
            match (child.metadata(), unresolved) {
                (Some(meta), _) if !problem => {
                    self.insert(&mut index, &child.prefix, meta)?;
                    report.nodes += 1;
                }
                // There is a node, and it is none that any consolidated document could be the same as.
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

    /// This group, looking at the documents themselves.
    fn real(&self) -> Self {
        let options = GroupOptions { strict: false, ..self.shared.options.clone() };
        let options = options.formats(Formats::Same).implicit_groups(ImplicitGroups::Ignore);
        Self { shared: self.unlayered(options), ..self.clone() }
    }

    fn unlayered(&self, options: GroupOptions) -> Arc<Shared> {
        Arc::new(Shared::new(self.store().clone(), self.registry(), &options))
    }

    fn insert(&self, index: &mut Index, prefix: &Prefix, meta: &NodeMeta) -> HierarchyResult<()> {
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

/// Whether the store failed, and not the node.
fn is_of_store(e: &HierarchyError) -> bool {
    use ArrayErrorKind as Kind;
    matches!(e.kind(), Kind::Io | Kind::Uncertain | Kind::Unavailable | Kind::PermissionDenied)
}

fn unreadable() -> HierarchyError {
    HierarchyError::invalid("the node cannot be read")
}
