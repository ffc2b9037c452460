//! From the configuration to a codec: what cannot work is refused here, when the array is opened.

use std::sync::Arc;

use zarr_traits::serde_json::{Map, Value};
use zarr_traits::{
    Chain, Codec, CodecError, CodecErrorKind, CodecResult, Configuration, Context, DataType, Dims,
    EncodedSize, FillValue, Note, NoteKind, Repr, Spec,
};

use crate::codec::{Shard, Sharding};
use crate::index::MISSING;

/// D7.1 to D7.4.
pub(crate) fn build(
    configuration: &mut Configuration<'_>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let chunk = configuration.lengths("chunk_shape")?;
    let wrong = |message: String| CodecError::configuration(message).at("/configuration/chunk_shape");
    if chunk.len() != repr.rank {
        let message = format!("chunk_shape has {} dimensions, the shard has {}", chunk.len(), repr.rank);
        return Err(wrong(message));
    }
    if chunk.contains(&0) {
        return Err(wrong(format!("chunk_shape is {chunk:?}, its lengths must be above 0")));
    }
    let at_start = match configuration.optional_string("index_location")? {
        None | Some("end") => false,
        Some("start") => true,
        Some(other) => {
            let message = format!("index_location is {other:?}, it must be \"start\" or \"end\"");
            return Err(CodecError::configuration(message).at("/configuration/index_location"));
        }
    };
    let inner = chain(configuration, "codecs", repr.clone(), context)?;
    inner.check_shape(&chunk).map_err(|e| e.at("/configuration/codecs"))?;
    let entries =
        Repr { data_type: DataType::UInt64, fill: FillValue::of(MISSING), rank: repr.rank.saturating_add(1) };
    let index = chain(configuration, "index_codecs", entries, context)?;
    // The index must be found without being read first. That is so for every shape if it is so for one.
    let mut one = Dims::filled(1, repr.rank);
    one.push(2);
    if !matches!(index.encoded_size(&one), EncodedSize::Exact(_)) {
        let message = "index_codecs make an index of unknown size, they must not compress";
        return Err(CodecError::configuration(message).at("/configuration/index_codecs"));
    }
    Ok(Codec::ArrayBytes(Arc::new(Sharding(Arc::new(Shard {
        chunk,
        fill: repr.fill.clone(),
        inner: Arc::new(inner),
        index,
        at_start,
        index_limit: context.limits.chunk_bytes,
    })))))
}

/// The chain that a member describes, which lies one deeper than this codec.
fn chain(
    configuration: &mut Configuration<'_>,
    member: &'static str,
    repr: Repr,
    context: &Context<'_>,
) -> CodecResult<Chain> {
    let place = format!("/configuration/{member}");
    let wrong = |message: String| CodecError::configuration(message).at(&place);
    let list = match configuration.get(member) {
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong(format!("{member} must be a list of codecs"))),
        None => return Err(wrong(format!("{member} is missing"))),
    };
    // before anything is made of the items
    if list.len() > context.limits.chain_length {
        let message = format!("{} codecs are more than the limit allows", list.len());
        return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(&place));
    }
    let (mut specs, mut notes) = (Vec::with_capacity(list.len()), Vec::new());
    for (i, item) in list.iter().enumerate() {
        let here = format!("/{i}");
        specs.push(spec(item, &here, &mut notes).map_err(|e| e.at(&here).at(&place))?);
    }
    let inside = Context { depth: context.depth.saturating_add(1), ..*context };
    let built = Chain::build(&specs, repr, &inside, &mut notes);
    configuration.nested(member, notes);
    built.map_err(|e| e.at(&place))
}

/// A codec as a document names it (checklist A12, A13, A20), at `here` in its list.
fn spec(item: &Value, here: &str, notes: &mut Vec<Note>) -> CodecResult<Spec> {
    let members = match item {
        Value::String(name) => return Ok(Spec::new(name, Value::Null)),
        Value::Object(members) => members,
        _ => return Err(CodecError::configuration("a codec must be an object with a name")),
    };
    let Some(Value::String(name)) = members.get("name") else {
        return Err(CodecError::configuration("the name of a codec must be a string").at("/name"));
    };
    let configuration = match members.get("configuration") {
        None => Map::new(),
        Some(Value::Object(configuration)) => configuration.clone(),
        Some(_) => {
            let message = format!("the configuration of codec {name:?} must be an object");
            return Err(CodecError::configuration(message).at("/configuration"));
        }
    };
    let must_understand = match members.get("must_understand") {
        None => true,
        Some(Value::Bool(must)) => *must,
        Some(_) => {
            return Err(
                CodecError::configuration("must_understand must be true or false").at("/must_understand")
            );
        }
    };
    for key in members.keys() {
        if !matches!(key.as_str(), "name" | "configuration" | "must_understand") {
            let pointer = format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
            let message = format!("unknown member {key:?}, ignored");
            notes.push(Note { kind: NoteKind::UnknownMember, pointer, message });
        }
    }
    Ok(Spec { name: name.clone(), configuration, must_understand })
}
