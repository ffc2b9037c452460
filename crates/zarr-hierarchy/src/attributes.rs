//! Changes the attributes of a group, safely beside other writers.

use std::sync::Arc;

use serde_core::Serialize;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{GroupMeta, MetaError, NodeMeta};
use zarr_array::{ArrayError, node};

use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};

impl Group {
    /// Reads the attributes from the store, changes them and writes them back. `change` is called again if another
    /// writer changed them in between. Members that `change` does not touch keep their bytes. Consolidated metadata is
    /// updated as the options say.
    ///
    /// ```
    /// # use zarr_hierarchy::{Group, HierarchyResult};
    /// # async fn example(mut group: Group) -> HierarchyResult<()> {
    /// group.edit_attributes(|attributes| attributes.set("title", "weather")).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Conflict`](zarr_array::ArrayErrorKind::Conflict) if other writers keep changing the document, or the group was
    /// erased; [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) in a store without conditional puts; errors of
    /// the store.
    pub async fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> HierarchyResult<()> {
        self.edit(|meta| Ok(meta.edit_attributes(&change)?)).await
    }

    /// Sets one attribute to any serializable value, and keeps the others.
    ///
    /// ```
    /// # use zarr_hierarchy::{Group, HierarchyResult};
    /// # async fn example(mut group: Group) -> HierarchyResult<()> {
    /// group.set_attribute("title", "weather").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes), and if `value` cannot be written as JSON.
    pub async fn set_attribute<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> HierarchyResult<()> {
        let value =
            Value::serialize(value).map_err(|e| HierarchyError::from(e).at(self.storage(), &self.path()))?;
        self.edit_attributes(|attributes| attributes.set(name, &value)).await
    }

    /// Replaces all attributes by the members of `attributes`, an object.
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes), and if `attributes` is not an object or contains a bare `NaN`.
    pub async fn set_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        let attributes = attributes.into();
        self.edit(|meta| Ok(meta.set_attributes(attributes.clone())?)).await
    }

    /// Sets the attributes that are members of `attributes`, an object, and keeps the others.
    ///
    /// # Errors
    /// As [`set_attributes`](Self::set_attributes).
    pub async fn merge_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        let attributes = attributes.into();
        let Some(members) = attributes.as_object() else {
            return Err(
                HierarchyError::invalid("attributes must be an object").at(self.storage(), &self.path())
            );
        };
        let change = |attributes: &mut Object| {
            for member in members.members() {
                attributes.set(&member.name_lossy(), member.value());
            }
        };
        self.edit_attributes(change).await
    }

    async fn edit(
        &mut self,
        change: impl Fn(&mut GroupMeta) -> Result<(), ArrayError>,
    ) -> HierarchyResult<()> {
        let Shared { storage, options, .. } = &*self.shared;
        let edited = node::edit(storage, &self.prefix, self.format(), &options.writing, |node| match node {
            NodeMeta::Array(_) => Err(MetaError::invalid("the group was replaced by an array").into()),
            NodeMeta::Group(group) => {
                change(group)?;
                Ok(group.clone())
            }
        });
        let (_, group) =
            edited.await.map_err(|e| HierarchyError::from(e).at(self.storage(), &self.path()))?;
        self.meta = Arc::new(group);
        Ok(())
    }
}
