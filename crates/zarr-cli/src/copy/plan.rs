//! The plan of a copy, made before anything is written.

use zarr_array::blocking::Array;
use zarr_array::meta::consolidated::Form;
use zarr_array::meta::{ArrayMeta, DocumentName, Format, GroupMeta, NodeMeta};
use zarr_array::traits::{ChunkGrid, Prefix};
use zarr_array::{Cpu, Limits, OpenOptions, Storage, block_on};
use zarr_hierarchy::Found;

use super::blocks::Blocks;
use super::change::{Change, given};
use super::document;
use super::draft::Draft;
use super::filter::Filter;
use super::notes::{Failures, Notes};
use super::work::Work;
use crate::exit::{Exit, Failure};
use crate::table::bytes;
use crate::target::{Target, registry};
use crate::walk::{NO_NODE, Source, Visit, reason, walk};

/// All nodes of the copy, parents before children.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    /// Indices of the groups that are copied only because of nodes below them.
    on_the_way: Vec<usize>,
    /// Notes for the user.
    pub(crate) notes: Notes,
}

#[derive(Debug)]
pub(crate) struct Node {
    /// The path in the source.
    pub(crate) path: String,
    /// The place below the source.
    pub(crate) below: Prefix,
    /// Whether the source has consolidated metadata here.
    pub(crate) consolidated: bool,
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
    meta: ArrayMeta,
    pub(crate) work: Work,
}

impl Node {
    /// Returns the format of the copy.
    pub(crate) fn format(&self) -> Format {
        match &self.kind {
            Kind::Group(meta) => meta.format(),
            Kind::Array(array) => array.meta.format(),
        }
    }

    /// Returns the documents of the copy.
    pub(crate) fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match &self.kind {
            Kind::Group(meta) => meta.documents(),
            Kind::Array(array) => array.meta.documents(),
        }
    }
}

impl Planned {
    /// Opens the copy at the root of `storage`, before its documents are written.
    pub(crate) fn open(&self, storage: Storage, cpu: &Cpu) -> Result<Array, Failure> {
        let (meta, notes) = (self.meta.clone(), Vec::new());
        let opened = OpenOptions::new().with_metadata(storage, Prefix::root(), meta, notes, &registry());
        let array = opened.map_err(|e| self.work.places.in_copy(e))?;
        if let Some(skipped) = array.codecs().skipped().first() {
            let message = format!("codec {skipped:?} is unknown, so chunks cannot be encoded with it");
            return Err(self.work.places.in_copy(Failure::unsupported(message)));
        }
        Ok(Array::from(array).with_cpu(cpu.clone()))
    }
}

impl Plan {
    /// Plans the copy of `source`. Prints an error for every node that cannot be copied; the exit code is that of the
    /// first.
    pub(crate) fn new(source: &Target, change: &Change, filter: &Filter) -> Result<Self, Failure> {
        let mut plan = Self { nodes: Vec::new(), on_the_way: Vec::new(), notes: Notes::default() };
        let mut failures = Failures::default();
        let start = source.prefix()?;
        for visit in walk(source, Source::DOCUMENTS, usize::MAX)? {
            let below = visit.prefix.as_str().strip_prefix(start.as_str()).unwrap_or_default();
            let is_group = matches!(visit.found, Found::Node(NodeMeta::Group(_)));
            let taken = filter.takes(below);
            // A group that is not taken may hold nodes that are.
            if !(taken || is_group) {
                continue;
            }
            let path = visit.path();
            match plan.add(source, &start, visit, change) {
                Ok(()) if taken => {}
                Ok(()) => plan.on_the_way.push(plan.nodes.len() - 1),
                Err(e) => failures.add(&path, source.fail(e)),
            }
        }
        plan.drop_empty();
        if filter.is_choice() && failures.is_empty() && plan.nodes.iter().all(|node| node.below.is_root()) {
            return Err(Failure::usage("--include: no node matches"));
        }
        match failures.report() {
            Some(failure) => Err(failure),
            None => plan.check_rank(change).map_err(|e| source.fail(e)).map(|()| plan),
        }
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

    /// Fails if the given shape fits no array.
    fn check_rank(&self, change: &Change) -> Result<(), Failure> {
        let Some((what, rank)) = change.shape() else { return Ok(()) };
        let fits =
            |node: &Node| matches!(&node.kind, Kind::Array(array) if array.source.shape().len() == rank);
        if self.nodes.iter().any(fits) {
            return Ok(());
        }
        Err(Failure::usage(format!("the {what} shape has rank {rank}, but no array has that rank")))
    }

    fn add(&mut self, source: &Target, start: &Prefix, visit: Visit, change: &Change) -> Result<(), Failure> {
        let path = visit.path();
        for note in visit.notes.iter().filter(|note| is_worth_telling(note)) {
            self.notes.say(format!("node {path:?}: {note}"));
        }
        let mut consolidated = false;
        let kind = match visit.found {
            Found::Node(NodeMeta::Array(_)) => {
                // Open it again, so that arrays are opened in one way only.
                let array = source.open(&path)?;
                Kind::Array(Box::new(self.array(array, source, &visit.prefix == start, change)?))
            }
            Found::Node(NodeMeta::Group(group)) => {
                consolidated = match Form::of(group.format()) {
                    Form::Inline => group.consolidated().is_some(),
                    form => {
                        let holder = visit.prefix.key(form.holder())?;
                        block_on(source.storage.exists(&holder))?
                    }
                };
                Kind::Group(Box::new(document::group(&group, change.format_of(group.format()))?))
            }
            Found::Broken(e) | Found::Unlisted(e) => {
                let message = format!("node {path:?}: {}", reason(&e, &path));
                return Err(Failure::new(e.kind().into(), message));
            }
            _ => {
                self.notes.say(format!("{path:?} is not copied: {NO_NODE}"));
                return Ok(());
            }
        };
        let below = visit.prefix.as_str().strip_prefix(start.as_str()).unwrap_or_default();
        self.nodes.push(Node { path, below: Prefix::new(below)?, consolidated, kind });
        Ok(())
    }

    fn array(
        &mut self,
        source: Array,
        target: &Target,
        is_alone: bool,
        change: &Change,
    ) -> Result<Planned, Failure> {
        let rank = source.shape().len();
        if let Some((what, given)) = change.shape().filter(|(_, given)| *given != rank) {
            let path = source.path();
            if is_alone {
                let message =
                    format!("array {path:?} has rank {rank}, but the {what} shape has rank {given}");
                return Err(Failure::usage(message));
            }
            self.notes.say(format!("array {path:?} has rank {rank}, not {given}: it keeps its chunks"));
        }
        let in_copy = |e| in_copy(e, &source, change);
        let limits = Limits::default();
        let draft = Draft::new(&source, change, &registry(), &limits).map_err(in_copy)?;
        // Check only new shapes: large chunks of the source need not be stored.
        if change.shape().is_some_and(|(_, given)| given == rank) {
            let what = if draft.layout.shards.is_some() { "shard" } else { "chunk" };
            check_size(what, &*draft.resolved.grid, source.data_type().size(), limits.chunk_bytes)
                .map_err(in_copy)?;
        }
        if change.loses_shards(&source, &draft.layout) {
            let path = source.path();
            let which = given(&source).map(|shards| format!("; those of the source are --shards {shards}"));
            self.notes.say(format!("array {path:?}: the copy has no shards{}", which.unwrap_or_default()));
        }
        for note in draft.notes(&source, change) {
            self.notes.say_of(source.path(), note);
        }
        let work = if draft.moves {
            Work::objects(&source, &target.store)
        } else {
            let keeps_fill = draft.keeps_missing(&source);
            let lossy = draft.is_lossy().then(|| draft.meta.clone());
            let blocks = Blocks::new(&source, &target.store, draft.resolved.grid, keeps_fill, lossy)?;
            Work::blocks(&source, &target.store, blocks)
        };
        Ok(Planned { source, meta: draft.meta, work })
    }

    /// Returns the bytes of elements to read and write.
    pub(crate) fn bytes(&self) -> u64 {
        self.works().map(|work| work.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the bytes of all elements, stored or not.
    pub(crate) fn elements(&self) -> u128 {
        self.works().map(|work| work.elements).fold(0, u128::saturating_add)
    }

    fn works(&self) -> impl Iterator<Item = &Work> {
        self.nodes
            .iter()
            .filter_map(|node| if let Kind::Array(array) = &node.kind { Some(&array.work) } else { None })
    }
}

/// Whether a note of the source matters for the copy: something is kept that other readers may refuse.
fn is_worth_telling(note: &zarr_array::Diagnostic) -> bool {
    use zarr_array::meta::Code;
    let in_attributes = note.pointer.starts_with("/attributes");
    in_attributes && matches!(note.code, Code::BareNonFinite | Code::LoneSurrogate)
        || matches!(note.code, Code::ReservedName | Code::OddName)
}

/// Refuses chunks or shards that are too large to read back.
fn check_size(what: &str, grid: &dyn ChunkGrid, element: Option<usize>, limit: u64) -> Result<(), Failure> {
    let longest = |dim| u128::from(grid.lengths(dim).into_iter().max().unwrap_or(1));
    let size = (0..grid.rank()).map(longest).fold(element.unwrap_or(1) as u128, u128::saturating_mul);
    if size <= u128::from(limit) {
        return Ok(());
    }
    let [size, limit] = [size, limit.into()].map(bytes);
    Err(Failure::new(
        Exit::LimitExceeded,
        format!("{what}s of {size} exceed the limit of {limit} per {what}"),
    ))
}

/// Returns an error in the metadata of the copy. If the options changed something, the command line is at fault.
fn in_copy(e: Failure, source: &Array, change: &Change) -> Failure {
    let exit = if change.is_any() && e.exit() == Exit::Invalid { Exit::Usage } else { e.exit() };
    Failure::new(exit, e.message()).within(format_args!("copy of array {:?}", source.path()))
}
