//! Turns elements into buffers: numbers without a copy, contents of variable length with one copy.

mod structs;

use std::sync::Arc;

use zarr_traits::Layout;

use super::{for_each_number, time_of, unsupported};
use crate::element::rows::is_struct;
use crate::element::{Form, WriteElement, text};
use crate::error::{ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::read::{read as read_elements, read_memory};
use crate::io::rows::read_rows;
use crate::io::target::Target;
use crate::select::Selection;
use crate::values::column::Gathered;
use crate::values::{Column, ColumnType, ColumnUnit};

pub(super) async fn read(core: &Arc<Core>, selection: Selection) -> ArrayResult<(Vec<u64>, Column)> {
    let data_type = &core.data_type;
    if is_struct(data_type) {
        let rows = read_rows(core, selection).await?;
        let column = structs::read(&rows).map_err(|e| core.in_array(e))?;
        return Ok((rows.shape().to_vec(), column));
    }
    if let Some((unit, stamps)) = time_of(data_type).map_err(|e| core.in_array(e))? {
        let (shape, steps) = read_elements::<i64>(core, selection).await?.into_parts();
        return Ok((shape, times(steps, unit, stamps)));
    }
    macro_rules! plain {
        ($element:ty $(, $column_type:ident)?) => {
            if <$element>::fits(data_type)? {
                let (shape, values) = read_elements::<$element>(core, selection).await?.into_parts();
                return Ok((shape, Column::from(values)));
            }
        };
    }
    plain!(bool);
    for_each_number!(plain);
    let is_text = String::fits(data_type)?;
    if !is_text && !Vec::<u8>::fits(data_type)? {
        return Err(core.in_array(unsupported(&data_type.to_string())));
    }
    let Target { plan, orders, full, kept, places } = Target::new(core, &selection)?;
    let (memory, heap) = read_memory(core, plan, &orders, &full).await?;
    let form = core.form(heap.as_deref(), &places);
    let read = if is_text { strings(memory, &form) } else { bytes(memory, &form) };
    Ok((kept, read.map_err(|e| core.in_array(e))?))
}

pub(super) fn times(steps: Vec<i64>, unit: ColumnUnit, stamps: bool) -> Column {
    if stamps { Column::timestamps(unit, steps) } else { Column::durations(unit, steps) }
}

pub(super) fn strings(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Column> {
    let mut gathered = room(&memory, form)?;
    if form.data_type().layout() == Layout::Variable {
        form.contents(&memory, |position, content| {
            let is_text = str::from_utf8(content).is_ok();
            gathered.push(content);
            is_text.then_some(()).ok_or_else(|| form.error(ArrayErrorKind::Corrupt, position, "is not UTF-8"))
        })?;
    } else {
        let mut character = [0; 4];
        for (position, element) in memory.chunks_exact(form.size()).enumerate() {
            for c in text::characters(element, position, form) {
                gathered.extend(c?.encode_utf8(&mut character).as_bytes());
            }
            gathered.end();
        }
    }
    Ok(gathered.finish(ColumnType::LargeUtf8))
}

pub(super) fn bytes(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Column> {
    if text::is_raw(form.data_type()) {
        let rows = memory.len() / form.size();
        return Ok(Column::made(ColumnType::FixedSizeBinary(form.size()), rows, vec![memory.into()]));
    }
    let mut gathered = room(&memory, form)?;
    if form.data_type().layout() == Layout::Variable {
        form.contents(&memory, |_, content| {
            gathered.push(content);
            Ok(())
        })?;
    } else {
        let padded = memory.chunks_exact(form.size());
        padded.for_each(|element| gathered.push(text::without_padding(element)));
    }
    Ok(gathered.finish(ColumnType::LargeBinary))
}

/// Returns room for the contents of elements.
fn room(memory: &[u8], form: &Form<'_>) -> ArrayResult<Gathered> {
    let is_variable = form.data_type().layout() == Layout::Variable;
    let bytes = if is_variable { form.content_len(memory)? } else { 0 };
    Gathered::with_room(memory.len() / form.size(), bytes)
}
