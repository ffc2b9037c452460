//! Reads and writes selections as `judge.py` asks. Each line of standard input is a question in JSON, each line of
//! standard output its answer.
//!
//! An array holds 0, 1, 2, … in C order. A read answers its shape and elements; a write puts -1, -2, … in C order of the
//! selection, and answers the whole array.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Axis, DataType, NdVec, Selection, codecs, standard};
use zarr_store::MemoryStore;

#[derive(Deserialize)]
struct Question {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    shards: Option<Vec<u64>>,
    codec: String,
    writes: bool,
    selection: Form,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Axes(Vec<Entry>),
    Points(Vec<Vec<i64>>),
    Mask(Vec<u64>, Vec<bool>),
    Blocks(Vec<Entry>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    /// Start, end and step.
    Range(i64, Option<i64>, i64),
    Index(i64),
    List(Vec<i64>),
    Mask(Vec<bool>),
    Points(Vec<i64>),
}

fn main() -> Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        let answer = answer(question).unwrap_or_else(|e| json!({ "error": format!("{e:#}") }));
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(question: Question) -> Result<Value> {
    let Question { shape, chunks, shards, codec, writes, selection } = question;
    let rank = shape.len() as u64;
    let chain = match codec.as_str() {
        "none" => vec![],
        "zstd" => vec![codecs::zstd(1)],
        "transpose" => vec![codecs::transpose((0..rank).rev()), codecs::big_endian()],
        other => bail!("unknown codec {other:?}"),
    };
    let meta = ArrayMeta::builder(shape.clone(), DataType::Int64).chunks(chunks).codecs(chain);
    let meta = if let Some(shards) = shards { meta.shards(shards) } else { meta };
    let array = Array::create(MemoryStore::new(), "/", meta.build()?, &standard())?;
    let elements = shape.iter().product::<u64>().cast_signed();
    array.write(.., &(0..elements).collect::<Vec<i64>>())?;
    let selection = match selection {
        Form::Axes(axes) => Selection::new(axes.into_iter().map(axis).collect()),
        Form::Points(lists) => Selection::new(lists.into_iter().map(Axis::points).collect()),
        Form::Mask(shape, mask) => Selection::mask(&NdVec::new(shape, mask)?),
        Form::Blocks(axes) => array.blocks(Selection::new(axes.into_iter().map(axis).collect()))?,
    };
    let read: NdVec<i64> = array.read(selection.clone())?;
    if writes {
        let values = (1..=read.as_slice().len() as i64).map(|n| -n).collect();
        array.write(selection, &NdVec::new(read.shape(), values)?)?;
        return Ok(json!({ "array": array.read::<i64>(..)?.as_slice() }));
    }
    Ok(json!({ "shape": read.shape(), "elements": read.as_slice() }))
}

fn axis(entry: Entry) -> Axis {
    match entry {
        Entry::Range(start, Some(end), step) => Axis::step(start..end, step),
        Entry::Range(start, None, step) => Axis::step(start.., step),
        Entry::Index(index) => Axis::from(index),
        Entry::List(list) => Axis::list(list),
        Entry::Mask(mask) => Axis::mask(&mask),
        Entry::Points(list) => Axis::points(list),
    }
}
