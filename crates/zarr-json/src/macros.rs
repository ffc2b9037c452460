//! The macro `json!`.

/// Returns a [`Value`](crate::Value) from a literal in the syntax of JSON. Members stay in their order. A name or value
/// may be an expression: names become text, values a `Value` by `From`; they are cloned, not moved.
///
/// ```
/// use zarr_json::json;
/// let levels = [1, 2];
/// let value = json!({ "units": "K", "levels": levels, "range": [-0.5, null], "more": { "depth": levels.len() } });
/// assert_eq!(value.as_raw(), r#"{"units":"K","levels":[1,2],"range":[-0.5,null],"more":{"depth":2}}"#);
/// ```
#[macro_export]
macro_rules! json {
    (null) => { $crate::Value::null() };
    ([]) => { $crate::Value::from(::std::vec::Vec::<$crate::Value>::new()) };
    ({}) => { $crate::Value::from($crate::Object::new()) };
    ([ $($elements:tt)+ ]) => {{
        let mut elements = ::std::vec::Vec::<$crate::Value>::new();
        $crate::json!(@elements elements $($elements)+);
        $crate::Value::from(elements)
    }};
    ({ $($members:tt)+ }) => {{
        let mut members = ::std::vec::Vec::<(::std::string::String, $crate::Value)>::new();
        $crate::json!(@members members $($members)+);
        $crate::Value::from(members.into_iter().collect::<$crate::Object>())
    }};
    (@elements $list:ident) => {};
    (@elements $list:ident $value:tt $(, $($rest:tt)*)?) => {
        $list.push($crate::json!($value));
        $crate::json!(@elements $list $($($rest)*)?);
    };
    (@elements $list:ident $value:expr $(, $($rest:tt)*)?) => {
        $list.push($crate::json!($value));
        $crate::json!(@elements $list $($($rest)*)?);
    };
    (@members $list:ident) => {};
    (@members $list:ident $name:tt : $value:tt $(, $($rest:tt)*)?) => {
        $list.push((::std::string::ToString::to_string(&$name), $crate::json!($value)));
        $crate::json!(@members $list $($($rest)*)?);
    };
    (@members $list:ident $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $list.push((::std::string::ToString::to_string(&$name), $crate::json!($value)));
        $crate::json!(@members $list $($($rest)*)?);
    };
    ($value:expr) => { $crate::Value::from(::std::clone::Clone::clone(&$value)) };
}
