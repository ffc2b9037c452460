//! The output of `zarr info` for an array.

use std::sync::Arc;

use zarr_array::meta::ArrayMeta;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::traits::extension::Context;
use zarr_array::traits::{ChunkGrid, KeyEncoding, Prefix};
use zarr_array::{DataType, Diagnostic, Format, Limits, Storage};

use super::{Args, diagnostics, named, tolerated};
use crate::args::decode::{Decode, Shown};
use crate::args::labels::Chosen;
use crate::args::target::{Target, registry};
use crate::decoded;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::column::{Column, Style};
use crate::out::json;
use crate::out::lengths::{Extent, only_shape};
use crate::out::number::significant;
use crate::out::render::Render;
use crate::out::table::{Table, bytes, dimensions, number, product};
use crate::pick::{Pick, selection};
use crate::slabs::Slab;
use crate::stored::{Stored, size};

/// The number of objects that are listed to count chunks, unless `--count` is given. Takes some tenths of a second on a
/// local disk.
const LISTED: usize = 100_000;

/// An array's metadata with the parts that are understood: one unknown codec leaves the others readable.
pub(super) struct ArrayInfo {
    meta: ArrayMeta,
    notes: Vec<Diagnostic>,
    data_type: Option<DataType>,
    grid: Option<Arc<dyn ChunkGrid>>,
    stored: Count,
    /// The reason why elements cannot be read.
    unreadable: Option<String>,
}

/// The number of stored chunks.
enum Count {
    /// With their bytes, if the store knows them.
    Exactly(u64, Option<u128>),
    AtLeast(u64),
    /// With the reason.
    Unknown(String),
}

impl ArrayInfo {
    /// Looks up the extensions in the document and counts chunks, all of them or as far as that is quick.
    pub(super) fn new(target: &Target, meta: ArrayMeta, mut notes: Vec<Diagnostic>, count_all: bool) -> Self {
        let (registry, limits) = (registry(), Limits::default());
        let document = meta.document();
        let resolved = meta.resolve(&registry, &limits, &mut notes);
        // The storage is known unless a storage transformer is unknown.
        let storage = match &resolved {
            Ok(resolved) => target.prefix().map(|prefix| resolved.storage(&target.storage, &prefix)).ok(),
            Err(_) => document.storage_transformers().is_empty().then(|| target.storage.clone()),
        };
        let context = Context::new(&registry, &limits);
        let data_type = registry.data_type(&document.data_type().to_spec(), &context).ok();
        let grid = meta.chunk_grid(&registry, &limits).ok();
        let mut info = Self {
            meta,
            notes,
            data_type: data_type.map(|(data_type, _)| data_type),
            grid,
            stored: Count::Unknown("the chunk grid is unknown".to_owned()),
            unreadable: resolved.err().map(|e| format!("{e:#}")),
        };
        if let Some(counts) = info.chunk_counts() {
            let most = if count_all { usize::MAX } else { LISTED };
            let keys = info.meta.key_encoding(&registry, &limits).map_err(Failure::from);
            let storage = storage.ok_or_else(|| Failure::unsupported("a storage transformer is unknown"));
            let format = info.meta.format();
            let counted =
                keys.and_then(|keys| count(&storage?, target.prefix()?, format, &*keys, counts, most));
            info.stored = counted.unwrap_or_else(|e| Count::Unknown(e.message().to_owned()));
        }
        info
    }

    /// The shape of all chunks, if they have the same.
    fn chunk_shape(&self) -> Option<Vec<u64>> {
        only_shape(self.grid.as_deref()?, self.meta.document().shape())
    }

    fn chunk_counts(&self) -> Option<Vec<u64>> {
        let grid = self.grid.as_ref()?;
        Some(
            self.meta
                .document()
                .shape()
                .iter()
                .enumerate()
                .map(|(dim, length)| grid.count(dim, *length))
                .collect(),
        )
    }

    /// The shapes of the inner chunks, from the outermost in; empty without shards.
    fn inner_shapes(&self) -> Vec<Vec<u64>> {
        let fits =
            |shape: &Vec<u64>| shape.len() == self.meta.document().shape().len() && !shape.contains(&0);
        inner_chunk_shapes(self.meta.document().codecs())
            .filter(|shapes| shapes.iter().all(fits))
            .unwrap_or_default()
    }

    /// The bytes of all elements, if known and below 2^128.
    fn size(&self) -> Option<u128> {
        product(self.meta.document().shape())?.checked_mul(self.data_type.as_ref()?.size()? as u128)
    }

    pub(super) fn to_json(&self, target: &Target) -> Object {
        let d = self.meta.document();
        let extensions = |list: &[Extension]| list.iter().map(Extension::to_value).collect::<Value>();
        let mut nested = self.inner_shapes();
        let innermost = nested.pop();
        let mut info = json::document([
            ("path", (&target.path).into()),
            ("zarr_format", self.meta.format().number().into()),
            ("node_type", "array".into()),
            ("shape", d.shape().iter().copied().collect()),
            ("data_type", d.data_type().to_value()),
            (
                "dimension_names",
                d.dimension_names().map(|n| n.iter().map(Option::as_deref).collect::<Value>()).into(),
            ),
            ("chunk_grid", d.chunk_grid().to_value()),
            ("chunk_shape", self.chunk_shape().into()),
            ("chunk_counts", self.chunk_counts().into()),
            ("shard_shape", self.chunk_shape().filter(|_| innermost.is_some()).into()),
            ("inner_chunk_shape", innermost.into()),
            ("stored_chunks", self.stored.exactly().into()),
            ("chunk_key_encoding", d.chunk_key_encoding().to_value()),
            ("codecs", extensions(d.codecs())),
            ("fill_value", d.fill_value().clone()),
            ("uncompressed_bytes", self.size().into()),
            ("readable", self.unreadable.is_none().into()),
        ]);
        if !nested.is_empty() {
            info.set("nested_shard_shapes", nested);
        }
        match &self.stored {
            Count::Exactly(_, bytes) => info.set("stored_bytes", *bytes),
            Count::AtLeast(n) => info.set("stored_chunks_at_least", *n),
            Count::Unknown(why) => info.set("stored_chunks_unknown_because", why),
        }
        if let Some(why) = &self.unreadable {
            info.set("unreadable_because", why);
        }
        if !d.storage_transformers().is_empty() {
            info.set("storage_transformers", extensions(d.storage_transformers()));
        }
        info.set("attributes", d.attributes());
        info.set("diagnostics", diagnostics(&self.notes));
        info
    }

    pub(super) fn page(&self, target: &Target, args: &Args) -> String {
        let d = self.meta.document();
        let mut table = Table::default();
        table.row(["array", &format!("{}, Zarr {}", named(target), self.meta.format())]);
        let names = d.dimension_names().filter(|_| !d.shape().is_empty());
        let names = match names {
            _ if d.shape().is_empty() => String::new(),
            None => ", dimensions not named".to_owned(),
            Some(names) => {
                format!(", dimensions {}", names.iter().map(shown_name).collect::<Vec<_>>().join(", "))
            }
        };
        table.row(["shape", &format!("{} {}{names}", dimensions(d.shape()), d.data_type())]);
        match (&self.grid, self.chunk_counts()) {
            (Some(grid), Some(counts)) => {
                self.chunk_rows(Extent::of(&**grid, d.shape()), &counts, &mut table);
            }
            _ => table.row(["chunk grid", &d.chunk_grid().to_string()]),
        }
        let keys = d.chunk_key_encoding().to_string();
        let usual = ["default", "default(separator=/)", "v2(separator=.)", "v2"];
        if !usual.contains(&keys.as_str()) {
            table.row(["chunk keys", &keys]);
        }
        table.row(["codecs", &d.codecs().iter().map(ToString::to_string).collect::<Vec<_>>().join(" > ")]);
        if !d.storage_transformers().is_empty() {
            let list: Vec<_> = d.storage_transformers().iter().map(ToString::to_string).collect();
            table.row(["transformers", &list.join(" > ")]);
        }
        table.row(["fill value", &d.fill_value().to_compact()]);
        if let Some(values) = self.values(target).filter(|_| !args.no_values) {
            table.row(["values", &values]);
        }
        if let Some(why) = &self.unreadable {
            table.row(["unreadable", why]);
        }
        table.to_text("") + &args.attributes(&d.attributes()) + &tolerated(&self.notes)
    }

    /// Returns the first and the last element as text, if few bytes are read for them. They are only shown, so an error
    /// hides them.
    fn values(&self, target: &Target) -> Option<String> {
        /// The largest chunk that is read, in bytes.
        const READ: u128 = 8 << 20;
        /// The largest number of digits of a float.
        const DIGITS: usize = 6;
        let shape = self.meta.document().shape();
        let data_type = self.data_type.as_ref()?;
        let size = data_type.size().unwrap_or(64);
        let chunk = product(&self.chunk_shape()?)?.checked_mul(size as u128)?;
        if self.unreadable.is_some() || shape.contains(&0) || chunk > READ {
            return None;
        }
        let array = target.open_known(&target.path, self.meta.clone()).ok()?;
        let render = Render::text(data_type)?;
        let all = Chosen::default();
        let no_group = || Err(Failure::unsupported("the elements are shown without their group"));
        let around = Decode::default().around(&array, Shown::Elements(&all), no_group).ok()?;
        let variable = around.map(|around| around.dataset.variable(&around.name)).transpose().ok()?;
        let element = |at: &dyn Fn(u64) -> u64| {
            let picks: Vec<Pick> = shape.iter().map(|length| Pick::index(at(*length))).collect();
            let mut text = Vec::new();
            if let Some(variable) = &variable {
                let one = Slab { start: vec![0; picks.len()], count: vec![1; picks.len()] };
                let one = decoded::read(variable, &picks, &one).ok()?;
                Column::read(&one, Style::Text).ok()?.element(0, &mut text).ok()?;
                return String::from_utf8(text).ok();
            }
            let elements = Elements::read(&array, selection(picks)).ok()?;
            elements.each(data_type.memory_size(), |element| render.element(element, &mut text)).ok()?;
            let text = String::from_utf8_lossy(&text).into_owned();
            Some(match data_type.number() {
                Some(number) if number.is_float() => {
                    text.parse().map_or(text, |number| significant(number, DIGITS))
                }
                _ => text,
            })
        };
        let first = element(&|_| 0)?;
        if product(shape) == Some(1) {
            return Some(first);
        }
        Some(format!("{first} … {} (first, last)", element(&|length| length - 1)?))
    }

    /// Adds the rows about chunks or shards, and inner chunks.
    fn chunk_rows(&self, mut extents: Vec<Extent>, counts: &[u64], table: &mut Table) {
        let exactly = |lengths: &[u64]| lengths.iter().map(|n| Extent(*n, *n)).collect::<Vec<_>>();
        let inner = self.inner_shapes();
        let what = if inner.is_empty() { "chunks" } else { "shards" };
        let all = number(counts);
        let each = if counts.len() > 1 && product(counts) != Some(1) {
            format!(" ({} of them)", dimensions(counts))
        } else {
            String::new()
        };
        let is_sized = self.data_type.as_ref().is_some_and(|data_type| data_type.size().is_some());
        let whole = is_sized.then(|| bytes(self.size().unwrap_or(u128::MAX)));
        let stored = match &self.stored {
            Count::Exactly(n, stored) => {
                let sizes = [stored.map(bytes), whole].into_iter().flatten().collect::<Vec<_>>();
                let sizes =
                    if sizes.is_empty() { String::new() } else { format!(", {}", sizes.join(" of ")) };
                format!("{n} of {all} stored{sizes}")
            }
            Count::AtLeast(n) => format!("{n} or more of {all} stored (--count counts them)"),
            Count::Unknown(why) => format!("{all} of them, stored ones unknown: {why}"),
        };
        table.row([what, &format!("{}{each}, {stored}", dimensions(&extents))]);
        for (level, shape) in inner.iter().enumerate() {
            let counts: Vec<Extent> = extents.iter().zip(shape).map(|(outer, n)| outer.divided(*n)).collect();
            let name = if level + 1 == inner.len() { "inner chunks" } else { "inner shards" };
            extents = exactly(shape);
            table.row([name, &in_each(&extents, &counts)]);
        }
    }
}

/// Returns the inner chunks of a shard in words: `2 × 3, 4 × 2 = 8 in each shard`.
fn in_each(extents: &[Extent], counts: &[Extent]) -> String {
    let product = if counts.len() > 1 { format!("{} = ", dimensions(counts)) } else { String::new() };
    let [least, most] = [|n: &Extent| n.0, |n: &Extent| n.1].map(|of| counts.iter().map(of).collect());
    let all = [least, most].map(|counts: Vec<u64>| number(&counts));
    let all = if all[0] == all[1] { all[0].clone() } else { all.join("–") };
    format!("{}, {product}{all} in each shard", dimensions(extents))
}

/// Returns the name of a dimension, in quotes if it is an odd one.
fn shown_name(name: &Option<String>) -> String {
    let is_plain = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    match name {
        None => "-".to_owned(),
        Some(name) if is_plain(name) => name.clone(),
        Some(name) => format!("{name:?}"),
    }
}

impl Count {
    fn exactly(&self) -> Option<u64> {
        if let Self::Exactly(n, _) = self { Some(*n) } else { None }
    }
}

/// Counts the stored chunks. Lists at most `most` objects.
fn count(
    storage: &Storage,
    prefix: Prefix,
    format: Format,
    keys: &dyn KeyEncoding,
    counts: Vec<u64>,
    most: usize,
) -> Result<Count, Failure> {
    let (mut chunks, mut bytes) = (0, Some(0_u128));
    for (listed, object) in Stored::new(storage, prefix, format, keys, counts).enumerate() {
        if listed == most {
            return Ok(Count::AtLeast(chunks));
        }
        let object = object?;
        if object.chunk.is_ok() {
            chunks += 1;
            // A chunk whose size cannot be asked is counted.
            let size = size(storage, &object.listed).ok().map(|size| u128::from(size.unwrap_or(0)));
            bytes = bytes.zip(size).map(|(bytes, size)| bytes + size);
        }
    }
    Ok(Count::Exactly(chunks, bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use zarr_array::traits::CoreKeyEncoding;

    use super::*;

    #[test]
    fn counting_lists_at_most_as_many_objects_as_allowed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("c")).unwrap();
        for name in ["zarr.json", "c/0", "c/1", "c/2", "c/x"] {
            fs::write(folder.path().join(name), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        }
        let target =
            Target::find(folder.path(), &crate::args::stores::Stores::new(Default::default())).unwrap();
        let keys = CoreKeyEncoding::default_with('/');
        for (most, exactly, at_least) in
            [(0, None, 0), (2, None, 2), (3, None, 3), (4, Some(3), 3), (9, Some(3), 3)]
        {
            let count = count(&target.storage, Prefix::root(), Format::V3, &keys, vec![9], most).unwrap();
            assert_eq!(count.exactly(), exactly, "{most}");
            assert!(exactly.is_some() || matches!(count, Count::AtLeast(n) if n == at_least), "{most}");
        }
    }
}
