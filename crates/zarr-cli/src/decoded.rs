//! Reads parts of variables, decoded.

use zarr_xarray::Positions;
use zarr_xarray::blocking::Variable;

use crate::exit::Failure;
use crate::pick::Pick;
use crate::slabs::Slab;

/// Returns a slab of a variable. `picks` and the slab have the dimensions of the variable.
pub(crate) fn read(variable: &Variable, picks: &[Pick], slab: &Slab) -> Result<Variable, Failure> {
    let lengths = variable.shape().iter().zip(variable.dimensions());
    let cuts = picks.iter().zip(slab.start.iter().zip(&slab.count));
    let mut positions = Vec::new();
    for ((pick, (start, count)), (length, name)) in cuts.zip(lengths) {
        let cut = pick.part(*start, *count);
        if !cut.is_all(*length) {
            positions.push((name.clone(), places(&cut)?));
        }
    }
    Ok(variable.isel(positions)?)
}

/// Returns the positions of a pick.
pub(crate) fn places(pick: &Pick) -> Result<Positions, Failure> {
    let signed = |n: u64| {
        i64::try_from(n).map_err(|_| Failure::unsupported("positions from 2^63 on cannot be decoded"))
    };
    match pick.as_range() {
        Some((range, step)) => Ok(Positions::step(signed(range.start)?..signed(range.end)?, signed(step)?)),
        None => {
            let positions = (0..pick.count).map(|i| signed(pick.position(i)));
            Ok(positions.collect::<Result<Vec<_>, _>>()?.into())
        }
    }
}
