//! Verbs that replace a document of a store. After a power cut the store must be as before the verb or as after it: what a
//! document describes was written long ago.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail, ensure};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, Storage, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::{Durability, FsStore};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Verb {
    /// Sets an attribute of an array.
    Attrs,
    /// Makes an array longer.
    Resize,
    /// Adds an array to the consolidated metadata of its group.
    Consolidate,
}

/// The array of a store, and its lengths before and after a resize.
const ARRAY: &str = "array";
const LENGTHS: [u64; 2] = [8, 12];

impl Verb {
    pub(crate) const ALL: [Self; 3] = [Self::Attrs, Self::Resize, Self::Consolidate];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Attrs => "attrs",
            Self::Resize => "resize",
            Self::Consolidate => "consolidate",
        }
    }

    /// Replaces the document with the command.
    pub(crate) fn by_command(self, store: &Path) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["command", self.name()]).stdin(Stdio::null());
        let array = store.join(ARRAY);
        match self {
            Self::Attrs => command.arg("set").arg(array).args(["units", "K"]),
            Self::Resize => command.arg(array).arg(LENGTHS[1].to_string()),
            Self::Consolidate => command.arg(store),
        };
        let done = command.output()?;
        if !done.status.success() {
            bail!("the command failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(())
    }

    /// Replaces the document in the same way, but it need not be on the disk before.
    pub(crate) fn by_library(self, store: &Path) -> Result<()> {
        let storage = open(store, Durability::Deferred)?;
        let array = || Array::open(storage.clone(), &format!("/{ARRAY}"), &standard());
        match self {
            Self::Attrs => array()?.edit_attributes(|attributes| attributes.set("units", "K"))?,
            Self::Resize => array()?.resize([LENGTHS[1]])?,
            Self::Consolidate => drop(Group::open(storage.clone(), "/", &standard())?.consolidate()?),
        }
        Ok(())
    }

    /// Returns whether the store is as after the verb.
    fn is_done(self, store: &Path) -> Result<bool> {
        let storage = open(store, Durability::Atomic)?;
        let group = Group::open(storage.clone(), "/", &standard())?;
        let array = Array::open(storage, &format!("/{ARRAY}"), &standard())?;
        let elements = array.read::<u64>(..LENGTHS[0])?;
        ensure!(elements.as_slice().iter().all(|element| *element == 1), "the elements are {elements:?}");
        Ok(match self {
            Self::Attrs => array.attributes().get("units").is_some(),
            Self::Resize => array.shape() == [LENGTHS[1]],
            Self::Consolidate => group.check_consolidated()?.is_some(),
        })
    }
}

/// Makes a store, on the disk.
pub(crate) fn prepare(store: &Path) -> Result<()> {
    std::fs::create_dir_all(store)?;
    let storage = open(store, Durability::Durable)?;
    Group::create(storage.clone(), "/", &standard())?;
    let meta = ArrayMeta::builder([LENGTHS[0]], DataType::UInt64).chunks([4]).build()?;
    let array = Array::create(storage.clone(), &format!("/{ARRAY}"), meta, &standard())?;
    array.write(.., &vec![1_u64; usize::try_from(LENGTHS[0])?])?;
    zarr_array::block_on(storage.sync())?;
    Ok(())
}

fn open(store: &Path, durability: Durability) -> Result<Storage> {
    Ok(FsStore::open(store)?.with_durability(durability).into())
}

/// What became of the documents on the disks of one file system.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cuts: u64,
    old: u64,
    new: u64,
    lost: Vec<String>,
}

impl Tally {
    /// Looks at the stores of a disk.
    pub(crate) fn judge(&mut self, stores: &[(Verb, PathBuf)]) {
        self.cuts += 1;
        for (verb, store) in stores {
            match verb.is_done(store) {
                Ok(true) => self.new += 1,
                Ok(false) => self.old += 1,
                Err(error) => self.lost.push(format!("{}: {error:#}", verb.name())),
            }
        }
    }

    pub(crate) fn lost(&self) -> usize {
        self.lost.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cuts, old, new, lost } = self;
        write!(f, "{cuts} cuts: {old} old documents, {new} new ones, {} lost", lost.len())?;
        lost.iter().take(3).try_for_each(|why| write!(f, "\n  {why}"))
    }
}
