//! Writes PNG files of 8 bits a channel, without filters and interlacing.
//!
//! Spec: [PNG](https://www.w3.org/TR/png-3/). A library would bring a second implementation of DEFLATE.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The channels of a pixel; the number is the colour type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channels {
    Gray = 0,
    Rgb = 2,
    GrayAlpha = 4,
    Rgba = 6,
}

impl Channels {
    fn count(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// A picture whose pixels are written row by row.
#[derive(Debug)]
pub(super) struct Png<W: Write> {
    pixels: ZlibEncoder<Data<W>>,
    /// The number of bytes of a row, and how many of them are written.
    row: usize,
    at: usize,
}

impl<W: Write> Png<W> {
    /// Writes the header. The sides are at least 1, and at most 2^30.
    pub(super) fn new(mut out: W, width: u32, height: u32, channels: Channels) -> io::Result<Self> {
        out.write_all(b"\x89PNG\r\n\x1a\n")?;
        let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
        chunk(&mut out, *b"IHDR", &[&sides[..], &[8, channels as u8, 0, 0, 0]].concat())?;
        let row = usize::try_from(width).unwrap_or(usize::MAX).saturating_mul(channels.count());
        Ok(Self { pixels: ZlibEncoder::new(Data(out), Compression::default()), row, at: 0 })
    }

    /// Writes the next bytes of pixels, in any number.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.at == 0 {
                // The row has no filter.
                self.pixels.write_all(&[0])?;
            }
            let (now, rest) = bytes.split_at((self.row - self.at).min(bytes.len()));
            self.pixels.write_all(now)?;
            self.at = (self.at + now.len()) % self.row;
            bytes = rest;
        }
        Ok(())
    }

    /// Writes the end, after all pixels.
    pub(super) fn finish(self) -> io::Result<()> {
        let Data(mut out) = self.pixels.finish()?;
        chunk(&mut out, *b"IEND", &[])
    }
}

/// Writes compressed pixels, a chunk for each piece.
#[derive(Debug)]
struct Data<W>(W);

impl<W: Write> Write for Data<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        chunk(&mut self.0, *b"IDAT", bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn chunk(out: &mut impl Write, name: [u8; 4], bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&name);
    checksum.update(bytes);
    out.write_all(&[length.to_be_bytes(), name].concat())?;
    out.write_all(bytes)?;
    out.write_all(&checksum.finalize().to_be_bytes())
}
