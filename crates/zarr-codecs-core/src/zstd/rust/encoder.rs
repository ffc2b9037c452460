//! The encoder of `zrip`.

use std::ops::RangeInclusive;

use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};
use zrip::CompressContext;

use super::super::Zstd;

/// The levels of the encoder. Higher ones are written as the last.
const LEVELS: RangeInclusive<i32> = -7..=4;
/// The default of the C library, which level 0 stands for.
const DEFAULT_LEVEL: i32 = 3;

/// The encoder of a worker.
#[derive(Default)]
struct Encoder(Option<CompressContext>);

/// Appends one frame to `out`, with its content size. `out` has room for `bound` more bytes.
pub(in super::super) fn encode(
    codec: &Zstd,
    src: &[u8],
    out: &mut Vec<u8>,
    _bound: usize,
    scratch: &mut Scratch,
) -> CodecResult<()> {
    let level = if codec.level == 0 { DEFAULT_LEVEL } else { codec.level };
    let level = level.clamp(*LEVELS.start(), *LEVELS.end());
    let refused =
        |e| CodecError::new(CodecErrorKind::InvalidArgument, "zrip cannot encode this").with_source(e);
    let encoder = &mut scratch.slot::<Encoder>().0;
    let context = match encoder {
        Some(context) => context,
        none => none.insert(CompressContext::new(level).map_err(refused)?),
    };
    context.set_level(level).map_err(refused)?;
    context.set_content_checksum(codec.checksum);
    out.extend_from_slice(&context.compress(src).map_err(refused)?);
    Ok(())
}
