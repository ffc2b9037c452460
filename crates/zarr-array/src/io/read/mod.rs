//! Reading: one read for ranges, lists and several selections, with or without a cache of decoded chunks.

mod cells;
mod direct;
mod reader;
mod run;
mod runs;
mod sink;
mod sizes;

use std::sync::Arc;

use zarr_engine::run::run;
use zarr_strided::{Destination, Dims, Output, Plain, ViewMut, bytes_of_mut};
use zarr_traits::{BoxFuture, block_on, heap::Heap};

use crate::element::Element;
use crate::element::check::{check_element, fresh};
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::fetch::strange;
use crate::io::target::Target;
use crate::plan::Plan;
use crate::plan::one_or_many::OneOrMany;
use crate::plan::order::Orders;
use crate::select::Selection;
use crate::values::NdVec;
use cells::Read;
use run::Run;

/// A selection of a read: its plan, the order of its elements, and its shape.
pub(crate) type Selected = (Plan, Orders, Dims);

/// Reads into new memory.
pub(crate) async fn read<T: Element>(core: &Arc<Core>, selection: Selection) -> ArrayResult<NdVec<T>> {
    check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
    let Target { plan, orders, full, places, kept } = Target::new(core, &selection)?;
    let (memory, heap) = read_memory(core, plan, &orders, &full).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &places));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| core.in_array(e))
}

/// Reads the elements of a selection of shape `full` as memory, without converting them, and the heap of their
/// contents.
pub(crate) async fn read_memory<M: Plain>(
    core: &Arc<Core>,
    plan: Plan,
    orders: &Orders,
    full: &[u64],
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    let fresh =
        |shape: &[u64]| fresh::<M>(shape, core.size, core.limits.result_bytes).map_err(|e| core.in_array(e));
    // Fails before anything is read if the result exceeds the limits.
    let mut ordered = if orders.are_same() { Vec::new() } else { fresh(full)? };
    let shape = plan.shape();
    let (memory, heap) = fill_owned(core, plan, fresh(&shape)?, &shape, true).await?;
    if orders.are_same() {
        return Ok((memory, heap));
    }
    orders.reorder(&memory, &shape, &mut ordered, core.size)?;
    Ok((ordered, heap))
}

/// Reads several selections as memory, as [`read_memory`], each chunk once. The limit of a result holds for all together.
pub(crate) async fn read_memories<M: Plain>(
    core: &Arc<Core>,
    selected: Vec<Selected>,
) -> ArrayResult<(Vec<Vec<M>>, Option<Arc<Heap>>)> {
    let mut left = core.limits.result_bytes;
    let mut fresh = |shape: &[u64]| {
        let memory = fresh::<M>(shape, core.size, left);
        left = left.saturating_sub(core.bytes_of(shape));
        memory
    };
    let (mut plans, mut outputs, mut orders) = (Vec::new(), Vec::new(), Vec::new());
    for (plan, order, full) in selected {
        let ordered = if order.are_same() { Vec::new() } else { fresh(&full)? };
        let shape = plan.shape();
        outputs.push(Output::sized(fresh(&shape)?, core.size, &shape, plan.cuts()?)?);
        orders.push((order, shape, ordered));
        plans.push(plan);
    }
    let bytes = outputs.iter().map(|output: &Output| core.bytes_of(output.shape()));
    let bytes = bytes.fold(0, u64::saturating_add);
    let read = Read::several(core, plans.into_iter().collect(), bytes)?;
    let (outputs, heap) = fill(read.into(outputs)).await?;
    let memories = outputs.into_vec().into_iter().map(memory_of).zip(orders);
    let memories = memories.map(|(memory, (order, shape, mut ordered))| {
        if order.are_same() {
            return Ok(memory);
        }
        order.reorder(&memory, &shape, &mut ordered, core.size)?;
        Ok(ordered)
    });
    Ok((memories.collect::<ArrayResult<_>>()?, heap))
}

/// Reads elements of any data type as bytes, in the byte order of this machine, into new memory.
pub(crate) async fn read_bytes(core: &Arc<Core>, selection: Selection) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
    core.check_fixed()?;
    let Target { plan, orders, full, kept, .. } = Target::new(core, &selection)?;
    Ok((kept, read_memory(core, plan, &orders, &full).await?.0))
}

/// Reads into owned memory and returns it.
pub(crate) async fn read_owned<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
) -> ArrayResult<NdVec<T>> {
    let target = Target::new(core, &selection)?;
    target.check_shape(values.shape()).map_err(|e| core.in_array(e))?;
    let Target { plan, orders, full, kept, places } = target;
    check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
    if !orders.are_same() {
        return read(core, selection).await;
    }
    let Some(memory) = T::reuse(values.into_vec(), &core.data_type) else {
        return read(core, selection).await;
    };
    let (memory, heap) = fill_owned(core, plan, memory, &full, false).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &places));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| core.in_array(e))
}

/// Reads into borrowed memory, which only a blocking caller can lend.
pub(crate) fn read_into_view<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    mut memory: ViewMut<'_, T>,
    has_shape: bool,
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
    let target = Target::new(core, &selection)?;
    target.check_lent(memory.shape(), has_shape).map_err(|e| core.in_array(e))?;
    let Target { plan, orders, full, .. } = target;
    if orders.are_same()
        && size_of::<T::Memory>() == core.size
        && let Some(plain) = T::plain_mut(memory.reborrow(), &core.data_type)
    {
        let memory = Destination::from(plain).reshape(&full)?;
        let read = Read::one(core, plan, core.bytes_of(&full), false);
        if direct::suits(core, &read.reader(), read.sizes) {
            return direct::fill(&read.reader(), memory);
        }
        let cuts = read.joint.plans()[0].cuts()?;
        return Output::lend(memory, cuts, |output| block_on(fill(read.into([output]))).map(drop))?;
    }
    Ok(memory.assign(block_on(read(core, selection))?.into_vec())?)
}

/// Reads into owned memory of this shape, and returns it and the heap of its contents.
async fn fill_owned<M: Plain>(
    core: &Arc<Core>,
    plan: Plan,
    mut memory: Vec<M>,
    shape: &[u64],
    mut zeroed: bool,
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    if let Some(run) = Run::of(core, &plan) {
        let is_done;
        (memory, is_done) = run.read(core, memory, zeroed).await?;
        if is_done {
            return Ok((memory, None));
        }
        zeroed = false;
    }
    let read = Read::one(core, plan, core.bytes_of(shape), zeroed);
    if direct::suits(core, &read.reader(), read.sizes) {
        let dst = Destination::dense(bytes_of_mut(&mut memory), shape, core.size)?;
        direct::fill(&read.reader(), dst)?;
        return Ok((memory, read.heap));
    }
    let output = Output::sized(memory, core.size, shape, read.joint.plans()[0].cuts()?)?;
    let (outputs, heap) = fill(read.into([output])).await?;
    let output = outputs.into_vec().pop().ok_or_else(|| strange("a read has no result"))?;
    Ok((memory_of(output), heap))
}

/// The results of a read, and the heap of their contents.
type Filled = (OneOrMany<Output>, Option<Arc<Heap>>);

/// Runs a read. A wall (decision 0026).
fn fill(read: Read) -> BoxFuture<'static, ArrayResult<Filled>> {
    Box::pin(async move {
        let (place, read) = (read.core.place(), Arc::new(read));
        run(&read, &place).await.map_err(|e| read.core.in_array(e))?;
        match Arc::into_inner(read) {
            Some(Read { outputs, heap, .. }) => Ok((outputs, heap)),
            None => unreachable!("a finished task has one owner"),
        }
    })
}

/// Returns the memory of a read that is done.
fn memory_of<M: Plain>(output: Output) -> Vec<M> {
    match output.into_vec() {
        Ok(memory) => memory,
        Err(_) => unreachable!("a finished task has one owner"),
    }
}
