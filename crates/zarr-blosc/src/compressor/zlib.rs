//! zlib streams.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// A decoder, and an encoder per level.
#[derive(Debug, Default)]
pub(crate) struct Zlib {
    decoder: Option<Decompress>,
    encoders: [Option<Compress>; 10],
}

impl Zlib {
    pub(crate) fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let decoder = self.decoder.get_or_insert_with(|| Decompress::new(true));
        decoder.reset(true);
        let status = decoder.decompress(src, dst, FlushDecompress::Finish).ok()?;
        (status == Status::StreamEnd).then_some(())?;
        usize::try_from(decoder.total_out()).ok()
    }

    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        let kept = self.encoders.get_mut(usize::from(level))?;
        // zlib-rs does not completely reset the state of an unfinished stream, so do not keep it.
        let mut encoder = kept.take().unwrap_or_else(|| Compress::new(Compression::new(level.into()), true));
        encoder.reset();
        let status = encoder.compress(src, dst, FlushCompress::Finish).ok()?;
        (status == Status::StreamEnd).then_some(())?;
        let made = usize::try_from(encoder.total_out()).ok();
        *kept = Some(encoder);
        made
    }
}
