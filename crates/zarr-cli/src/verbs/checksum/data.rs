//! Digests of data, which do not depend on format, chunks, codecs and store.
//!
//! The digest of a node is the SHA-256 of a head and the digests of its blocks, each of 32 bytes. A block is the
//! SHA-256 of 65,536 elements in C order; the last one may have fewer. Blocks do not depend on chunks, and threads hash
//! several at a time. Very many digests are joined in a tree, so that elements that are not stored take no time. The
//! README of this crate defines the bytes.

use std::sync::Mutex;

use sha2::{Digest as _, Sha256};
use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::{Format, NodeMeta, xarray};
use zarr_array::traits::lock::unpoisoned;
use zarr_hierarchy::ChildState;

use crate::args::target::Target;
use crate::crew;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::json::sorted;
use crate::out::progress::Progress;
use crate::pick::Pick;
use crate::sparse::{self, Part, Parts};
use crate::visit::Source;
use crate::walk::walk;

use super::join::{Digest, Joined};

/// The number of elements in a block.
const BLOCK: usize = 1 << 16;

/// The memory that is counted for an element of variable length, in bytes.
const VARIABLE: usize = 64;

/// Calls `add` with the path of each node, relative to the target with a slash in front, and its digest, or the reason why it
/// cannot be read.
pub(super) fn each(
    target: &Target,
    with_attributes: bool,
    progress: &Progress,
    add: &mut impl FnMut(String, Result<String, Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let root = target.path.trim_end_matches('/');
    for visit in walk(target, Source::DOCUMENTS, usize::MAX)? {
        let path = visit.path();
        let digest = match visit.found {
            ChildState::Node(node) => match &node {
                NodeMeta::Group(_) => Ok(hexadecimal(&Sha256::digest(head(&node, None, with_attributes)))),
                NodeMeta::Array(meta) => {
                    progress.at(&path);
                    let array = target.open_known(&path, meta.clone());
                    let digest = |array| array_digest(&array, &node, with_attributes, progress);
                    array.and_then(|array| digest(array).map_err(|e| target.fail(e)))
                }
            },
            ChildState::Broken(e) | ChildState::Unlisted(e) => {
                Err(target.fail(Failure::from(e).within(format_args!("node {path:?}"))))
            }
            // A folder that is not a node.
            _ => continue,
        };
        let below = path.strip_prefix(root).unwrap_or(&path);
        add(if below.is_empty() { "/".to_owned() } else { below.to_owned() }, digest)?;
    }
    Ok(())
}

/// Returns the lines in front of the blocks: the version, the kind of the node, and for an array the data type and the
/// shape; then, if wanted, the names of dimensions and the attributes, in JSON with sorted members.
fn head(node: &NodeMeta, data_type: Option<&DataType>, with_attributes: bool) -> String {
    let mut head = String::from("zarr-data-1\n");
    match (node, data_type) {
        (NodeMeta::Array(array), Some(data_type)) => {
            let of_type = match data_type {
                DataType::Extension(_) => sorted(&array.document().data_type().to_value()),
                core => Value::from(&*core.name()).to_compact(),
            };
            let shape: Value = array.shape().iter().copied().collect();
            head += &format!("array\n{of_type}\n{}\n", shape.to_compact());
        }
        _ => head += "group\n",
    }
    if with_attributes {
        let (names, attributes) = match node {
            NodeMeta::Array(array) => {
                let names = array.dimension_names().filter(|names| names.iter().any(Option::is_some));
                let names: Value =
                    names.map(|names| names.iter().map(Option::as_deref).collect::<Value>()).into();
                let attributes = match array.format() {
                    Format::V3 => array.attributes(),
                    _ => xarray::attributes_of_format_3(array),
                };
                (names, attributes)
            }
            NodeMeta::Group(group) => (Value::from(None::<bool>), group.attributes()),
        };
        head += &format!("{}\n{}\n", sorted(&names), sorted(&attributes.to_value()));
    }
    head
}

fn array_digest(
    array: &Array,
    node: &NodeMeta,
    with_attributes: bool,
    progress: &Progress,
) -> Result<String, Failure> {
    let whole = Sha256::new_with_prefix(head(node, Some(array.data_type()), with_attributes));
    let picks: Vec<Pick> = array.shape().iter().map(|len| Pick::range(0..*len)).collect();
    let size = array.data_type().size().unwrap_or(VARIABLE);
    let mut blocks = Blocks {
        array,
        open: Sha256::new(),
        count: 0,
        joined: Joined::new(whole, sparse::elements(&picks)?.div_ceil(BLOCK as u128)),
        filled: None,
    };
    Parts::of(&picks, array, size)?.each(|part| {
        match part {
            Part::Read(slab) => blocks.add(Elements::read(array, slab.selection(&picks))?)?,
            Part::Absent(_, count) => blocks.add_filled(count),
        }
        progress.add(1);
        Ok(())
    })?;
    blocks.end();
    Ok(hexadecimal(&blocks.joined.end()))
}

/// Hashes elements block by block. A slab may end inside of a block.
struct Blocks<'a> {
    array: &'a Array,
    /// The block that is not complete, and the number of its elements.
    open: Sha256,
    count: usize,
    /// The digests of the complete blocks.
    joined: Joined,
    /// The digest of a block of fill values.
    filled: Option<Digest>,
}

impl Blocks<'_> {
    /// Adds elements that have the fill value.
    fn add_filled(&mut self, count: u128) {
        let mut element = self.array.fill().bytes().to_vec();
        match self.array.data_type().size() {
            Some(_) if cfg!(target_endian = "big") => self.array.data_type().swap_bytes(&mut element),
            Some(_) => {}
            None => drop(element.splice(0..0, (element.len() as u64).to_le_bytes())),
        }
        let fill = |block: &mut Sha256, count: usize| {
            // Few large updates are faster than many small ones.
            let some = element.repeat((1 << 12) / element.len().max(1) + 1);
            let at_once = some.len() / element.len().max(1);
            (0..count / at_once).for_each(|_| block.update(&some));
            (0..count % at_once).for_each(|_| block.update(&element));
        };
        let (first, complete, rest) = self.cut(count);
        fill(&mut self.open, first);
        self.opened(first);
        if complete > 0 {
            let digest = *self.filled.get_or_insert_with(|| {
                let mut block = Sha256::new();
                fill(&mut block, BLOCK);
                block.finalize().into()
            });
            self.joined.push(digest, complete);
        }
        fill(&mut self.open, rest);
        self.opened(rest);
    }

    /// Cuts so many elements into those that the open block lacks, the number of complete blocks, and the rest.
    fn cut(&self, count: u128) -> (usize, u128, usize) {
        let of = |count: u128| usize::try_from(count).unwrap_or(BLOCK);
        let first = if self.count == 0 { 0 } else { count.min((BLOCK - self.count) as u128) };
        (of(first), (count - first) / BLOCK as u128, of((count - first) % BLOCK as u128))
    }

    /// Counts elements that were added to the open block, and ends it if it is complete.
    fn opened(&mut self, count: usize) {
        self.count += count;
        if self.count == BLOCK {
            self.end();
        }
    }

    /// Adds elements.
    fn add(&mut self, elements: Elements) -> Result<(), Failure> {
        let (fixed, variable, size) = match elements {
            Elements::Fixed(mut bytes) => {
                if cfg!(target_endian = "big") {
                    self.array.data_type().swap_bytes(&mut bytes);
                }
                (bytes, Vec::new(), self.array.data_type().size().unwrap_or(1).max(1))
            }
            Elements::Variable(contents) => (Vec::new(), contents, 0),
        };
        let all = fixed.len().checked_div(size).unwrap_or(variable.len());
        let hash = |into: &mut Sha256, from: usize, to: usize| {
            if size > 0 {
                into.update(fixed.get(from * size..to * size).unwrap_or_default());
                return;
            }
            for content in variable.get(from..to).unwrap_or_default() {
                into.update((content.len() as u64).to_le_bytes());
                into.update(content);
            }
        };
        let (first, _, rest) = self.cut(all as u128);
        hash(&mut self.open, 0, first);
        self.opened(first);
        let complete = (all - first) / BLOCK;
        let digests = Mutex::new(vec![[0; 32]; complete]);
        let job = |number: usize| {
            let mut block = Sha256::new();
            let from = first + number * BLOCK;
            hash(&mut block, from, from + BLOCK);
            if let Some(place) = unpoisoned(digests.lock()).get_mut(number) {
                *place = block.finalize().into();
            }
            Ok(())
        };
        let width = std::thread::available_parallelism().map_or(1, usize::from).min(complete);
        crew::each(width, (0..complete).map(Ok), |_| 1, job)?;
        let digests = unpoisoned(digests.into_inner());
        digests.into_iter().for_each(|digest| self.joined.push(digest, 1));
        hash(&mut self.open, all - rest, all);
        self.opened(rest);
        Ok(())
    }

    /// Adds the digest of the open block, if it has elements.
    fn end(&mut self) {
        if self.count > 0 {
            self.joined.push(self.open.finalize_reset().into(), 1);
            self.count = 0;
        }
    }
}

pub(super) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
