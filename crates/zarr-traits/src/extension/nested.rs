//! Codecs and data types inside a configuration, for extensions made of others.

use zarr_json::Value;

use crate::dtype::DataType;
use crate::error::{CodecError, CodecErrorKind, CodecResult};

use super::configuration::{Configuration, missing, wrong};
use super::note::{Note, NoteKind, pointer};
use super::registry::Context;
use super::spec::Spec;

/// The deepest nesting of data types inside data types (structs).
const TYPE_DEPTH: usize = 32;

impl Configuration<'_> {
    /// Builds the codecs of the required list `member`, for a codec that contains others. `build` gets the codecs of
    /// the list, the context one level deeper, and the place for its notes, whose pointers are relative to the list.
    ///
    /// # Errors
    /// If the member is missing, is not a list of codecs or is longer than the limits allow; errors of `build`.
    pub fn codecs<T>(
        &mut self,
        member: &'static str,
        context: &Context<'_>,
        build: impl FnOnce(&[Spec], &Context<'_>, &mut Vec<Note>) -> CodecResult<T>,
    ) -> CodecResult<T> {
        let (specs, mut notes) = self.specs(member, context)?;
        let inside = context.inside();
        let built = build(&specs, &inside, &mut notes);
        self.take_notes(&pointer(member), notes);
        built.map_err(|e| e.at(&pointer(member)))
    }

    /// Returns the codecs of the required list `member`, with notes on accepted deviations.
    fn specs(&mut self, member: &'static str, context: &Context<'_>) -> CodecResult<(Vec<Spec>, Vec<Note>)> {
        let place = pointer(member);
        let value = self.get(member).ok_or_else(|| missing(member))?;
        let list = value.elements().ok_or_else(|| wrong(member, &value, "a list of codecs"))?;
        // Check before any work on the items.
        let length = list.clone().count();
        if length > context.limits.chain_length {
            let message = format!("{length} codecs exceed the limit");
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(&place));
        }
        let (mut specs, mut notes) = (Vec::with_capacity(length), Vec::new());
        for (i, item) in list.enumerate() {
            let here = format!("/{i}");
            specs.push(Spec::read(&item, "codec", &here, &mut notes).map_err(|e| e.at(&here).at(&place))?);
        }
        Ok((specs, notes))
    }

    /// Builds the data type that `value` names, for a type made of other types. `place` is the JSON pointer of `value`
    /// relative to this configuration; notes on accepted deviations get it, too.
    ///
    /// # Errors
    /// If `value` does not name a data type, or types are nested deeper than 32 levels. Pointers of errors begin with
    /// `place`.
    pub fn data_type(&mut self, value: &Value, place: &str, context: &Context<'_>) -> CodecResult<DataType> {
        let place = format!("/configuration{place}");
        let inside = context.inside();
        if inside.depth > TYPE_DEPTH {
            let message = format!("data types are nested deeper than {TYPE_DEPTH} levels");
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(&place));
        }
        let mut notes = Vec::new();
        let built = Spec::read(value, "data type", "", &mut notes).and_then(|spec| {
            let (data_type, more) = context.registry.data_type(&spec, &inside)?;
            Ok((spec.must_understand, data_type, more))
        });
        let (must_understand, data_type, more) = built.map_err(|e| e.at(&place))?;
        if !must_understand {
            let message = "must_understand: false has no meaning here, ignored".to_owned();
            let pointer = "/must_understand".to_owned();
            notes.push(Note::new(NoteKind::MeaninglessWaiver, pointer, message));
        }
        notes.extend(more);
        self.take_notes(&place, notes);
        Ok(data_type)
    }
}

#[cfg(test)]
mod tests {
    use zarr_json::{Object, json};

    use super::*;

    #[test]
    fn notes_and_errors_of_nested_types_have_a_pointer() {
        let (registry, limits) = (crate::Registry::core(), crate::Limits::default());
        let context = Context::new(&registry, &limits);
        let members = Object::new();
        let mut c = Configuration::new(&members);
        for value in [json!("int32"), json!({"name": "int32"})] {
            assert_eq!(c.data_type(&value, "/of", &context).unwrap(), DataType::Int32); // rule B.t63
        }
        assert_eq!(
            c.data_type(&json!({"name": "binary", "x": 1}), "/of", &context).unwrap(),
            DataType::Bytes
        );
        let pointers: Vec<_> = c.notes.iter().map(|n| &*n.pointer).collect();
        assert_eq!(pointers, ["/configuration/of/x", "/configuration/of/name"]);
        for (value, pointer) in [
            (json!(null), ""),
            (json!({}), "/name"),
            (json!({"name": "int32", "configuration": 1}), "/configuration"),
            (json!({"name": "Int32", "must_understand": false}), ""),
            (json!("Int32"), ""),
        ] {
            let e = c.data_type(&value, "/of", &context).unwrap_err();
            assert_eq!(e.pointer(), format!("/configuration/of{pointer}"), "{e:#}");
        }
        let deep = Context { depth: TYPE_DEPTH, ..context };
        let e = c.data_type(&json!("int32"), "/of", &deep).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::LimitExceeded);
    }
}
