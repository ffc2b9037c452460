//! What becomes of level 0: factors, method, levels and their metadata.

use zarr_array::Limits;
use zarr_array::meta::multiscale::{AxisKind, LevelPlace};
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::meta::{ArrayMeta, codecs};
use zarr_array::traits::number::Numeric;

use super::builder::Pyramid;
use super::factors::plane;
use super::found::Found;
use super::group::{Choice, Described, Pixels, SHAPE, TRANSFORM, axes_of, dimensions};
use super::levels::{PyramidLevel, cut, numbered, position};
use super::method::Downsample;
use super::passes::Grid;
use crate::change::{Change, Shards};
use crate::document;
use crate::error::{CopyError, CopyResult};
use crate::lengths::Lengths;

impl Found {
    /// Returns the names of the dimensions.
    pub(super) fn names(&self) -> Vec<Option<String>> {
        let rank = self.level0.shape().len();
        if let Some(image) = self.said.image.as_ref().filter(|image| image.axes.len() == rank) {
            return image.axes.iter().map(|axis| Some(axis.name.clone())).collect();
        }
        match self.level0.metadata().dimension_names() {
            Some(names) if names.len() == rank => names.to_vec(),
            _ => vec![None; rank],
        }
    }

    pub(super) fn factors(
        &self,
        pyramid: &Pyramid,
        names: &[Option<String>],
        notes: &mut Vec<String>,
    ) -> CopyResult<Vec<u64>> {
        if names.is_empty() {
            return Err(CopyError::unsupported("an array without dimensions has no levels"));
        }
        if let Some(given) = &pyramid.factors {
            return given.of(names).map_err(|e| CopyError::settings(format!("`factors`: {e}")));
        }
        let axes = self.said.image.iter().flat_map(|image| &image.axes);
        let is_space: Vec<bool> = axes.map(|axis| axis.kind == AxisKind::Space).collect();
        let spatial = self.spatial_dimensions();
        let Some(plane) = plane(names, &is_space, spatial.as_deref()) else {
            return Err(CopyError::settings(
                "the array has one dimension; `factors` says by how much it becomes shorter",
            ));
        };
        if plane.is_guess {
            let [rows, columns] = plane.dims;
            notes.push(format!(
                "array {:?}: nothing says which dimensions are the image; dimensions {rows} and {columns} become shorter",
                self.level0.path()
            ));
        }
        let mut factors = vec![1; names.len()];
        plane.dims.iter().for_each(|dim| factors[*dim] = 2);
        Ok(factors)
    }

    fn spatial_dimensions(&self) -> Option<Vec<String>> {
        dimensions(&self.level0.metadata().attributes()).or_else(|| dimensions(&self.attributes))
    }

    /// Returns the positions of pixels of level 0, and the dimensions of rows and columns.
    pub(super) fn place(&self, names: &[Option<String>]) -> Option<(Pixels, [usize; 2])> {
        let pixels =
            Pixels::read(&self.level0.metadata().attributes()).or_else(|| Pixels::read(&self.attributes));
        let dims = plane(names, &[], self.spatial_dimensions().as_deref())?.dims;
        Some((pixels?, dims))
    }

    pub(super) fn usual_method(&self) -> Downsample {
        let attributes = self.level0.metadata().attributes();
        let numeric = self.level0.data_type().numeric();
        let is_integer = matches!(numeric, Some(Numeric::Integer { .. }));
        let is_label = self.said.is_label || self.level0.path().contains("/labels/");
        if attributes.contains("flag_masks") {
            return Downsample::Nearest;
        }
        let is_truth = matches!(numeric, Some(Numeric::Bool));
        match is_truth || attributes.contains("flag_values") || is_integer && is_label {
            true => Downsample::Mode,
            false => Downsample::Mean,
        }
    }

    pub(super) fn describe(
        &self,
        pyramid: &Pyramid,
        shapes: &[Vec<u64>],
        factors: Vec<u64>,
        method: Downsample,
        choice: Choice,
        names: &[Option<String>],
    ) -> CopyResult<Described> {
        let rank = names.len();
        let place = match &self.said.image {
            Some(image) if image.axes.len() != rank => {
                return Err(CopyError::unsupported(format!(
                    "the group has {} axes, but the array has rank {rank}",
                    image.axes.len()
                )));
            }
            Some(image) => image.levels[0].place.clone().unwrap_or_else(|| LevelPlace::identity(rank)),
            None => LevelPlace::identity(rank),
        };
        let (chunks, shards) = self.lengths(pyramid)?;
        let mut levels = Vec::new();
        for level in 0..=shapes.len() {
            let shape = level.checked_sub(1).map_or(self.level0.shape(), |at| &shapes[at]);
            let path = self.path(level)?;
            let (chunks, shards) = match level {
                0 => (chunks.clone(), shards.clone()),
                _ => cut(shape, &chunks, shards.as_deref()),
            };
            let is_nearest = method == Downsample::Nearest;
            let (scale, translation) =
                position((&place.scale, &place.translation), &factors, level, is_nearest);
            levels.push(PyramidLevel { path, shape: shape.to_vec(), chunks, shards, scale, translation });
        }
        let axes = match &self.said.image {
            Some(image) => image.axes.clone(),
            None => axes_of(names).unwrap_or_default(),
        };
        let name = self.group.node_path();
        let name = match name.rsplit('/').next() {
            None | Some("") => pyramid.name.clone(),
            Some(last) => last.to_owned(),
        };
        let pixels = self.place(names);
        let assets = self.asset.as_ref().map(|asset| {
            let path = |level| numbered(asset, level).unwrap_or_default();
            (0..levels.len()).map(path).collect()
        });
        let Choice { metadata, version, .. } = choice;
        Ok(Described { metadata, version, name, axes, method, factors, levels, assets, pixels })
    }

    /// Returns the path of a level.
    fn path(&self, level: usize) -> CopyResult<String> {
        if level == 0 {
            return Ok(self.below.clone());
        }
        let path = match &self.asset {
            Some(asset) => numbered(asset, level).map(|path| format!("{path}{}", &self.below[asset.len()..])),
            None => numbered(&self.below, level),
        };
        path.ok_or_else(|| {
            CopyError::settings(format!(
                "the path {:?} has no number 0 in whose place those of the levels would be; copy the array to \"0\" in a \
                 group first",
                self.below
            ))
        })
    }

    /// Returns the factors beside an image with these names and factors of dimensions.
    pub(super) fn factors_beside(&self, names: &[Option<String>], factors: &[u64]) -> Vec<u64> {
        let of = |name: &Option<String>| {
            let known = names.iter().zip(factors).find(|(known, _)| known.is_some() && *known == name);
            known.map_or(1, |(_, factor)| *factor)
        };
        self.names().iter().map(of).collect()
    }

    /// Returns the lengths of chunks and shards of the levels, before they are cut.
    fn lengths(&self, pyramid: &Pyramid) -> CopyResult<(Vec<u64>, Option<Vec<u64>>)> {
        let rank = self.level0.shape().len();
        let grid = self.level0.chunk_grid();
        let outer: Vec<u64> =
            (0..rank).map(|dim| grid.lengths(dim).into_iter().max().unwrap_or(1).max(1)).collect();
        let inner = inner_chunk_shapes(self.level0.metadata().document().codecs());
        let Some(inner) = inner else {
            return Err(CopyError::settings("the shape of its inner chunks is unknown"));
        };
        let (own_chunks, own_shards) = match inner.last() {
            Some(inner) => (inner.clone(), Some(outer)),
            None => (outer, None),
        };
        // Those that are given are for the image.
        if self.asset.is_some() && pyramid.chunks.as_ref().is_some_and(|chunks| chunks.rank() != rank) {
            return Ok((own_chunks, own_shards));
        }
        let given = |what: &str, lengths: &Lengths| match lengths.shape() {
            Some(shape) if shape.len() == rank => Ok(shape.to_vec()),
            _ => Err(CopyError::settings(format!("`{what}`: expected {rank} lengths, found {lengths}"))),
        };
        let chunks = pyramid.chunks.as_ref().map(|lengths| given("chunks", lengths)).transpose()?;
        let shards = match &pyramid.shards {
            Some(Shards::Of(lengths)) => Some(given("shards", lengths)?),
            Some(Shards::None) => None,
            None if chunks.is_some() => None,
            None => own_shards,
        };
        Ok((chunks.unwrap_or(own_chunks), shards))
    }

    /// Returns the metadata of a level.
    pub(super) fn meta(
        &self,
        pyramid: &Pyramid,
        described: &Described,
        level: usize,
    ) -> CopyResult<ArrayMeta> {
        let registry = &pyramid.registry;
        let of = &described.levels[level];
        let shaped = self.level0.with_shape(of.shape.clone())?;
        let shards = of.shards.clone().map_or(Shards::None, |shards| Shards::Of(Lengths::Shape(shards)));
        let change = Change {
            format: None,
            codecs: pyramid.codecs.clone(),
            chunks: Some(Lengths::Shape(of.chunks.clone())),
            shards: Some(shards),
        };
        let layout = change.layout(&shaped, registry)?;
        let mut meta = document::array(&shaped, &layout, self.level0.metadata().format(), registry)?;
        let pixels = described.pixels_of(level).map(|pixels| pixels.to_value());
        let lengths = described.pixels.as_ref().map(|(_, dims)| dims.map(|dim| of.shape[dim]));
        meta.edit_attributes(|attributes| {
            for (name, value) in
                [(TRANSFORM, pixels), (SHAPE, lengths.map(|lengths| lengths.into_iter().collect()))]
            {
                match value {
                    Some(value) if attributes.contains(name) => attributes.set(name, value),
                    _ => drop(attributes.remove(name)),
                }
            }
        })?;
        // Codecs that do not fit the chunks of a level are found here.
        meta.resolve(registry, &Limits::default(), &mut Vec::new())
            .map_err(|e| CopyError::from(e).within(format_args!("level {:?}", of.path)))?;
        Ok(meta)
    }

    pub(super) fn grids(&self, metas: &[ArrayMeta], described: &Described) -> Vec<Grid> {
        let is_lossy = |meta: &ArrayMeta| !codecs::lossy(meta.document().codecs()).is_empty();
        let metas = [self.level0.metadata()].into_iter().chain(metas);
        let grid = |(meta, level): (&ArrayMeta, &PyramidLevel)| Grid {
            shape: level.shape.clone(),
            units: level.shards.clone().unwrap_or_else(|| level.chunks.clone()),
            chunks: level.chunks.clone(),
            has_shards: level.shards.is_some(),
            is_lossy: is_lossy(meta),
        };
        let mut grids: Vec<Grid> = metas.zip(&described.levels).map(grid).collect();
        // Level 0 keeps its own chunks, also if the others have given ones.
        let (own, rank) = (self.level0.chunk_grid(), self.level0.shape().len());
        let outer: Vec<u64> =
            (0..rank).map(|dim| own.lengths(dim).into_iter().max().unwrap_or(1).max(1)).collect();
        let inner =
            inner_chunk_shapes(self.level0.metadata().document().codecs()).and_then(|mut all| all.pop());
        grids[0].has_shards = inner.is_some();
        grids[0].chunks = inner.unwrap_or_else(|| outer.clone());
        grids[0].units = outer;
        grids
    }
}
