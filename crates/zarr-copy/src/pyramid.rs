//! Pyramids: levels of lower resolution beside an array, for viewers of images and maps.
//!
//! [`Pyramid`] plans them, and [`PyramidPlan::run`] makes them: each chunk of level 0 is read once, depth first, and all
//! levels are made on the way, in bounded memory. A run can be resumed. The group names the levels when they are whole, in the
//! metadata of OME-Zarr or of the `multiscales` convention of GeoZarr.
//!
//! [`Pyramid::plan_all`] plans an image with its labels, or the images of a plate.
//!
//! Each level is made of the stored level before. Its length is that of the level before divided by the factor and rounded up,
//! so no element is lost; boxes at the end have fewer elements.

mod block;
mod builder;
mod crew;
mod draft;
mod factors;
mod found;
mod group;
mod images;
mod join;
mod kernel;
mod levels;
pub mod marker;
mod method;
mod missing;
mod passes;
mod places;
mod plan;
mod publish;
mod run;
mod work;

pub use block::downsample;
pub use builder::Pyramid;
pub use factors::Factors;
pub use group::MultiscaleMetadata;
pub use images::PyramidPlans;
pub use join::PyramidShare;
pub use levels::{LevelCount, PyramidLevel};
pub use method::Downsample;
pub use missing::MissingValues;
pub use plan::PyramidPlan;
pub use run::PyramidDone;
pub use zarr_array::meta::multiscale::OmeVersion;
