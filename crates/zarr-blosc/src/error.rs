//! Why a frame cannot be read or written.

use std::borrow::Cow;
use std::fmt;

/// Why a frame cannot be read or written.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
}

/// The kinds of [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The frame is damaged, or it is no frame.
    Corrupt,
    /// The frame is of Blosc 2, or this build does not contain its compressor.
    Unsupported,
    /// The destination has not the length of the content.
    TooLarge,
    /// The content exceeds [`MAX_CONTENT`](crate::MAX_CONTENT), or there is no memory for it.
    LimitExceeded,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// The kind of this error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub(crate) fn too_large(len: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("the frame has {len} bytes, more than the destination"))
}

/// Returns the first `len` bytes of `memory`, which grows if it is shorter.
pub(crate) fn room(memory: &mut Vec<u8>, len: usize) -> Result<&mut [u8], Error> {
    if memory.len() < len {
        reserve(memory, len - memory.len())?;
        memory.resize(len, 0);
    }
    Ok(&mut memory[..len])
}

/// Reserves room for `n` more bytes; fails instead of aborting.
pub(crate) fn reserve(memory: &mut Vec<u8>, n: usize) -> Result<(), Error> {
    memory
        .try_reserve(n)
        .map_err(|_| Error::new(ErrorKind::LimitExceeded, format!("no memory for {n} bytes")))
}
