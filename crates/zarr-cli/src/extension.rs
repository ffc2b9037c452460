//! Data types, codecs and the like, for people.

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::Extension;

/// `zstd(level=5, checksum=false)`
pub(crate) fn text(extension: &Extension) -> String {
    called(extension.name(), &extension.configuration())
}

fn called(name: &str, configuration: &Object) -> String {
    let members: Vec<String> =
        configuration.members().map(|m| format!("{}={}", m.name_lossy(), shown(&m.value()))).collect();
    if members.is_empty() { name.to_owned() } else { format!("{name}({})", members.join(", ")) }
}

/// A value for people: text without quotes, extensions inside of extensions like those outside.
fn shown(value: &Value) -> String {
    if let Some(elements) = value.elements() {
        return format!("[{}]", elements.map(|e| shown(&e)).collect::<Vec<_>>().join(", "));
    }
    let object = value.as_object();
    let name = object.as_ref().and_then(|object| object.get("name"));
    match (value.to_text(), name.as_ref().map(Value::to_text)) {
        (Ok(text), _) => text.into_owned(),
        (_, Some(Ok(name))) => {
            let configuration = object.and_then(|object| object.get("configuration")?.as_object());
            called(&name, &configuration.unwrap_or_default())
        }
        _ => value.to_compact(),
    }
}
