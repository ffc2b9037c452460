//! `zarr checksum`: digests of elements, or of stored objects, and their verification.

mod data;
mod join;
mod manifest;
mod objects;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::progress::Progress;
use crate::out::stdout::Stdout;
use manifest::{Kind, Manifest};

/// Print a digest of each node, or verify digests that were printed before.
///
/// The digest of an array depends on its data type, shape and elements, and not on format, chunks, codecs or store. With
/// `--stored` there is a line for each object with the SHA-256 of its bytes, which `sha256sum -c` can check in a
/// directory. With `--verify` all differences are listed, also if nodes cannot be read; exits with 1 if anything differs, and
/// with 5 if a chunk is corrupt.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Print the SHA-256 of each object in place of digests of elements.
    #[arg(long, conflicts_with = "attributes")]
    stored: bool,
    /// Include attributes and the names of dimensions in the digests.
    #[arg(long)]
    attributes: bool,
    /// Compare with the lines in this file, which says what kind of digests they are, and list the differences.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stored", "attributes"])]
    verify: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr checksum weather.zarr > weather.sums
  zarr checksum --verify weather.sums s3://bucket/copy.zarr
  zarr checksum --stored weather.zarr > objects.sums
  cd weather.zarr && sha256sum -c ../objects.sums";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("checksum", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let wanted = args.verify.as_deref().map(Manifest::read).transpose()?;
    let target = Target::find(&args.store, stores)?;
    let kind = match (&wanted, args.stored, args.attributes) {
        (Some(wanted), ..) => wanted.kind,
        (None, true, _) => Kind::Objects,
        (None, false, true) => Kind::DataAndAttributes,
        (None, false, false) => Kind::Data,
    };
    let mut out = Stdout::new();
    let prints_lines = wanted.is_none() && !args.json;
    let mut found = Manifest::new(kind);
    let progress = Progress::objects();
    // What cannot be read is a difference, and hides no other one.
    let mut unreadable: BTreeMap<String, Exit> = BTreeMap::new();
    let verifies = wanted.is_some();
    let mut add = |name: String, digest: Result<String, Failure>| -> Result<(), Failure> {
        let digest = match digest {
            Ok(digest) => digest,
            Err(e) if verifies && e.exit() != Exit::Ok => {
                say(e.message());
                unreadable.insert(name, e.exit());
                return Ok(());
            }
            Err(e) => return Err(e),
        };
        if prints_lines {
            out.write(kind.line(&name, &digest).as_bytes())?;
            return out.flush();
        }
        found.lines.insert(name, digest);
        Ok(())
    };
    match kind {
        Kind::Objects => objects::each(&target, &progress, &mut |name, digest| add(name, Ok(digest)))?,
        Kind::Data | Kind::DataAndAttributes => {
            data::each(&target, kind == Kind::DataAndAttributes, &progress, &mut add)?;
        }
    }
    drop(progress);
    let Some(wanted) = wanted else {
        if args.json {
            out.write(args.more.json(&found.to_json()).as_bytes())?;
            out.flush()?;
        }
        return Ok(Exit::Ok);
    };
    let differences = wanted.differences(&found, &unreadable);
    let text = match args.json {
        true => args.more.json(&differences.to_json(kind)),
        false => differences.to_text(kind, wanted.lines.len()),
    };
    out.write(text.as_bytes())?;
    out.flush()?;
    let exit = if differences.is_empty() { Exit::Ok } else { Exit::Invalid };
    Ok(unreadable.into_values().next().unwrap_or(exit))
}
