//! The plan of a copy, made before anything is written.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use zarr_array::meta::consolidated::ConsolidatedForm;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::meta::{ArrayMeta, DocumentName, Format, GroupMeta, NodeMeta};
use zarr_array::traits::{ChunkGrid, Prefix};
use zarr_array::{
    Array, ArrayErrorKind, Diagnostic, Limits, OpenOptions, Registry, Selection, Storage, node,
};
use zarr_hierarchy::{ChildState, Formats, Group, GroupOptions, UseConsolidated};

use crate::blocks::{Blocks, Parts};
use crate::change::{Change, given};
use crate::copy::Copy;
use crate::document;
use crate::draft::Draft;
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::filter::Filter;
use crate::memory::Room;
use crate::notes::{Failures, Notes};
use crate::part::Part;
use crate::pause::pause;
use crate::rules::{Chosen, Matchers, dimensions};
use crate::size::Size;
use crate::told::{Estimate, array_of};
use crate::twice::Twice;
use crate::work::Work;

/// The plan of a copy: all nodes, parents before children. Made by [`Copy::plan`]; nothing is written before
/// [`run`](Self::run).
#[derive(Debug)]
pub struct CopyPlan {
    nodes: Vec<CopyNode>,
    notes: Notes,
    /// The name of the source in the marker of an unfinished copy.
    pub(crate) source: String,
    pub(crate) registry: Registry,
    /// Memory for objects that are copied as they are stored.
    pub(crate) room: Room,
}

/// A node of a planned copy.
#[derive(Debug)]
pub struct CopyNode {
    pub(crate) path: String,
    pub(crate) below: Prefix,
    pub(crate) consolidated: bool,
    /// The document of the source with consolidated metadata, in the format of the copy.
    pub(crate) holder: Option<Vec<u8>>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Group(Box<GroupMeta>),
    Array(Box<Planned>),
}

/// An array and its planned copy.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) source: Array,
    /// The copied selection, unless the whole source is copied.
    pub(crate) selection: Option<Selection>,
    meta: ArrayMeta,
    pub(crate) work: Work,
}

impl CopyNode {
    /// Returns the path in the source: `/`, `/a/b`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the place below the source.
    pub fn below(&self) -> &Prefix {
        &self.below
    }

    /// Whether the node is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }

    /// Whether the stored objects of the array are copied without decoding. `false` for groups.
    pub fn moves_objects(&self) -> bool {
        matches!(&self.kind, Kind::Array(array) if array.work.moves_objects())
    }

    /// Returns what the copy of an array will do; `None` for groups.
    pub fn estimate(&self) -> Option<Estimate> {
        match &self.kind {
            Kind::Group(_) => None,
            Kind::Array(array) => Some(array.work.estimate(&array.source)),
        }
    }

    /// Returns the format of the copy.
    pub fn format(&self) -> Format {
        match &self.kind {
            Kind::Group(meta) => meta.format(),
            Kind::Array(array) => array.meta.format(),
        }
    }

    /// Returns the documents of the copy, without consolidated metadata; `None` for a document that it lacks.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match &self.kind {
            Kind::Group(meta) => meta.documents(),
            Kind::Array(array) => array.meta.documents(),
        }
    }
}

impl Planned {
    /// Opens the copy at the root of `storage`, before its documents are written.
    pub(crate) fn open(&self, storage: Storage, plan: &CopyPlan) -> CopyResult<Array> {
        let places = &self.work.places;
        let (meta, notes) = (self.meta.clone(), Vec::new());
        let (registry, options) = (&plan.registry, OpenOptions::new());
        let opened = Array::from_metadata(storage, Prefix::root(), meta, notes, registry, &options);
        let copy = opened.map_err(|e| places.in_copy(e))?;
        if let Some(skipped) = copy.codecs().skipped().first() {
            let message = format!("codec {skipped:?} is unknown, so chunks cannot be encoded with it");
            return Err(places.in_copy(CopyError::unsupported(message)));
        }
        Ok(copy)
    }
}

/// A node that the walk found.
struct Visit {
    prefix: Prefix,
    notes: Vec<Diagnostic>,
    found: ChildState,
}

impl CopyPlan {
    /// Returns all nodes of the copy, parents before children.
    pub fn nodes(&self) -> &[CopyNode] {
        &self.nodes
    }

    /// Returns notes for the user, such as codecs that some readers lack.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.notes.lines()
    }

    /// Returns the format of the node at the root of the copy.
    pub fn format(&self) -> Format {
        self.nodes.first().map_or(Format::V3, CopyNode::format)
    }

    /// Returns the bytes of elements to read and write. Zero for objects that are copied as they are stored, if the
    /// array has more than 2^20 chunks: their number is unknown.
    pub fn bytes(&self) -> u64 {
        self.works().map(|work| work.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the bytes of all elements, stored or not.
    pub fn elements(&self) -> u128 {
        self.works().map(|work| work.elements).fold(0, u128::saturating_add)
    }

    fn works(&self) -> impl Iterator<Item = &Work> {
        self.nodes
            .iter()
            .filter_map(|node| if let Kind::Array(array) = &node.kind { Some(&array.work) } else { None })
    }
}

impl Copy {
    /// Looks at all nodes of the source and decides what to do with them. Reads only documents, and lists the chunks of
    /// arrays that have more than 2^20.
    ///
    /// # Errors
    /// [`Settings`](crate::CopyErrorKind::Settings) if the settings do not fit each other or the source; the kinds of
    /// arrays if nodes cannot be copied: the error of the first, and [`others`](crate::CopyError::others).
    pub async fn plan(&self) -> CopyResult<CopyPlan> {
        let rules = self.rules.matchers()?;
        let filter = Filter::new(&self.include, &self.exclude)?;
        let source = |e: CopyError| e.of_source();
        let mut planner = Planner {
            copy: self,
            nodes: Vec::new(),
            on_the_way: Vec::new(),
            notes: Notes::default(),
            left_alone: Vec::new(),
            parts: self.parts.arrays.keys().cloned().collect(),
        };
        let mut failures = Failures::default();
        let start = Prefix::of_node(&self.path).map_err(|e| source(e.into()))?;
        let mut visits = planner.visits(&start).await.map_err(source)?;
        while let Some(visit) = visits.next().await {
            pause().await;
            let below = visit.prefix.as_str().strip_prefix(start.as_str()).unwrap_or_default();
            let is_group = matches!(visit.found, ChildState::Node(NodeMeta::Group(_)));
            let taken = filter.takes(below);
            // A group that is not taken may hold nodes that are.
            if !(taken || is_group) {
                planner.parts.remove(below.trim_end_matches('/'));
                continue;
            }
            let path = visit.prefix.node_path();
            match planner.add(&start, visit, &rules).await {
                Ok(()) if taken => {}
                Ok(()) => planner.on_the_way.push(planner.nodes.len() - 1),
                Err(e) => failures.add(&path, source(e)),
            }
        }
        planner.drop_empty();
        let is_empty = planner.nodes.iter().all(|node| node.below.is_root());
        if filter.is_choice() && failures.is_empty() && is_empty {
            let advice = match filter.has_comma() {
                true => "; a comma is a part of a pattern: give each pattern by its own `include`",
                false => "",
            };
            return Err(CopyError::settings(format!("`include`: no node matches{advice}")));
        }
        match failures.joined() {
            Some(failure) => Err(failure),
            None => planner.finish().map_err(source),
        }
    }
}

struct Planner<'a> {
    copy: &'a Copy,
    nodes: Vec<CopyNode>,
    /// Indices of the groups that are copied only because of nodes below them.
    on_the_way: Vec<usize>,
    notes: Notes,
    /// The ranks of coordinates that keep their chunks.
    left_alone: Vec<usize>,
    /// The arrays of which a part is selected, until they are found.
    parts: BTreeSet<String>,
}

impl Planner<'_> {
    /// Returns the source and all nodes below it, from their documents.
    async fn visits(&mut self, start: &Prefix) -> CopyResult<BoxStream<'static, Visit>> {
        let Copy { storage, path, format, registry, .. } = self.copy;
        let (found, notes) = match node::read(storage, start, *format, &Limits::default(), false).await {
            Ok(Some((node, notes))) => (ChildState::Node(node), notes),
            Ok(None) => {
                let message = format!("there is no node at {path:?}");
                return Err(CopyError::node(ArrayErrorKind::NotFound, message));
            }
            Err(e) => (ChildState::Broken(e.into()), Vec::new()),
        };
        let is_group = matches!(found, ChildState::Node(NodeMeta::Group(_)));
        let first = stream::iter([Visit { prefix: start.clone(), notes, found }]);
        if !is_group {
            return Ok(first.boxed());
        }
        let lists = storage.capabilities().list;
        if !lists {
            self.notes.say(
                "the store cannot list its objects, so the nodes are taken from consolidated metadata, and nodes that \
                 it does not name are not looked for"
                    .to_owned(),
            );
        }
        let known = if lists { UseConsolidated::Ignore } else { UseConsolidated::IfPresent };
        let options = GroupOptions::new().use_consolidated(known).formats(Formats::Both).format(*format);
        let group = Group::open_with(storage.clone(), path, registry, &options).await?;
        if !lists && !group.is_consolidated() {
            return Err(CopyError::unsupported(format!(
                "the store cannot list the children of the group {path:?}, and it has no consolidated metadata"
            )));
        }
        let below = stream::unfold(group.walk(), |mut walk| async move {
            let child = walk.next().await?;
            let (prefix, notes) = (child.prefix().clone(), child.diagnostics().to_vec());
            Some((Visit { prefix, notes, found: child.into_found() }, walk))
        });
        Ok(first.chain(below).boxed())
    }

    /// Removes groups without nodes to copy.
    fn drop_empty(&mut self) {
        // Goes backwards: the nodes of a group follow it.
        for at in std::mem::take(&mut self.on_the_way).into_iter().rev() {
            let below = self.nodes[at].below.as_str();
            if !self.nodes[at + 1..].iter().any(|node| node.below.as_str().starts_with(below)) {
                self.nodes.remove(at);
            }
        }
    }

    /// Fails if the given shape fits no array, or if no array has a dimension that is named.
    fn finish(self) -> CopyResult<CopyPlan> {
        let Self { copy, nodes, notes, left_alone, parts, .. } = self;
        if let Some(below) = parts.first() {
            return Err(CopyError::settings(format!("`select`: there is no array {below:?}")));
        }
        if let Some((what, rank)) = copy.rules.shape() {
            let fits = |node: &CopyNode| matches!(&node.kind, Kind::Array(array) if array.source.shape().len() == rank);
            let left_alone = left_alone.iter().filter(|of| **of == rank).count();
            if nodes.iter().filter(|node| fits(node)).count() <= left_alone {
                let but = if left_alone > 0 { " except small coordinates, which keep theirs" } else { "" };
                let message = format!("the {what} shape has rank {rank}, but no array has that rank{but}");
                return Err(CopyError::settings(message));
            }
        }
        check_named(copy, &nodes)?;
        Ok(CopyPlan {
            nodes,
            notes,
            source: copy.name(),
            registry: copy.registry.clone(),
            room: Room::of(copy.memory),
        })
    }

    async fn add(&mut self, start: &Prefix, visit: Visit, rules: &Matchers<'_>) -> CopyResult<()> {
        let (copy, path) = (self.copy, visit.prefix.node_path());
        let below = visit.prefix.as_str().strip_prefix(start.as_str()).unwrap_or_default();
        for note in visit.notes.iter().filter(|note| is_worth_telling(note)) {
            self.notes.say(format!("node {path:?}: {note}"));
        }
        let (mut consolidated, mut holder) = (false, None);
        let kind = match visit.found {
            ChildState::Node(NodeMeta::Array(_)) => {
                // Open it again, so that arrays are opened in one way only.
                let options = OpenOptions::new().format(copy.format);
                let array = Array::open_with(copy.storage.clone(), &path, &copy.registry, &options).await?;
                let Chosen { change, note } = rules.change(&array, below).map_err(|e| in_array(e, &array))?;
                if let Some(note) = note {
                    self.notes.say_of(&path, note);
                    self.left_alone.push(array.shape().len());
                }
                let selection = copy.parts.of(&array, below.trim_end_matches('/'));
                self.parts.remove(below.trim_end_matches('/'));
                Kind::Array(Box::new(self.array(array, selection, below.is_empty(), &change).await?))
            }
            ChildState::Node(NodeMeta::Group(group)) => {
                let format = copy.rules.of_groups().format_of(group.format());
                let form = ConsolidatedForm::of(group.format());
                if form != ConsolidatedForm::Inline || group.consolidated().is_some() {
                    let key = visit.prefix.key(form.holder())?;
                    consolidated = copy.storage.exists(&key).await?;
                    // A holder that is too large to be read is written anew.
                    let text =
                        copy.storage.get(&key, Limits::default().metadata_bytes).await.unwrap_or_default();
                    holder = text.filter(|_| format == group.format()).map(|text| text.to_vec());
                }
                Kind::Group(Box::new(document::group(&group, format)?))
            }
            ChildState::Broken(e) | ChildState::Unlisted(e) => {
                let of = e.location().map_or(String::new(), |location| format!(" of {location}"));
                let place = format!("{path:?}{of}: ");
                let named = |text: &str| format!("node {place}{}", reason(text, &place));
                return Err(CopyError::from(e).edited(named));
            }
            _ => {
                let reason = "there is no metadata document, so this is not a node";
                self.notes.say(format!("{path:?} is not copied: {reason}"));
                return Ok(());
            }
        };
        self.nodes.push(CopyNode { path, below: Prefix::new(below)?, consolidated, holder, kind });
        Ok(())
    }

    async fn array(
        &mut self,
        source: Array,
        selection: Option<Selection>,
        is_alone: bool,
        change: &Change,
    ) -> CopyResult<Planned> {
        let registry = &self.copy.registry;
        let rank = source.shape().len();
        if let Some((what, given)) = change.shape().filter(|(_, given)| *given != rank) {
            let path = source.path();
            if is_alone {
                let message =
                    format!("array {path:?} has rank {rank}, but the {what} shape has rank {given}");
                return Err(CopyError::settings(message));
            }
            self.notes.say(format!("array {path:?} has rank {rank}, not {given}: it keeps its chunks"));
        }
        let in_copy = |e| in_copy(e, &source, change);
        let limits = Limits::default();
        let part = selection.as_ref().map(|selection| Part::new(&source, selection)).transpose();
        let part = part.map_err(|e| in_array(e, &source))?;
        // The source with the shape of the copy.
        let shaped = match &part {
            Some(part) => source.with_shape(part.shape())?,
            None => source.clone(),
        };
        let draft = Draft::new(&shaped, change, registry, &limits, part.is_some()).map_err(in_copy)?;
        // Check only new shapes: large chunks of the source need not be stored.
        if change.shape().is_some_and(|(_, given)| given == rank) {
            let what = if draft.layout.shards.is_some() { "shard" } else { "chunk" };
            check_size(what, &*draft.resolved.grid, source.data_type().size(), limits.chunk_bytes)
                .map_err(in_copy)?;
        }
        if change.loses_shards(&source, &draft.layout) {
            let path = source.path();
            let which = given(&source).map(|shards| format!("; those of the source are `shards` {shards}"));
            self.notes.say(format!("array {path:?}: the copy has no shards{}", which.unwrap_or_default()));
        }
        for note in draft.notes(&source, change) {
            self.notes.say_of(source.path(), note);
        }
        let work = if draft.moves {
            Work::objects(&source)
        } else {
            let parts = Parts {
                keeps_fill: draft.keeps_missing(&source),
                lossy: draft.is_lossy().then(|| draft.meta.clone()),
                has_shards: inner_chunk_shapes(draft.meta.document().codecs()).is_none_or(|s| !s.is_empty()),
                grid: draft.resolved.grid,
                registry,
                memory: self.copy.memory,
                threads: self.copy.threads,
                part,
            };
            let blocks = Blocks::new(&shaped, parts.clone()).await?;
            match Twice::new(&shaped, blocks, parts).await? {
                Ok(twice) => Work::twice(&shaped, twice),
                Err(blocks) => Work::blocks(&shaped, blocks),
            }
        };
        Ok(Planned { source, selection, meta: draft.meta, work })
    }
}

/// Fails if no array has a dimension of a name that the settings give.
fn check_named(copy: &Copy, nodes: &[CopyNode]) -> CopyResult<()> {
    /// The largest number of dimensions that the message names.
    const MOST: usize = 12;
    let mut given = copy.rules.named().peekable();
    if given.peek().is_none() {
        return Ok(());
    }
    let of = |node: &CopyNode| match &node.kind {
        Kind::Array(array) => dimensions(&array.source),
        Kind::Group(_) => Vec::new(),
    };
    let there: BTreeSet<String> = nodes.iter().flat_map(of).flatten().collect();
    let Some((setting, name)) = given.find(|(_, name)| !there.contains(*name)) else { return Ok(()) };
    let names: Vec<String> = there.iter().take(MOST).map(|name| format!("{name:?}")).collect();
    let rest = match names.len() {
        0 => "the arrays name no dimensions".to_owned(),
        _ if there.len() > MOST => format!("there are {}, …", names.join(", ")),
        _ => format!("there are {}", names.join(", ")),
    };
    Err(CopyError::settings(format!("`{setting}`: no array has a dimension {name:?}: {rest}")))
}

/// Whether a note of the source matters for the copy: something is kept that other readers may refuse.
fn is_worth_telling(note: &Diagnostic) -> bool {
    use zarr_array::meta::Code;
    let in_attributes = note.pointer.starts_with("/attributes");
    in_attributes && matches!(note.code, Code::BareNonFinite | Code::LoneSurrogate)
        || matches!(note.code, Code::ReservedName | Code::OddName)
}

/// Refuses chunks or shards that are too large to read back.
fn check_size(what: &str, grid: &dyn ChunkGrid, element: Option<usize>, limit: u64) -> CopyResult<()> {
    let longest = |dim| u128::from(grid.lengths(dim).into_iter().max().unwrap_or(1));
    let size = (0..grid.rank()).map(longest).fold(element.unwrap_or(1) as u128, u128::saturating_mul);
    if size <= u128::from(limit) {
        return Ok(());
    }
    Err(CopyError::node(
        ArrayErrorKind::LimitExceeded,
        format!("{what}s of {} exceed the limit of {} per {what}", Size(size), Size(limit.into())),
    ))
}

/// Returns an error in the metadata of the copy. If the settings changed something, they are at fault.
fn in_copy(e: CopyError, source: &Array, change: &Change) -> CopyError {
    use ArrayErrorKind::{InvalidArgument, Metadata};
    let is_invalid = matches!(e.kind(), CopyErrorKind::Node(InvalidArgument | Metadata));
    let e = if change.is_any() && is_invalid { e.with_kind(CopyErrorKind::Settings) } else { e };
    e.within(format_args!("copy of array {:?}", source.path()))
}

fn in_array(e: CopyError, source: &Array) -> CopyError {
    e.within(array_of(source))
}

/// Returns the message of an error without the place of the node.
fn reason<'a>(message: &'a str, place: &str) -> &'a str {
    let kinds = ["node ", "array "];
    kinds.iter().find_map(|kind| message.strip_prefix(kind)?.strip_prefix(place)).unwrap_or(message)
}
