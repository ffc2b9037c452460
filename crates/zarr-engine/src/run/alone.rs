//! Small work on a local store: the task of the caller does one cell after the other.

use super::Run;
use super::attempt::attempt;
use super::cells::Cells;
use super::scratches::Scratches;

pub(super) async fn alone<C: Cells>(run: Run<'_, C>) -> Result<(), C::Error> {
    let scratches = &Scratches::of(&run.place.storage);
    let (is_large, run) = (run.is_large(), &run);
    for number in 0..run.sizes.cells {
        run.place.check()?;
        let once = || async move {
            let _permit = if is_large { Some(run.enter().await) } else { None };
            let mut scratch = scratches.take();
            let stored = attempt(&mut Some(run.cells.cell(number)), &mut scratch, None).await;
            scratches.give(scratch);
            stored
        };
        run.persist(number, once).await?;
    }
    Ok(())
}
