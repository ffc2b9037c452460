//! The output of `zarr info` for a group.

use std::collections::BTreeSet;

use zarr_array::Diagnostic;
use zarr_array::meta::GroupMeta;
use zarr_array::meta::json::{Object, Value};

use super::anndata::AnnData;
use super::dataset::DatasetInfo;
use super::fold::Folded;
use super::image::{ImageInfo, PlateInfo};
use super::{Args, diagnostics, named, row, tolerated};
use crate::args::target::{Children as Origin, Target};
use crate::exit::{Failure, line};
use crate::listed::{Listed, list};
use crate::out::json;
use crate::out::table::{bytes, count};
use crate::usage::{Usage, measure_quickly};
use crate::visit::Source;
use crate::walk::note_odd_paths;

/// The largest number of children that are kept, and that a group has which is opened as a dataset: both take some
/// kilobytes for each.
const MOST: usize = 2000;

/// The number of children from which it is said that there is no consolidated metadata.
const MANY: usize = 10;

/// A group's metadata and its children.
pub(super) struct GroupInfo {
    meta: GroupMeta,
    notes: Vec<Diagnostic>,
    /// `None` if the store cannot list, and no document names any.
    children: Option<Children>,
    consolidated: Option<Consolidated>,
    /// The group as a dataset, if it has arrays with named dimensions, or the reason why it is not a dataset.
    dataset: Result<Option<DatasetInfo>, String>,
    anndata: Option<AnnData>,
    image: Option<ImageInfo>,
    plate: Option<PlateInfo>,
    has_attributes: bool,
}

/// The children of a group.
#[derive(Default)]
struct Children {
    /// The group itself.
    own: Option<Listed>,
    /// The first ones, at most [`MOST`].
    first: Vec<Listed>,
    /// The number of others.
    more: usize,
    /// The names of all.
    names: BTreeSet<String>,
    folded: Folded,
    /// The objects of the group itself and of the first ones, if they are counted quickly.
    usage: Option<Vec<Usage>>,
}

impl Children {
    fn of(target: &Target, source: Source) -> Result<Self, Failure> {
        let mut children = Self::default();
        let mut nodes = list(target, source, 1)?;
        children.own = nodes.next();
        for child in nodes.filter(|child| child.kind != "none") {
            let name = child.below(&target.path).to_owned();
            children.folded.add(&name, &child);
            children.names.insert(name);
            match children.first.len() < MOST {
                true => children.first.push(child),
                false => children.more += 1,
            }
        }
        Ok(children)
    }

    /// Counts the stored bytes, if that is quick.
    fn measure(&mut self, target: &Target) {
        let nodes: Vec<&Listed> = self.own.iter().chain(&self.first).collect();
        self.usage = (self.more == 0).then(|| measure_quickly(target, &nodes)).flatten();
    }

    /// Returns the bytes of all stored chunks, if they were counted. Those of deeper nodes are not told apart from other
    /// objects.
    fn stored(&self) -> Option<u128> {
        Some(self.usage.as_ref()?.iter().map(|usage| usage.chunks.bytes + usage.other.bytes).sum())
    }

    /// Returns the bytes of all elements of the children with a fixed size.
    fn uncompressed(&self) -> u128 {
        let sizes = self.first.iter().filter_map(|child| child.array.as_ref()?.uncompressed);
        sizes.fold(0, u128::saturating_add)
    }

    /// Returns the stored bytes of the chunks of an array.
    fn stored_of(&self, target: &Target, name: &str) -> Option<u128> {
        let at = self.first.iter().position(|child| child.below(&target.path) == name)?;
        Some(self.usage.as_ref()?.get(at + 1)?.chunks.bytes)
    }

    /// Returns the names of children that `others` lack.
    fn without(&self, others: &Self) -> Vec<String> {
        self.names.difference(&others.names).cloned().collect()
    }
}

/// A summary of the consolidated metadata.
struct Consolidated {
    nodes: usize,
    /// The differences from the children in the store, if the store can list.
    differs: Option<Differs>,
}

struct Differs {
    missing: Vec<String>,
    gone: Vec<String>,
}

impl GroupInfo {
    pub(super) fn new(
        target: &Target,
        args: &Args,
        meta: GroupMeta,
        notes: Vec<Diagnostic>,
    ) -> Result<Self, Failure> {
        let source = args.source;
        let mut info = Self {
            meta,
            notes,
            children: None,
            consolidated: None,
            dataset: Ok(None),
            anndata: None,
            image: None,
            plate: None,
            has_attributes: !args.no_attrs,
        };
        let Some((group, origin)) = target.find_group(Source::default())? else { return Ok(info) };
        let mut children = match origin {
            Origin::Listed => Children::of(target, Source::DOCUMENTS)?,
            Origin::Named => Children::of(target, Source::default())?,
            Origin::Consolidated => {
                note_odd_paths(&group);
                let nodes = group.walk().filter(|child| child.kind().is_some()).count();
                let known = Children::of(target, Source::default())?;
                let stored = target.lists().then(|| Children::of(target, Source::DOCUMENTS)).transpose()?;
                let differs = stored
                    .as_ref()
                    .map(|stored| Differs { missing: stored.without(&known), gone: known.without(stored) });
                info.consolidated = Some(Consolidated { nodes, differs });
                stored.filter(|_| source.is_documents()).unwrap_or(known)
            }
        };
        info.anndata = AnnData::of(target, source, &info.meta.attributes(), !args.no_values)?;
        info.plate = PlateInfo::of(&group);
        info.image = if info.plate.is_none() { ImageInfo::of(&group) } else { None };
        let is_other = info.anndata.is_some() || info.plate.is_some() || info.image.is_some();
        info.dataset = match source.is_documents() && target.lists() {
            _ if is_other => Ok(None),
            _ if children.more > 0 => Err(format!("the group has more than {MOST} children")),
            true => DatasetInfo::of(&target.group(source)?, !args.no_values),
            false => DatasetInfo::of(&group, !args.no_values),
        };
        if !args.no_values {
            children.measure(target);
        }
        info.children = Some(children);
        Ok(info)
    }

    /// Returns what the group is.
    fn kind(&self) -> &'static str {
        match &self.dataset {
            _ if self.anndata.is_some() => "anndata",
            _ if self.plate.is_some() => "plate",
            _ if self.image.is_some() => "image",
            Ok(Some(_)) => "dataset",
            _ => "group",
        }
    }

    pub(super) fn to_json(&self, target: &Target) -> Object {
        let child = |child: &Listed| {
            let mut object = json::object([("name", child.below(&target.path).into())]);
            for member in child.to_json().members() {
                object.set(&member.name_lossy(), member.value());
            }
            object
        };
        let (children, consolidated) = (self.children.as_ref(), self.consolidated.as_ref());
        let mut info = json::document([
            ("path", (&target.path).into()),
            ("zarr_format", self.meta.format().number().into()),
            ("node_type", "group".into()),
            ("kind", self.kind().into()),
            ("children", children.map(|all| all.first.iter().map(child).collect::<Value>()).into()),
            ("consolidated_nodes", consolidated.map(|known| known.nodes).into()),
            ("stored_bytes", children.and_then(Children::stored).into()),
        ]);
        if let Some(children) = children.filter(|children| children.more > 0) {
            info.set("more_children", children.more as u64);
        }
        if let Some(known) = consolidated.and_then(|known| known.differs.as_ref()) {
            info.set("consolidated_lacks", known.missing.iter().collect::<Value>());
            info.set("consolidated_names_absent", known.gone.iter().collect::<Value>());
        }
        match &self.dataset {
            Ok(Some(dataset)) => dataset.to_json(&mut info),
            Ok(None) => {}
            Err(reason) => info.set("no_dataset_because", reason),
        }
        if let Some(image) = &self.image {
            image.to_json(&mut info);
        }
        if let Some(plate) = &self.plate {
            plate.to_json(&mut info);
        }
        if self.has_attributes {
            info.set("attributes", self.meta.attributes());
        }
        info.set("diagnostics", diagnostics(&self.notes));
        info
    }

    pub(super) fn page(&self, target: &Target, args: &Args) -> String {
        let head = self.head(target);
        let stale = self.consolidated.iter().filter_map(Consolidated::stale);
        let stale: String = stale.map(|text| row("consolidated", &text)).collect();
        let (dataset, anndata) = (&self.dataset, &self.anndata);
        let image = self.image.as_ref().map(ImageInfo::page);
        let image = image.or_else(|| self.plate.as_ref().map(PlateInfo::page));
        let body = match (dataset, anndata, &self.children) {
            (_, Some(anndata), _) => anndata.page(),
            _ if image.is_some() => image.unwrap_or_default(),
            (Ok(Some(dataset)), _, Some(children)) => {
                let groups = children.first.iter().filter(|child| child.kind == "group");
                let groups: Vec<&str> = groups.map(|child| child.below(&target.path)).collect();
                let groups =
                    if groups.is_empty() { String::new() } else { row("groups", &groups.join(", ")) };
                dataset.page(&|name| children.stored_of(target, name)) + &groups
            }
            (_, _, None) => row("children", "unknown: the store cannot list, and no document names any"),
            (dataset, _, Some(children)) => {
                let reason = dataset.as_ref().err().filter(|_| children.more == 0);
                let reason = reason.map(|reason| row("no dataset", reason)).unwrap_or_default();
                let next = format!("zarr create {}/NAME --shape … --dtype …", named(target));
                let next = if children.names.is_empty() { row("next", &next) } else { String::new() };
                reason + &children.folded.to_text("  ") + &next
            }
        };
        // The lines above say what the attributes of an image do.
        let attributes = match kind_says_attributes(self.kind()) && !args.attrs {
            true => String::new(),
            false => args.attributes(&self.meta.attributes()),
        };
        head + &stale + &body + &attributes + &tolerated(&self.notes)
    }

    /// Returns the first line: what it is, its name, format, size and children.
    fn head(&self, target: &Target) -> String {
        let kind = self.kind();
        let mut parts = vec![format!("{}, Zarr {}", named(target), self.meta.format())];
        if let Some(anndata) = &self.anndata {
            parts[0] = format!("{}{}", named(target), anndata.head());
        }
        if let Some(image) = &self.image {
            parts[0] = format!("{}{}, Zarr {}", named(target), image.head(), self.meta.format());
        }
        if let Some(plate) = &self.plate {
            parts[0] = format!("{}{}", named(target), plate.head());
        }
        if let Some(children) = &self.children {
            let counts = children.folded.counts();
            match kind {
                "group" if counts.is_empty() => parts.push("empty".to_owned()),
                "group" => parts[0] += &format!(": {counts}"),
                _ => {}
            }
            if let Some(stored) = children.stored().filter(|_| kind != "group") {
                let of = match children.uncompressed() {
                    0 => String::new(),
                    _ if kind != "dataset" => String::new(),
                    all => format!(" of {}", bytes(all)),
                };
                parts.push(format!("{} stored{of}", bytes(stored)));
            }
            match &self.consolidated {
                Some(known) if known.stale().is_none() => parts.push("consolidated".to_owned()),
                None if children.names.len() > MANY => parts.push("not consolidated".to_owned()),
                _ => {}
            }
        }
        row(kind, &line(&parts.join(", ")))
    }
}

/// Whether the lines about a kind of group say what its attributes do.
fn kind_says_attributes(kind: &str) -> bool {
    ["image", "plate", "anndata"].contains(&kind)
}

impl Consolidated {
    /// Returns how it differs from the store, or `None` if it does not.
    fn stale(&self) -> Option<String> {
        let nodes = count(self.nodes, "node");
        let differs = |names: &[String], what| match names {
            [] => String::new(),
            [name] => format!(", {what} {name:?}"),
            [name, ..] => format!(", {what} {} children such as {name:?}", names.len()),
        };
        let Differs { missing, gone } = self.differs.as_ref()?;
        let text = differs(missing, "without") + &differs(gone, "with the absent");
        (!text.is_empty()).then(|| format!("metadata of {nodes}{text}"))
    }
}
