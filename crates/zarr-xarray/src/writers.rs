//! Checks whether parallel writers of one dimension share a chunk.

/// Whether several writers can write pieces of one dimension at the same time without sharing a chunk.
///
/// The dimension has `length` elements in chunks of `chunk`. The pieces have the lengths `pieces`, follow each other,
/// and begin at `start`. With `whole_borders` the first and the last piece must consist of whole chunks too, except at
/// the end of the array. This is xarray's rule for regions in mode `r+`.
///
/// Writing parts of the same chunk is safe, but slower.
pub fn writers_are_apart(length: u64, chunk: u64, pieces: &[u64], start: u64, whole_borders: bool) -> bool {
    let Some(ends) = ends(pieces, start) else { return false };
    let is_border = |at: u64| chunk != 0 && at.is_multiple_of(chunk);
    let (Some(last), inner) = (ends.last().copied(), ends.split_last().map_or(&[][..], |(_, inner)| inner))
    else {
        return true;
    };
    let is_whole = |at: u64| is_border(at) || at == length;
    inner.iter().all(|end| is_border(*end)) && (!whole_borders || is_border(start) && is_whole(last))
}

/// Returns the end of each piece, or `None` if an end overflows.
fn ends(pieces: &[u64], start: u64) -> Option<Vec<u64>> {
    let end = |at: &mut u64, piece: &u64| {
        let end = at.checked_add(*piece);
        *at = end.unwrap_or(*at);
        Some(end)
    };
    pieces.iter().scan(start, end).collect()
}
