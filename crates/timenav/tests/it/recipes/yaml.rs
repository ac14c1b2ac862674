//! YAML files of recipes, as JSON.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value};

/// Parses the documents of a file. Anchors and merge keys (`<<`) are resolved.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let documents = Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    documents.iter().map(json).collect()
}

/// Parses a file with one document.
pub(super) fn document(text: &str) -> Value {
    let [document] = <[Value; 1]>::try_from(documents(text)).unwrap();
    document
}

fn json(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(is_so)) => (*is_so).into(),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::FloatingPoint(number)) => number.into_inner().into(),
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(members) => {
            let (mut own, mut merged) = (Map::new(), Map::new());
            for (name, value) in members {
                match name.as_str().expect("names are texts") {
                    "<<" => merged.extend(json(value).as_object().expect("a mapping is merged").clone()),
                    name => {
                        own.insert(name.to_owned(), json(value));
                    }
                }
            }
            merged.extend(own);
            Value::Object(merged)
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the texts of a list; empty if it is missing.
pub(super) fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn own_members_override_merged_ones() {
    let text = "a: &a { x: 1, y: [1.5, true, null] }\nb:\n  z: 2\n  <<: *a\n  x: '3'\n";
    let expected = serde_json::json!({
        "a": { "x": 1, "y": [1.5, true, null] },
        "b": { "x": "3", "y": [1.5, true, null], "z": 2 },
    });
    assert_eq!(document(text), expected);
}
