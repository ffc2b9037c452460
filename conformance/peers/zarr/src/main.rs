//! The adapter of this project. It reads with the `zarr` command in the same folder, as users do, and writes with the
//! crates.

use std::env;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use zarr_array::blocking::Array;
use zarr_array::meta::Ignore;
use zarr_array::{ArrayMeta, DataType, Limits};
use zarr_store_fs::FsStore;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(done) => done,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode> {
    match *arguments {
        ["info", node] => command(&["info", "--json", node]),
        ["read", node] => command(&["cat", "--format", "raw", node]),
        ["read", "--json", node] => command(&["cat", "--stored", "--format", "json", node]),
        ["list", store] => list(store),
        ["write", node, metadata] => write(node, metadata, false),
        ["write", "--json", node, metadata] => write(node, metadata, true),
        _ => bail!("unknown request: {arguments:?}"),
    }
}

/// Returns the path of the command from the same build.
fn zarr() -> Result<PathBuf> {
    let here = env::current_exe()?;
    Ok(here.with_file_name(format!("zarr{}", env::consts::EXE_SUFFIX)))
}

/// Runs the command. Every refusal has the same exit code, because the protocol has no kinds of errors.
fn command(arguments: &[&str]) -> Result<ExitCode> {
    let zarr = zarr()?;
    let status = Command::new(&zarr).args(arguments).status().with_context(|| zarr.display().to_string())?;
    match status.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        Some(1 | 3..=6 | 11) => Ok(ExitCode::FAILURE),
        _ => bail!("panicked at: {status}"),
    }
}

/// Lists the nodes that `tree` shows. `tree` prints paths in the enclosing hierarchy, if there is one.
fn list(store: &str) -> Result<ExitCode> {
    let shown = Command::new(zarr()?).args(["tree", "--json", store]).stderr(Stdio::inherit()).output()?;
    if !shown.status.success() {
        bail!("no tree: {}", shown.status);
    }
    let tree: Value = serde_json::from_slice(&shown.stdout)?;
    let root = tree["nodes"][0]["path"].as_str().context("no nodes")?.trim_matches('/');
    let node = |node: &Value| {
        let below = node["path"].as_str()?.trim_start_matches('/').strip_prefix(root)?;
        Some((format!("/{}", below.trim_start_matches('/')), node["node_type"].clone()))
    };
    let nodes: Map<_, _> = tree["nodes"].as_array().into_iter().flatten().filter_map(node).collect();
    println!("{}", Value::from(nodes));
    Ok(ExitCode::SUCCESS)
}

/// Creates an array and fills it.
fn write(node: &str, metadata: &str, json: bool) -> Result<ExitCode> {
    let limits = Limits::default();
    let document = fs::read(metadata).with_context(|| metadata.to_owned())?;
    let is_old = Path::new(metadata).file_name().is_some_and(|name| name == ".zarray");
    let meta = match is_old {
        true => ArrayMeta::parse_v2(&document, None, &limits, &mut Ignore)?,
        false => ArrayMeta::parse(&document, &limits, &mut Ignore)?,
    };
    let mut elements = Vec::new();
    io::stdin().read_to_end(&mut elements)?;
    let registry = zarr_array::standard().overriding(zarr_codecs_numcodecs::CODECS);
    let array = Array::create(FsStore::create(node)?, "/", meta, &registry)?;
    if !json {
        array.write_bytes(.., elements)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut values = Vec::new();
    flatten(serde_json::from_slice(&elements)?, array.shape().len(), &mut values);
    match array.data_type() {
        DataType::String => array.write(.., &texts(&values)?)?,
        DataType::Bytes => {
            let decoded = texts(&values)?.into_iter().map(|text| BASE64_STANDARD.decode(text));
            array.write(.., &decoded.collect::<Result<Vec<_>, _>>()?)?;
        }
        other => {
            let _ = writeln!(io::stderr(), "this adapter cannot write elements of type {other} from JSON");
            return Ok(ExitCode::from(89));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Appends the elements of nested lists of this depth.
fn flatten(value: Value, depth: usize, into: &mut Vec<Value>) {
    match value {
        Value::Array(items) if depth > 0 => items.into_iter().for_each(|item| flatten(item, depth - 1, into)),
        value => into.push(value),
    }
}

fn texts(values: &[Value]) -> Result<Vec<String>> {
    let text =
        |value: &Value| value.as_str().map(str::to_owned).with_context(|| format!("{value} is not a string"));
    values.iter().map(text).collect()
}
