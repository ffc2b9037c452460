//! A server that misbehaves on purpose, for tests of implementations in any language. It serves the files of a folder from
//! its memory, on this machine only.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use zarr_conformance::server::{MODES, Server};

/// Serves the files of a folder, and misbehaves: each of its modes has a path (or a bucket) of its own, for example
/// `http://127.0.0.1:8000/short/…`. Ends with its standard input.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The folder, such as a directory with a Zarr store
    folder: PathBuf,
    /// The port on 127.0.0.1; 0 for a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Speak the protocol of S3; the names of the modes are buckets
    #[arg(long)]
    s3: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hostile-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> io::Result<()> {
    let server = Server::at_port(args.port, args.s3)?;
    let mut files = Vec::new();
    collect(&args.folder, &args.folder, &mut files)?;
    for mode in MODES {
        for (name, bytes) in &files {
            server.insert(&format!("/{}/{name}", mode.name), bytes.clone());
        }
        for (when, fault) in mode.script(&server.url("")) {
            server.script(when, fault);
        }
        let reading = if mode.can_be_read { "can be read" } else { "an error" };
        println!("{:48} {reading:12} {}", server.url(&format!("/{}", mode.name)), mode.about);
    }
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Reads the files below a folder: their names with slashes, and their bytes.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push((name, fs::read(&path)?));
        }
    }
    Ok(())
}
