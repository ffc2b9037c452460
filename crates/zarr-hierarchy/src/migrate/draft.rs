//! Drafts the documents of format 3 for all nodes, and finds the obstacles.

use std::collections::HashSet;

use zarr_array::meta::consolidated::{ConsolidatedForm, ConsolidatedIndex, remove_inline, same};
use zarr_array::meta::json::Value;
use zarr_array::meta::{DocumentName, Ignore, MetaResult, NodeMeta, parse_json};
use zarr_array::traits::{Key, Prefix};
use zarr_array::{ArrayErrorKind, Format, Limits, node};

use super::MigrateOptions;
use super::convert::convert;
use super::steps::Step;
use super::survey::Place;
use crate::child::NodeKind;
use crate::error::{HierarchyError, HierarchyResult};

/// The planned change of a node.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The place of the node.
    pub(super) from: &'a Place,
    /// The place of its document of format 3.
    pub(super) to: &'a Place,
    pub(super) kind: Option<NodeKind>,
    /// The document of format 3.
    pub(super) text: Option<String>,
    /// Whether an existing document of format 3 is deleted first.
    pub(super) stale: bool,
    pub(super) obstacles: Vec<HierarchyError>,
    pub(super) notes: Vec<String>,
}

impl Draft<'_> {
    /// Whether the node will have format 3.
    pub(super) fn lives(&self) -> bool {
        self.text.is_some() && self.obstacles.is_empty()
    }

    /// The existing document that is kept.
    pub(super) fn kept(&self) -> Option<&[u8]> {
        self.to.document().filter(|_| !self.stale)
    }

    /// The step that deletes a stale document.
    pub(super) fn clear(&self) -> HierarchyResult<Option<Step>> {
        let clears = self.stale && self.obstacles.is_empty();
        Ok(if clears { Some(Step::Delete(self.key()?)) } else { None })
    }

    /// The step that writes the new document, unless it exists.
    pub(super) fn write(&self, limits: &Limits) -> HierarchyResult<Option<Step>> {
        let Some(text) = self.text.as_ref().filter(|_| self.lives()) else { return Ok(None) };
        Ok(match self.kept() {
            None => Some(Step::Write(self.key()?, text.clone())),
            Some(there) if same(&parsed(there, limits)?, &parsed(text.as_bytes(), limits)?) => None,
            Some(_) => Some(Step::Replace(self.key()?, text.clone())),
        })
    }

    fn key(&self) -> HierarchyResult<Key> {
        Ok(self.to.prefix.key(DocumentName::Node.as_str())?)
    }

    fn block(&mut self, kind: ArrayErrorKind, message: impl Into<String>) {
        self.obstacles.push(HierarchyError::new(kind, message));
    }
}

/// Drafts all nodes. Each place comes with the destination of its documents, parents first.
pub(super) fn drafts<'a>(
    places: impl Iterator<Item = (&'a Place, &'a Place)>,
    options: &MigrateOptions,
) -> HierarchyResult<Vec<Draft<'a>>> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut blocked: HashSet<&Prefix> = HashSet::new();
    for (from, to) in places {
        let mut draft = Draft {
            from,
            to,
            kind: None,
            text: None,
            stale: false,
            obstacles: Vec::new(),
            notes: Vec::new(),
        };
        match convert(from, options) {
            Some(Ok((node, notes))) => {
                draft.notes = notes;
                draft.take(&node);
                draft.compare(options);
            }
            Some(Err(obstacles)) => draft.obstacles = obstacles,
            // Nodes of format 3 stay in the source.
            None if !std::ptr::eq(from, to) || !from.has_node(Format::V3) => continue,
            None => draft.leave(options),
        }
        if node::above(&from.prefix).iter().any(|above| blocked.contains(above)) {
            draft.block(ArrayErrorKind::Unsupported, "a group above it cannot be converted");
        }
        if !draft.obstacles.is_empty() {
            blocked.insert(&from.prefix);
        }
        drafts.push(draft);
    }
    consolidate(&mut drafts, &options.limits)?;
    Ok(drafts)
}

impl Draft<'_> {
    fn take(&mut self, node: &NodeMeta) {
        self.kind = Some(match node {
            NodeMeta::Array(_) => NodeKind::Array,
            NodeMeta::Group(_) => NodeKind::Group,
        });
        self.text =
            node.documents().into_iter().find_map(|(name, text)| text.filter(|_| name == DocumentName::Node));
    }

    /// Compares with the existing document. An equal one, ignoring consolidated metadata, is kept.
    fn compare(&mut self, options: &MigrateOptions) {
        let (Some(text), Some(there)) = (&self.text, self.to.document()) else { return };
        let says_the_same = || -> MetaResult<bool> {
            let there = match self.kind {
                Some(NodeKind::Group) => remove_inline(there, &options.limits)?.into_bytes(),
                _ => there.to_vec(),
            };
            Ok(same(&parsed(text.as_bytes(), &options.limits)?, &parsed(&there, &options.limits)?))
        };
        if says_the_same().unwrap_or(false) {
            return;
        }
        if !options.overwrite {
            let name = DocumentName::Node;
            self.block(
                ArrayErrorKind::Exists,
                format!("there is a {name} already, and it differs from the new one"),
            );
        } else if !self.to.has_node(self.to.old) && !options.force {
            self.block(ArrayErrorKind::Exists, only(self.to.old));
        } else {
            self.stale = true;
        }
    }

    /// Handles a node that has only format 3.
    fn leave(&mut self, options: &MigrateOptions) {
        let node = self.to.node(Format::V3, &options.limits).ok().flatten();
        match (options.overwrite, options.force) {
            (true, true) => self.stale = true,
            (true, false) => self.block(ArrayErrorKind::Exists, only(self.to.old)),
            (false, _) => {
                if let Some((node, _)) = node {
                    self.take(&node);
                }
            }
        }
    }
}

fn only(old: Format) -> String {
    format!("there is a {}, but no metadata of format {old}; overwriting it needs force", DocumentName::Node)
}

fn parsed(text: &[u8], limits: &Limits) -> MetaResult<Value> {
    Ok(parse_json(text, limits, &mut Ignore)?.root)
}

/// Gives inline consolidated metadata to the groups that have consolidated metadata in either form.
fn consolidate(drafts: &mut [Draft<'_>], limits: &Limits) -> HierarchyResult<()> {
    for i in 0..drafts.len() {
        let (group, rest) = (&drafts[i], &drafts[i + 1..]);
        let Some(text) = group.text.as_ref().filter(|_| group.lives() && group.kind == Some(NodeKind::Group))
        else {
            continue;
        };
        let start = group.from.prefix.as_str();
        let below = || {
            let nodes = rest.iter().filter(|draft| draft.lives());
            nodes.filter_map(|draft| Some((draft, draft.from.prefix.as_str().strip_prefix(start)?)))
        };
        let kept = group.kept().filter(|text| ConsolidatedForm::Inline.is_held(text, limits));
        let text = match kept {
            // The existing consolidated metadata is up to date, and stays.
            Some(there) if !group.from.consolidated && below().all(|(draft, _)| draft.kept().is_some()) => {
                String::from_utf8_lossy(there).into_owned()
            }
            None if !group.from.consolidated => continue,
            _ => {
                let mut index = ConsolidatedIndex::new(ConsolidatedForm::Inline);
                for (draft, path) in below() {
                    let text = draft.text.as_deref().unwrap_or_default();
                    index.insert_text(&format!("{path}{}", DocumentName::Node), text.as_bytes(), limits)?;
                }
                index.write_into(text.as_bytes(), limits)?
            }
        };
        drafts[i].text = Some(text);
    }
    Ok(())
}
