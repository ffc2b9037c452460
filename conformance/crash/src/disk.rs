//! Disks of this test: a file system in memory or in a file, mounted in a temporary folder. They need root.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use tempfile::TempDir;

/// How often a busy disk is unmounted, and the pause between two attempts.
const ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A file system on a disk whose power can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystem {
    /// ext4 as usual
    Ext4,
    /// ext4 without its care for programs that do not synchronise
    #[value(name = "ext4-noauto")]
    Ext4NoAuto,
    /// XFS as usual
    Xfs,
}

impl FileSystem {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Ext4NoAuto => "ext4 with noauto_da_alloc",
            Self::Xfs => "XFS",
        }
    }

    /// The program that makes it, and the least size of a disk that it takes, in bytes.
    fn maker(self) -> ([&'static str; 3], u64) {
        match self {
            Self::Ext4 | Self::Ext4NoAuto => (["mkfs.ext4", "-q", "-F"], 64 << 20),
            Self::Xfs => (["mkfs.xfs", "-q", "-f"], 320 << 20),
        }
    }

    /// The options to mount it.
    fn options(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Xfs => "loop",
            Self::Ext4NoAuto => "loop,noauto_da_alloc",
        }
    }
}

/// A mounted file system, which is unmounted on drop.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: TempDir,
    /// `None` for a disk in memory.
    system: Option<FileSystem>,
}

impl Disk {
    /// Mounts a file system of this size in memory, or returns why it cannot.
    pub(crate) fn in_memory(bytes: u64) -> Result<Self> {
        let disk = Self::unmounted(None)?;
        let options = format!("size={bytes}");
        call("mount", ["-t", "tmpfs", "-o", &options, "tmpfs"].map(OsStr::new), Some(&disk.path()))?;
        Ok(disk)
    }

    /// Makes a disk in a file and mounts it, or returns why it cannot.
    pub(crate) fn new(system: FileSystem) -> Result<Self> {
        let disk = Self::unmounted(Some(system))?;
        let ([maker, quiet, force], size) = system.maker();
        std::fs::File::create(disk.image())?.set_len(size)?;
        call(maker, [quiet, force].map(OsStr::new), Some(&disk.image()))?;
        disk.mount(system)?;
        Ok(disk)
    }

    fn unmounted(system: Option<FileSystem>) -> Result<Self> {
        let disk = Self { folder: tempfile::tempdir()?, system };
        std::fs::create_dir(disk.path())?;
        Ok(disk)
    }

    fn mount(&self, system: FileSystem) -> Result<()> {
        let options = ["-o", system.options()].map(OsStr::new);
        call("mount", [&options[..], &[self.image().as_os_str()]].concat(), Some(&self.path()))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// The file of a disk that is not in memory.
    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// Cuts the power, and mounts the disk again.
    pub(crate) fn cut_power(&self) -> Result<()> {
        self.stop()?;
        self.start()
    }

    /// Stops the file system at once, as a power cut does: what it has not written is lost.
    pub(crate) fn stop(&self) -> Result<()> {
        // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH; XFS has the same number and flag. Python, because an ioctl in
        // Rust is unsafe code.
        let script = "import fcntl, os, struct, sys\n\
                      fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))";
        call("python3", [OsStr::new("-c"), OsStr::new(script)], Some(&self.path()))
    }

    /// Mounts the disk again. No program may use it.
    pub(crate) fn start(&self) -> Result<()> {
        let Some(system) = self.system else { bail!("a disk in memory has no power of its own") };
        self.unmount()?;
        self.mount(system)
    }

    /// Unmounts the disk, if it is mounted. The kernel may still be busy with files of a program that has just ended, so
    /// it is tried for some seconds.
    fn unmount(&self) -> Result<()> {
        let path = self.path();
        for _ in 0..ATTEMPTS {
            if !is_mounted(&path) || call("umount", [], Some(&path)).is_ok() {
                return Ok(());
            }
            sleep(PAUSE);
        }
        call("umount", [], Some(&path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Err(error) = self.unmount() {
            eprintln!("{} stays mounted: {error:#}", self.path().display());
        }
    }
}

/// Whether something is mounted at a folder: it is on another device than the folder above.
fn is_mounted(folder: &Path) -> bool {
    let device = |folder: &Path| folder.metadata().map(|of| of.dev()).ok();
    // XFS answers no question about a folder any more once it has been stopped.
    device(folder).is_none_or(|own| folder.parent().and_then(device) != Some(own))
}

fn call<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>, last: Option<&Path>) -> Result<()> {
    let mut command = Command::new(program);
    let done = command.args(words).args(last).stdin(Stdio::null()).output();
    let done = done.with_context(|| format!("{program} cannot be started"))?;
    if !done.status.success() {
        bail!("{program} failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_busy_disk_is_unmounted_once_it_is_free() {
        // Only root can mount.
        let Ok(disk) = Disk::in_memory(1 << 20) else { return };
        let path = disk.path();
        assert!(is_mounted(&path));
        let file = std::fs::File::create(path.join("busy")).unwrap();
        assert!(call("umount", [], Some(&path)).is_err());
        let user = thread::spawn(move || {
            sleep(3 * PAUSE);
            drop(file);
        });
        drop(disk);
        user.join().unwrap();
        assert!(!path.exists());
    }
}
