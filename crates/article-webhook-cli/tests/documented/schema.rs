//! Reads as much of JSON Schema as `schema.json` uses.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../schema.json");

/// The type of a line, which has all that the schema says of it and no more.
pub(crate) fn type_of(line: &Value) -> String {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let name = line["type"].as_str().unwrap_or_else(|| panic!("without a type: {line}"));
    let of_type = &schema["$defs"][name];
    assert!(of_type.is_object(), "schema.json has no {name}: {line}");
    if let Err(why) = follows(line, of_type, &schema["$defs"]) {
        panic!("{name}{why}: {line}");
    }
    name.to_owned()
}

fn follows(value: &Value, schema: &Value, defs: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        return follows(value, &defs[name.strip_prefix("#/$defs/").unwrap()], defs);
    }
    let is_of = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("another type: {other}"),
    };
    let types = &schema["type"];
    if !types.is_null()
        && !types.as_array().map_or_else(|| is_of(types), |all| all.iter().any(is_of))
    {
        return Err(format!(" is no {types}"));
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Err(format!(" is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        return Err(format!(" is none of {}", schema["enum"]));
    }
    if schema["format"] == "date-time"
        && value.as_str().is_some_and(|time| humantime::parse_rfc3339(time).is_err())
    {
        return Err(" is no time".to_owned());
    }
    let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
    if let Some(name) = schema["required"].as_array().and_then(|all| all.iter().find(missing)) {
        return Err(format!(" lacks {name}"));
    }
    for item in value.as_array().into_iter().flatten() {
        follows(item, &schema["items"], defs).map_err(|why| format!(", an item{why}"))?;
    }
    for (name, value) in
        value.as_object().filter(|_| schema["properties"].is_object()).into_iter().flatten()
    {
        let of_name = schema["properties"].get(name).ok_or(format!(" has {name}, too"))?;
        follows(value, of_name, defs).map_err(|why| format!(".{name}{why}"))?;
    }
    Ok(())
}
