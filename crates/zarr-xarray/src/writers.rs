//! Whether writers of the pieces of one dimension share a chunk.

/// Whether several writers can write pieces of one dimension at once without sharing a chunk.
///
/// The array has `length` elements in chunks of `chunk`. The pieces have the lengths `pieces`, follow each other, and begin
/// at `start`. With `whole_borders` the first and the last piece must not write a part of a chunk either, unless the array
/// ends there: that is the rule of xarray for regions in mode `r+`.
///
/// Writes of this crate to a part of a chunk are safe, whoever else writes. So this is advice on speed.
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

/// Where each piece ends; `None` when one ends beyond the range.
fn ends(pieces: &[u64], start: u64) -> Option<Vec<u64>> {
    let end = |at: &mut u64, piece: &u64| {
        let end = at.checked_add(*piece);
        *at = end.unwrap_or(*at);
        Some(end)
    };
    pieces.iter().scan(start, end).collect()
}
