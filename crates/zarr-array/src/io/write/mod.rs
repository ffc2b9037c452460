//! Writing: turns elements, bytes and encoded inner chunks into the task that writes them.

mod cells;
mod ranges;
mod values;

use std::sync::{Arc, Mutex};

use zarr_engine::run::run;
use zarr_strided::{Dims, Input, Source, View};
use zarr_traits::{BoxFuture, Bytes, Version, block_on, heap::Heap};

use crate::element::WriteElement;
use crate::element::check::check_element;
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::target::Target;
use crate::select::{Along, Selection};
use crate::values::NdVec;
use cells::Write;

/// The elements to write, and the contents of elements of variable length.
pub(crate) type Ready = (Input, Option<Arc<Heap>>);

/// Turns elements into the input of a write to `places`, which are as many.
pub(crate) fn ready<T: WriteElement>(core: &Core, places: &[Along], values: Vec<T>) -> ArrayResult<Ready> {
    let heap = core.heap(u64::MAX);
    let memory = T::into_memory(values, &core.form(heap.as_deref(), places))?;
    let shape: Dims = places.iter().map(Along::count).collect();
    Ok((Input::sized(memory, core.size, &shape)?, heap))
}

/// Writes owned elements.
pub(crate) async fn write<T: WriteElement>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
    let target = Target::new(core, &selection)?;
    target.check_shape(values.shape()).map_err(|e| core.in_array(e))?;
    let ready = ready(core, &target.places, values.into_vec());
    let (input, heap) = ready.map_err(|e| core.in_array(e))?;
    write_input(core, target, input, heap).await
}

/// Writes borrowed elements. Only a blocking caller can lend them.
pub(crate) fn write_view<T: WriteElement>(
    core: &Arc<Core>,
    selection: &Selection,
    elements: View<'_, T>,
    has_shape: bool,
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
    let target = Target::new(core, selection)?;
    target.check_lent(elements.shape(), has_shape).map_err(|e| core.in_array(e))?;
    let full = target.full.clone();
    let heap = core.heap(u64::MAX);
    if let Some(plain) = T::plain(elements.clone(), &core.data_type)
        && size_of::<T::Memory>() == core.size
    {
        let source = Source::from(plain).reshape(&full)?;
        return Input::lend(source, |input| block_on(write_input(core, target, input, heap)));
    }
    let values = elements.elements();
    let memory = T::as_memory(&values, &core.form(heap.as_deref(), &target.places));
    let memory = memory.map_err(|e| core.in_array(e))?.into_owned();
    let input = Input::sized(memory, core.size, &full)?;
    block_on(write_input(core, target, input, heap))
}

/// Writes elements of any data type, given as bytes in the byte order of this machine.
pub(crate) async fn write_bytes(
    core: &Arc<Core>,
    selection: Selection,
    bytes: impl AsRef<[u8]> + Send + Sync + 'static,
) -> ArrayResult<()> {
    core.check_fixed()?;
    let target = Target::new(core, &selection)?;
    let input = Input::held(bytes, core.size, &target.full).map_err(|e| core.in_array(e))?;
    write_input(core, target, input, None).await
}

/// Writes the fill value to a selection. With a version, it is one of a single chunk.
///
/// # Errors
/// [`Conflict`](crate::ArrayErrorKind::Conflict) if the chunk has another version.
pub(crate) async fn write_fill(
    core: &Arc<Core>,
    selection: Selection,
    version: Option<Version>,
) -> ArrayResult<()> {
    let target = Target::new(core, &selection)?;
    let input = Input::repeat(core.fill_element.bytes().to_vec(), &target.full)?;
    write_task(core, target, input, None, core.heap(u64::MAX), version).await
}

/// Writes one encoded inner chunk. The selection is its part inside the array.
pub(crate) async fn write_encoded(
    core: &Arc<Core>,
    selection: &Selection,
    encoded: Bytes,
) -> ArrayResult<()> {
    let target = Target::new(core, selection)?;
    let input = Input::repeat(core.fill_element.bytes().to_vec(), &target.full)?;
    write_task(core, target, input, Some(encoded), None, None).await
}

pub(crate) fn write_input(
    core: &Arc<Core>,
    target: Target,
    input: Input,
    heap: Option<Arc<Heap>>,
) -> BoxFuture<'_, ArrayResult<()>> {
    write_task(core, target, input, None, heap, None)
}

/// Writes the elements of `input` or an encoded inner chunk. A wall (decision 0026).
fn write_task(
    core: &Arc<Core>,
    target: Target,
    input: Input,
    encoded: Option<Bytes>,
    heap: Option<Arc<Heap>>,
    version: Option<Version>,
) -> BoxFuture<'_, ArrayResult<()>> {
    Box::pin(async move {
        core.chain.check_writable().map_err(|e| core.in_array(e))?;
        let place = core.place();
        let input = match target.orders.are_same() {
            true => input,
            false => target.orders.apply(&input, &target.plan.shape(), core.size)?,
        };
        let (of, plan) = (core.clone(), target.plan);
        let write = Write { core: of, plan, input, encoded, heap, version, taken: Mutex::default() };
        run(&Arc::new(write), &place).await.map_err(|e| core.in_array(e))
    })
}
