//! The elements of a view that are in one array.

use std::collections::HashMap;

use crate::handles::array::Array;
use crate::select::{Along, Picked, Selection};

/// The elements of a view that are in one array.
#[derive(Debug, Clone)]
pub(super) struct Part {
    array: Array,
    /// The selected elements of the array, one entry per dimension of the selection and per index.
    places: Vec<Along>,
    /// The dimensions of the view.
    dims: Vec<Dim>,
}

/// A dimension of the view, and the positions in it that this array fills.
#[derive(Debug, Clone)]
struct Dim {
    /// The entry of `places` that varies along it; `None` for a dimension that the array does not have.
    entry: Option<usize>,
    held: Held,
}

/// The positions in a dimension of the view that an array holds, in the order of the array's selection.
#[derive(Debug, Clone)]
enum Held {
    /// All from a position on, in order.
    From(u64),
    List(Vec<u64>),
}

impl Held {
    fn at(&self, element: u64) -> u64 {
        match self {
            Self::From(first) => first + element,
            Self::List(list) => usize::try_from(element).ok().and_then(|n| list.get(n)).copied().unwrap_or(0),
        }
    }
}

impl Part {
    /// Returns all of an array.
    pub(super) fn of(array: Array) -> Self {
        let places = array.shape().iter().enumerate().map(|(dim, length)| Along::whole(dim, *length));
        let dim = |entry| Dim { entry: Some(entry), held: Held::From(0) };
        Self { places: places.collect(), dims: (0..array.shape().len()).map(dim).collect(), array }
    }

    pub(super) fn array(&self) -> &Array {
        &self.array
    }

    /// The selection of the array.
    pub(super) fn selection(&self) -> Selection {
        Selection::of(&self.places, self.array.shape().len())
    }

    /// The shape of the selection.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.entries().map(|entry| self.places[entry].count()).collect()
    }

    /// The entries of `places` that are dimensions of the selection, in its order: that of their first dimensions.
    fn entries(&self) -> impl Iterator<Item = usize> {
        let mut entries: Vec<usize> = (0..self.places.len()).filter(|n| self.places[*n].keeps()).collect();
        entries.sort_by_key(|entry| self.places[*entry].first_dim());
        entries.into_iter()
    }

    /// Whether the selection has the elements of a view with this part alone, in the order of the view.
    pub(super) fn is_in_order(&self) -> bool {
        let entries = self.dims.iter().filter_map(|dim| dim.entry);
        entries.eq(self.entries()) && self.dims.iter().all(|dim| matches!(dim.held, Held::From(0)))
    }

    /// Returns the number of elements along a dimension of the view.
    fn count(&self, dim: &Dim) -> u64 {
        dim.entry.map_or(1, |entry| self.places[entry].count())
    }

    /// Returns, for each dimension of the selection, where its elements are in memory of the view, after the place of its
    /// first element. `strides` are those of the memory, in elements.
    pub(super) fn places(&self, strides: &[u64]) -> Vec<Vec<u64>> {
        let without: u64 = self
            .dims
            .iter()
            .zip(strides)
            .filter(|(dim, _)| dim.entry.is_none())
            .map(|(dim, stride)| dim.held.at(0) * stride)
            .sum();
        let along = |entry: usize| {
            let dims = self.dims.iter().zip(strides).find(|(dim, _)| dim.entry == Some(entry));
            let place = |n: u64| dims.map_or(0, |(dim, stride)| dim.held.at(n) * stride);
            (0..self.places[entry].count()).map(place).collect()
        };
        std::iter::once(vec![without]).chain(self.entries().map(along)).collect()
    }

    /// Returns the part with the dimensions of the view in another order.
    pub(super) fn transpose(&self, order: &[usize]) -> Self {
        let dims = order.iter().map(|dim| self.dims[*dim].clone()).collect();
        Self { dims, ..self.clone() }
    }

    /// Returns the part of a view that begins at `first` along a dimension.
    pub(super) fn behind(mut self, dim: usize, first: u64) -> Self {
        match &mut self.dims[dim].held {
            Held::From(from) => *from += first,
            Held::List(list) => list.iter_mut().for_each(|position| *position += first),
        }
        self
    }

    /// Adds a dimension of length 1 to the view.
    pub(super) fn insert(&mut self, dim: usize) {
        self.dims.insert(dim, Dim { entry: None, held: Held::From(0) });
    }

    /// Returns the elements of this part that a selection of the view has. `selected` has the positions in the view. The
    /// result has several parts if elements in new dimensions are selected several times.
    pub(super) fn select(&self, selected: &[Along]) -> Vec<Self> {
        // Indexes that an earlier selection fixed.
        let fixed = self.places.iter().filter(|along| !along.keeps()).cloned().collect();
        let mut parts = vec![Self { array: self.array.clone(), places: fixed, dims: Vec::new() }];
        for along in selected {
            let Some((own, held)) = self.own(along) else { return Vec::new() };
            for part in &mut parts {
                let entry = self.compose(&own, &mut part.places);
                if along.keeps() {
                    part.dims.push(Dim { entry, held: held.clone() });
                }
            }
            if self.is_new(&own) {
                parts = parts.iter().flat_map(|part| part.one_by_one(own.count())).collect();
            }
        }
        parts
    }

    /// Whether a list selects elements in new dimensions only.
    fn is_new(&self, own: &Along) -> bool {
        matches!(own, Along::List { dims, .. } if dims.iter().all(|dim| self.dims[*dim].entry.is_none()))
    }

    /// Returns this part once for each of the `count` elements that it holds in its last dimension, a new one.
    fn one_by_one(&self, count: u64) -> impl Iterator<Item = Self> {
        (0..count).map(|element| {
            let mut part = self.clone();
            if let Some(last) = part.dims.last_mut() {
                last.held = Held::From(last.held.at(element));
            }
            part
        })
    }

    /// Returns which elements of this part are selected, with positions in the part, and where they are in the result;
    /// `None` if there are none.
    fn own(&self, along: &Along) -> Option<(Along, Held)> {
        match along {
            Along::Steps { dim, picked, reversed } => self.own_steps(*dim, *picked, *reversed),
            Along::List { dims, .. } => {
                let holders: Vec<Holder> = dims.iter().map(|dim| self.holder(*dim)).collect();
                let (mut positions, mut held) = (Vec::new(), Vec::new());
                for element in 0..along.count() {
                    let mut point = Vec::with_capacity(dims.len());
                    along.locate(element, |_, position| point.push(position));
                    let own: Option<Vec<u64>> =
                        holders.iter().zip(&point).map(|(holder, position)| holder.find(*position)).collect();
                    if let Some(own) = own {
                        positions.extend(own);
                        held.push(element);
                    }
                }
                let is_all = held.len() as u64 == along.count();
                let held = if is_all { Held::From(0) } else { Held::List(held) };
                let is_none = positions.is_empty() && along.count() > 0;
                let own = Along::List { dims: dims.clone(), positions: positions.into() };
                (!is_none).then_some((own, held))
            }
        }
    }

    fn own_steps(&self, dim: usize, picked: Picked, reversed: bool) -> Option<(Along, Held)> {
        let Picked { start, count, step, keep } = picked;
        let Held::From(first) = self.dims[dim].held else {
            // The array holds any positions: each selected one is looked up.
            let steps = Along::Steps { dim, picked, reversed };
            let mut positions = Vec::new();
            (0..count).for_each(|element| steps.locate(element, |_, position| positions.push(position)));
            let (own, held) = self.own(&Along::List { dims: vec![dim], positions: positions.into() })?;
            if keep {
                return Some((own, held));
            }
            let mut start = 0;
            own.locate(0, |_, position| start = position);
            return Some((Along::Steps { dim, picked: Picked { start, ..picked }, reversed }, held));
        };
        // The selected positions from `first` up to `end` are in this part.
        let end = first.saturating_add(self.count(&self.dims[dim]));
        let before = first.saturating_sub(start).div_ceil(step).min(count);
        let until = end.saturating_sub(start).div_ceil(step).min(count);
        if before >= until && count > 0 {
            return None;
        }
        let start = start.saturating_add(before.saturating_mul(step)).saturating_sub(first);
        let own = Picked { start, count: until - before, step, keep };
        let at = if reversed { count - until } else { before };
        Some((Along::Steps { dim, picked: own, reversed }, Held::From(at)))
    }

    fn holder(&self, dim: usize) -> Holder {
        let dim = &self.dims[dim];
        match &dim.held {
            Held::From(first) => Holder::Range(*first, self.count(dim)),
            Held::List(list) => Holder::List(list.iter().copied().zip(0..).collect()),
        }
    }

    /// Adds the selected elements to the places in the array, and returns their entry; `None` if the array has no such
    /// dimension, or an index drops it.
    fn compose(&self, own: &Along, places: &mut Vec<Along>) -> Option<usize> {
        match own {
            Along::Steps { dim, picked, reversed } => {
                let earlier = &self.places[self.dims[*dim].entry?];
                if picked.keep {
                    places.push(earlier.steps(*picked, *reversed));
                    return Some(places.len() - 1);
                }
                earlier.locate(picked.start, |dim, start| {
                    let picked = Picked { start, count: 1, step: 1, keep: false };
                    places.push(Along::Steps { dim, picked, reversed: false });
                });
                None
            }
            Along::List { .. } => {
                let (mut dims, mut positions) = (Vec::new(), Vec::new());
                for element in 0..own.count() {
                    dims.clear();
                    own.locate(element, |dim, position| {
                        let Some(entry) = self.dims[dim].entry else { return };
                        self.places[entry].locate(position, |dim, position| {
                            dims.push(dim);
                            positions.push(position);
                        });
                    });
                }
                if dims.is_empty() {
                    return None;
                }
                places.push(Along::List { dims, positions: positions.into() });
                Some(places.len() - 1)
            }
        }
    }
}

/// Finds the elements of a part by their positions in the view.
enum Holder {
    /// The first position and their number.
    Range(u64, u64),
    List(HashMap<u64, u64>),
}

impl Holder {
    fn find(&self, position: u64) -> Option<u64> {
        match self {
            Self::Range(first, count) => position.checked_sub(*first).filter(|own| own < count),
            Self::List(map) => map.get(&position).copied(),
        }
    }
}
