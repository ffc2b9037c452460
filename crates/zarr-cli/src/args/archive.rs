//! ZIP archives that are named like directories: `a.zip` is the root of a store, `a.zip/path` a node in it.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

/// The first bytes of an archive, and of an empty one.
const MAGIC: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Returns the URL of an archive that exists, or of a node in it. The content of the file decides, not its name.
pub(crate) fn url(given: &Path) -> Option<String> {
    if given.is_dir() {
        return None;
    }
    let file = given.ancestors().find(|path| path.is_file())?;
    let is_archive = is_archive(file);
    let below = given.strip_prefix(file).ok().filter(|_| is_archive)?;
    let name = |component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    let names = below.components().map(name).collect::<Option<Vec<_>>>()?;
    Some(match &names[..] {
        [] => named(file)?,
        names => format!("{}|zarr:{}", named(file)?, names.join("/")),
    })
}

/// Returns the URL of a new archive: nothing has this name, which ends in `.zip`.
pub(crate) fn new_url(given: &Path) -> Option<String> {
    let ends_in_zip = given.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"));
    if ends_in_zip && given.symlink_metadata().is_err() { named(given) } else { None }
}

/// Returns the URL of the archive in a file, unless the name of the file would end at a `|`.
fn named(file: &Path) -> Option<String> {
    file.to_str().filter(|name| !name.contains('|')).map(|name| format!("{name}|zip:"))
}

fn is_archive(file: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && MAGIC.contains(&&start)
}
