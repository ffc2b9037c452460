//! Appends to datasets that were interrupted while the new lengths of the arrays were stored.

use zarr_array::block_on;
use zarr_hierarchy::blocking::Group;
use zarr_xarray::InterruptedAppend;

use crate::args::target::Target;
use crate::exit::{Failure, say};
use crate::visit::Source;

/// Returns the append that was interrupted in a group.
pub(crate) fn find(group: &Group) -> Result<Option<InterruptedAppend>, Failure> {
    Ok(block_on(InterruptedAppend::find(&group.clone().into_async()))?)
}

/// Returns the append in words: `along "time", 366 → 376, of pr, t2m, time`.
pub(crate) fn shown(append: &InterruptedAppend) -> String {
    let arrays: Vec<&str> = append.arrays().collect();
    format!("along {:?}, {} → {}, of {}", append.dimension(), append.from(), append.to(), arrays.join(", "))
}

/// Finishes the append that was interrupted in the target group, if there is one, with a note: its elements are stored.
pub(crate) fn finish(target: &Target) -> Result<(), Failure> {
    let group = target.group(Source::DOCUMENTS)?;
    if let Some(append) = find(&group).map_err(|e| target.fail(e))? {
        let what = shown(&append);
        block_on(append.finish()).map_err(|e| target.fail(Failure::from(e)))?;
        say(&format!(
            "note: an earlier append was interrupted after its elements were stored, and is finished: {what}"
        ));
    }
    Ok(())
}

/// Undoes the append that was interrupted in the target group. Returns it in words, or `None` if there is none.
pub(crate) fn undo(target: &Target, dry_run: bool) -> Result<Option<String>, Failure> {
    let group = target.group(Source::DOCUMENTS)?;
    let Some(append) = find(&group).map_err(|e| target.fail(e))? else { return Ok(None) };
    let what = shown(&append);
    if !dry_run {
        block_on(append.undo()).map_err(|e| target.fail(Failure::from(e)))?;
    }
    Ok(Some(what))
}
