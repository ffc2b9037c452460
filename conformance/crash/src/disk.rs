//! Disks of this test: a file system in memory or in a file, mounted in a temporary folder. They need root.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use tempfile::TempDir;

/// A mounted file system, which is unmounted on drop.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: TempDir,
    /// The file of an ext4 disk, and the options to mount it.
    image: Option<(PathBuf, &'static str)>,
}

impl Disk {
    /// Mounts a file system of this size in memory, or returns why it cannot.
    pub(crate) fn in_memory(bytes: u64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("disk");
        std::fs::create_dir(&place)?;
        call(
            "mount",
            ["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"].map(OsStr::new),
            Some(&place),
        )?;
        Ok(Self { folder, image: None })
    }

    /// Makes an ext4 disk of 64 MiB in a file and mounts it.
    pub(crate) fn ext4(options: &'static str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (place, image) = (folder.path().join("disk"), folder.path().join("image"));
        std::fs::create_dir(&place)?;
        std::fs::File::create(&image)?.set_len(64 << 20)?;
        call("mkfs.ext4", ["-q", "-F"].map(OsStr::new), Some(&image))?;
        let mut disk = Self { folder, image: None };
        disk.mount(&image, options)?;
        disk.image = Some((image, options));
        Ok(disk)
    }

    fn mount(&self, image: &Path, options: &str) -> Result<()> {
        call("mount", [OsStr::new("-o"), OsStr::new(options), image.as_os_str()], Some(&self.path()))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// Cuts the power, and mounts the disk again.
    pub(crate) fn cut_power(&self) -> Result<()> {
        self.stop()?;
        self.start()
    }

    /// Stops the file system at once, as a power cut does: what it has not written is lost.
    pub(crate) fn stop(&self) -> Result<()> {
        // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH. Python, because an ioctl in Rust is unsafe code.
        let script = "import fcntl, os, struct, sys\n\
                      fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))";
        call("python3", [OsStr::new("-c"), OsStr::new(script)], Some(&self.path()))
    }

    /// Mounts the disk again. No program may use it.
    pub(crate) fn start(&self) -> Result<()> {
        let Some((image, options)) = &self.image else { bail!("a disk in memory has no power of its own") };
        call("umount", [], Some(&self.path()))?;
        self.mount(image, options)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = call("umount", [], Some(&self.path()));
    }
}

fn call<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>, last: Option<&Path>) -> Result<()> {
    let done = Command::new(program).args(words).args(last).stdin(Stdio::null()).output()?;
    if !done.status.success() {
        bail!("{program} failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}
