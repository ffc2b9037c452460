//! The contender of this workspace in the benchmark harness, written against the public API alone.

mod clock;
mod contract;

use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result, bail};
use contract::{Args, Report, grid_cells, random_boxes, unsupported};
use zarr_array::blocking::Array;
use zarr_array::meta::path::DOCUMENT;
use zarr_array::traits::store::Listed;
use zarr_array::{AnyArray, DataType, Element, NdVec, Selection, Storage, block_on, standard};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{Child, GroupOptions, NodeMeta, UseConsolidated};
use zarr_store::MemoryStore;
use zarr_store::{Access, Schemes};
use zarr_store_fs::FsStore;
use zarr_strided::{Plain, bytes_of, bytes_of_mut};

fn main() -> Result<()> {
    let args = Args::parse();
    let mut report = Report::default();
    match args.op.as_str() {
        "version" => {}
        "open" => open(&args, &mut report)?,
        "list" => list(&args, &mut report)?,
        "walk" | "children" => walk(&args, &mut report)?,
        "read-box" => read_box(&args, &mut report)?,
        "read-all" | "read-grid" | "read-boxes" | "write-all" | "write-boxes" | "copy" => {
            let path = match args.op.as_str() {
                "write-all" | "write-boxes" => format!("{}/0", args.text("out")?),
                _ => args.text("path")?.to_owned(),
            };
            // Not kept: with `--store mem` it would be a second copy of the data.
            let data_type = open_array(&args, &path)?.data_type().clone();
            typed(&args, &mut report, &data_type)?;
        }
        op => {
            unsupported(op);
            return Ok(());
        }
    }
    report.print(&args.op);
    Ok(())
}

/// A number that the payloads of the contract are made of.
trait Number: Element + Plain {
    fn small(n: u64) -> Self;
}

/// Makes numbers of Rust types, and the choice of one by its data type.
macro_rules! numbers {
    ($($data_type:ident: $of:ty,)*) => {
        $(impl Number for $of {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                reason = "the numbers are below 61"
            )]
            fn small(n: u64) -> Self {
                n as Self
            }
        })*

        fn typed(args: &Args, report: &mut Report, data_type: &DataType) -> Result<()> {
            match data_type {
                $(DataType::$data_type => repeated::<$of>(args, report),)*
                other => bail!("no element for {other}"),
            }
        }
    };
}

numbers! {
    Int8: i8,
    Int16: i16,
    Int32: i32,
    Int64: i64,
    UInt8: u8,
    UInt16: u16,
    UInt32: u32,
    UInt64: u64,
    Float32: f32,
    Float64: f64,
}

fn repeated<T: Number>(args: &Args, report: &mut Report) -> Result<()> {
    for repetition in 0..args.number("reps", 1)? {
        match args.op.as_str() {
            "read-all" => {
                let array = open_array(args, args.text("path")?)?;
                let values: NdVec<T> = report.time(|| Ok(array.read(..)?))?;
                report.count = 1;
                report.bytes = bytes_of(values.as_slice()).len() as u64;
                if repetition == 0 || args.number("check-all", 0)? == 1 {
                    report.checksum([bytes_of(values.as_slice())])?;
                }
            }
            "read-grid" | "read-boxes" => read_boxes::<T>(args, report)?,
            "write-all" => {
                let mut raw = File::open(args.text("raw")?)?;
                let bytes = usize::try_from(raw.metadata()?.len())?;
                let mut values = zarr_strided::zeroed::<T>(bytes / size_of::<T>())?;
                raw.read_exact(bytes_of_mut(&mut values))?;
                let array = open_array(args, &format!("{}/{repetition}", args.text("out")?))?;
                report.time(|| Ok(array.write(.., &values)?))?;
                report.count = 1;
                report.bytes = bytes_of(&values).len() as u64;
            }
            "write-boxes" => write_boxes::<T>(args, report, repetition)?,
            _ => {
                let source = open_array(args, args.text("path")?)?;
                let target = open_array(args, &format!("{}/{repetition}", args.text("out")?))?;
                report.time(|| {
                    let values: NdVec<T> = source.read(..)?;
                    Ok(target.write(.., &values)?)
                })?;
                report.count = 1;
            }
        }
    }
    Ok(())
}

/// Opens the array, once, and reads one box of it.
fn read_box(args: &Args, report: &mut Report) -> Result<()> {
    let (origin, size) = (args.list("origin")?, args.list("size")?);
    let values = report.time(|| {
        let array = open_array(args, place(args)?)?;
        Ok(array.read_any(selection(&origin, &size, array.shape()))?)
    })?;
    let bytes = match &values {
        AnyArray::UInt16(values) => bytes_of(values.as_slice()),
        AnyArray::Float32(values) => bytes_of(values.as_slice()),
        other => bail!("no bytes of {other:?}"),
    };
    report.count = 1;
    report.bytes = bytes.len() as u64;
    report.checksum([bytes])
}

fn read_boxes<T: Number>(args: &Args, report: &mut Report) -> Result<()> {
    let array = open_array(args, args.text("path")?)?;
    let (seed, n) = (args.number("seed", 1)?, args.number("n", u64::from(args.op == "read-boxes"))?);
    let (size, boxes) = if args.op == "read-grid" {
        let cell = args.list("cell")?;
        let shuffle = (args.optional("order") == Some("shuffled")).then_some(seed);
        let cells = grid_cells(array.shape(), &cell, shuffle, n);
        (cell, cells)
    } else {
        let size = args.list("size")?;
        let boxes = random_boxes(array.shape(), &size, n, seed);
        (size, boxes)
    };
    let parts: Vec<NdVec<T>> = report.time(|| {
        boxes.iter().map(|origin| Ok(array.read(selection(origin, &size, array.shape()))?)).collect()
    })?;
    report.count = parts.len() as u64;
    report.bytes = parts.iter().map(|part| bytes_of(part.as_slice()).len() as u64).sum();
    report.checksum(parts.iter().map(|part| bytes_of(part.as_slice())))
}

fn write_boxes<T: Number>(args: &Args, report: &mut Report, repetition: u64) -> Result<()> {
    let array = open_array(args, &format!("{}/{repetition}", args.text("out")?))?;
    let size = args.list("size")?;
    let boxes = random_boxes(array.shape(), &size, args.number("n", 1)?, args.number("seed", 1)?);
    let elements: u64 = size.iter().product();
    let payload = |i: u64| (0..elements).map(|k| T::small((i * 7919 + k) % 61)).collect::<Vec<T>>();
    let payloads: Vec<Vec<T>> = (0..boxes.len() as u64).map(payload).collect();
    report.time(|| {
        for (origin, values) in boxes.iter().zip(&payloads) {
            array.write(selection(origin, &size, array.shape()), values)?;
        }
        Ok(())
    })?;
    report.count = boxes.len() as u64;
    report.bytes = payloads.iter().map(|p| bytes_of(p).len() as u64).sum();
    Ok(())
}

fn selection(origin: &[u64], size: &[u64], shape: &[u64]) -> Selection {
    origin.iter().zip(size).zip(shape).map(|((o, n), len)| *o..(o + n).min(*len)).collect::<Vec<_>>().into()
}

fn open(args: &Args, report: &mut Report) -> Result<()> {
    let n = args.number("n", 1)?;
    for _ in 0..args.number("reps", 1)? {
        let array = report.time(|| {
            let storage = open_storage(args, place(args)?)?;
            let registry = standard();
            let mut array = None;
            for _ in 0..n {
                array = Some(Array::open(storage.clone(), "/", &registry)?);
            }
            array.context("--n is 0")
        })?;
        report.count = n;
        let shape: Vec<String> = array.shape().iter().map(u64::to_string).collect();
        report.checksum([format!("[{}]", shape.join(",")).as_bytes()])?;
    }
    Ok(())
}

/// The paths of all nodes.
fn list(args: &Args, report: &mut Report) -> Result<()> {
    for _ in 0..args.number("reps", 1)? {
        let nodes: Vec<String> = report.time(|| {
            let storage = open_storage(args, args.text("path")?)?;
            let listed = block_on(storage.list_all(&Default::default()))?;
            let documents = listed.iter().map(|object| &object.key).filter(|key| key.name() == DOCUMENT);
            Ok(documents
                .map(|key| key.as_str().trim_end_matches(DOCUMENT).trim_end_matches('/').to_owned())
                .collect())
        })?;
        sum_up(nodes, report)?;
    }
    Ok(())
}

/// All nodes, or those directly in a group, with their metadata.
fn walk(args: &Args, report: &mut Report) -> Result<()> {
    let consolidated = match args.number("consolidated", 0)? {
        1 => UseConsolidated::Require,
        _ => UseConsolidated::Ignore,
    };
    let all = args.op == "walk";
    for _ in 0..args.number("reps", 1)? {
        let nodes: Vec<Child> = report.time(|| {
            let storage = open_storage(args, place(args)?)?;
            let options = GroupOptions::new().use_consolidated(consolidated);
            let group = Group::open_with(storage, "/", &standard(), &options)?;
            Ok(if all { group.walk().collect() } else { group.children()? })
        })?;
        let line = |node: &Child| {
            let path = node.path();
            Ok(match node.metadata() {
                Some(NodeMeta::Array(array)) => {
                    let shape: Vec<String> = array.shape().iter().map(u64::to_string).collect();
                    let data_type = array.document().data_type().name();
                    format!("{}\tarray\t[{}]\t{data_type}", &path[1..], shape.join(","))
                }
                Some(NodeMeta::Group(_)) => format!("{}\tgroup", &path[1..]),
                None => bail!("{path} is no node"),
            })
        };
        let mut lines = nodes.iter().map(line).collect::<Result<Vec<String>>>()?;
        lines.extend(all.then(|| "\tgroup".to_owned()));
        sum_up(lines, report)?;
    }
    Ok(())
}

fn sum_up(mut lines: Vec<String>, report: &mut Report) -> Result<()> {
    report.count = lines.len() as u64;
    lines.sort_unstable();
    report.checksum([lines.join("\n").as_bytes()])
}

fn open_array(args: &Args, path: &str) -> Result<Array> {
    // With the codecs of format 2, which some workloads use as filters.
    let registry = standard().overriding(zarr_codecs_numcodecs::CODECS);
    Ok(Array::open(open_storage(args, path)?, "/", &registry)?)
}

/// Sets the options that the environment variable `STORE_OPTIONS` names, such as `single-writer,in-place,open-files`.
fn with_options(store: FsStore) -> Result<FsStore> {
    let options = std::env::var("STORE_OPTIONS").unwrap_or_default();
    options.split(',').filter(|option| !option.is_empty()).try_fold(store, |store, option| match option {
        "single-writer" => Ok(store.with_single_writer()),
        "in-place" => Ok(store.with_updates_in_place()),
        "open-files" => Ok(store.with_open_files(64)),
        _ => bail!("no option {option:?}"),
    })
}

/// What is read: a directory, or the prefix of a bucket.
fn place(args: &Args) -> Result<&str> {
    args.text(if args.optional("url").is_some() { "prefix" } else { "path" })
}

fn open_storage(args: &Args, path: &str) -> Result<Storage> {
    let remote = |url: String, access: &Access| {
        Ok(block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(&url, access))?.storage)
    };
    match args.optional("store") {
        Some("s3") => {
            let access = Access::new().anonymous(true).endpoint(args.text("url")?).region("us-east-1");
            return remote(format!("s3://bucket/{path}"), &access);
        }
        Some("http") => return remote(format!("{}/bucket/{path}", args.text("url")?), &Access::new()),
        _ => {}
    }
    let files = Storage::from(with_options(FsStore::open(path)?)?);
    match args.optional("store") {
        None | Some("fs") => Ok(files),
        Some("mem") => {
            let memory = Storage::from(MemoryStore::new());
            block_on(async {
                for Listed { key, .. } in files.list_all(&Default::default()).await? {
                    let value = files.get(&key, u64::MAX).await?.context("a key vanished")?;
                    memory.put(&key, value).await?;
                }
                Ok(memory)
            })
        }
        Some(other) => bail!("no store {other:?}"),
    }
}
