//! The chunks of an array in the order of their keys, for listings.

use std::cmp::Ordering;

use zarr_traits::StoreResult;

use crate::error::too_much;
use crate::layout::Layout;
use crate::manifests::Manifests;

/// The chunks of one array, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Chunks {
    rank: usize,
    /// The indices, one after the other, in any order.
    indices: Vec<u32>,
    sizes: Vec<u64>,
    /// The places of the chunks in the order of their keys.
    order: Vec<u32>,
}

impl Chunks {
    /// Collects the chunks of an array from all its manifests.
    pub(crate) async fn collect(layout: &Layout, manifests: &Manifests, most: usize) -> StoreResult<Self> {
        let rank = layout.rank();
        let mut chunks = Self { rank, indices: Vec::new(), sizes: Vec::new(), order: Vec::new() };
        for (id, extent) in layout.manifests() {
            let manifest = manifests.get(id).await?;
            let mut own = Vec::with_capacity(rank);
            let add = |index: crate::manifest::Index<'_>, size| {
                own.clear();
                own.extend(index.numbers().take(rank + 1));
                if !layout.is_inside(&own) || !extent.contains(&own) {
                    return Ok(());
                }
                let place = u32::try_from(chunks.sizes.len()).ok().filter(|_| chunks.sizes.len() < most);
                let place = place.ok_or_else(|| {
                    too_much(format!("the array has more than {most} chunks, the most that are listed"))
                })?;
                chunks.order.push(place);
                chunks.sizes.push(size);
                chunks.indices.extend_from_slice(&own);
                Ok(())
            };
            manifest.chunks(&layout.node, add).map_err(|e| manifests.failed(id, e))?;
        }
        let mut order = std::mem::take(&mut chunks.order);
        let index = |place: &u32| chunks.index_at(*place);
        order.sort_by(|a, b| in_keys(index(a), index(b)));
        order.dedup_by(|a, b| index(a) == index(b));
        chunks.order = order;
        Ok(chunks)
    }

    /// The number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    fn index_at(&self, place: u32) -> &[u32] {
        &self.indices[place as usize * self.rank..][..self.rank]
    }

    /// Returns the index and the size of a chunk.
    pub(crate) fn get(&self, number: usize) -> (&[u32], u64) {
        let place = self.order[number];
        (self.index_at(place), self.sizes[place as usize])
    }
}

/// Compares two indices as their keys. Both separators come before all digits.
fn in_keys(a: &[u32], b: &[u32]) -> Ordering {
    let mut orders = a.iter().zip(b).map(|(a, b)| as_text(*a, *b));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Compares two numbers as their decimal digits.
fn as_text(a: u32, b: u32) -> Ordering {
    let digits = |number: u32| number.checked_ilog10().unwrap_or(0);
    let (of_a, of_b) = (digits(a), digits(b));
    let longer = |number: u32, by: u32| u64::from(number) * 10_u64.pow(by);
    longer(a, of_b.saturating_sub(of_a)).cmp(&longer(b, of_a.saturating_sub(of_b))).then(of_a.cmp(&of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_order_of_their_digits() {
        let mut numbers = vec![0, 1, 2, 9, 10, 11, 19, 20, 99, 100, 101, 1000, 999_999_999, 4_294_967_295];
        let mut texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
        numbers.sort_by(|a, b| as_text(*a, *b));
        texts.sort();
        assert_eq!(numbers.iter().map(u32::to_string).collect::<Vec<_>>(), texts);
        assert_eq!(in_keys(&[1, 20], &[10, 1]), Ordering::Less);
        assert_eq!(in_keys(&[], &[]), Ordering::Equal);
    }
}
