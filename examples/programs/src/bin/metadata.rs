//! Lists the nodes in a directory and their deviations from the specification. Only reads metadata, so it needs no
//! codec, no store and no array.

use std::path::Path;

use anyhow::{Context as _, Result};
use zarr_meta::{DATA_TYPES, Documents, Limits, NodeMeta, Registry};

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("usage: metadata FOLDER")?;
    let registry = Registry::core().with(DATA_TYPES)?;
    visit(Path::new(&folder), "/", &registry)
}

fn visit(folder: &Path, path: &str, registry: &Registry) -> Result<()> {
    let mut documents = Documents::new();
    for name in Documents::steps(None).concat() {
        if let Ok(bytes) = std::fs::read(folder.join(name.as_str())) {
            documents.insert(name, bytes);
        }
    }
    let mut notes = Vec::new();
    match NodeMeta::parse(&documents, &Limits::default(), &mut notes) {
        Ok(None) => {}
        Ok(Some(NodeMeta::Group(_))) => println!("{path} group"),
        Ok(Some(NodeMeta::Array(array))) => {
            let document = array.document();
            let codecs: Vec<_> = document.codecs().iter().map(|codec| codec.name()).collect();
            println!("{path} {} {:?} {}", document.data_type().name(), document.shape(), codecs.join(" > "));
            match array.chunk_grid(registry, &Limits::default()) {
                Ok(grid) => {
                    let counts = (0..).zip(document.shape()).map(|(dim, length)| grid.count(dim, *length));
                    println!("  {} chunks", counts.product::<u64>());
                }
                Err(error) => println!("  {error:#}"),
            }
        }
        Err(error) => println!("{path} broken: {error:#}"),
    }
    notes.iter().for_each(|note| println!("  note: {note}"));
    let mut below: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    below.sort_by_key(std::fs::DirEntry::file_name);
    for entry in below {
        let name = entry.file_name();
        if entry.file_type()?.is_dir() && name != "c" {
            visit(&entry.path(), &format!("{path}{}/", name.display()), registry)?;
        }
    }
    Ok(())
}
