//! The OpenAPI document, as far as the generator reads it.

use std::collections::BTreeSet;

use anyhow::Context;
use serde_json::{Map, Value};

/// Where something is told to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    /// A member of a JSON object.
    Body,
}

/// One parameter of a call.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) schema: Value,
    pub(super) is_required: bool,
    pub(super) about: String,
}

/// What an operation takes as its body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Nothing,
    /// An object, whose members are parameters.
    Members,
    /// Any other JSON, of this schema.
    Json(Value),
    /// A file, of one of these kinds.
    File(Vec<String>),
}

/// One operation of the API.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) content: Content,
    /// The name of the schema of the body.
    pub(super) body_name: String,
    /// The body of success by its media type.
    pub(super) answers: Map<String, Value>,
}

/// The document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) schemas: Map<String, Value>,
    pub(super) operations: Vec<Operation>,
}

impl Document {
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let told: Value = serde_json::from_str(text).context("the document is not JSON")?;
        let schemas = told["components"]["schemas"].as_object().context("the document has no schemas")?.clone();
        let mut document = Self { schemas, operations: Vec::new() };
        let paths = told["paths"].as_object().context("the document has no paths")?;
        let all =
            paths.iter().flat_map(|(path, item)| item.as_object().into_iter().flatten().map(move |one| (path, one)));
        document.operations = all.map(|(path, (method, told))| document.operation(path, method, told)).collect();
        Ok(document)
    }

    /// Follows a reference.
    pub(super) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match reference(schema).and_then(|name| self.schemas.get(name)) {
            Some(schema) => self.resolve(schema),
            None => schema,
        }
    }

    /// Returns the members of an object, of all parts that it is made of, and which of them it needs.
    pub(super) fn members(&self, schema: &Value) -> (Map<String, Value>, Vec<String>) {
        let schema = self.resolve(schema);
        let mut members = schema["properties"].as_object().cloned().unwrap_or_default();
        let mut required: Vec<String> = texts(&schema["required"]);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let (more, needed) = self.members(part);
            members.extend(more);
            required.extend(needed);
        }
        (members, required)
    }

    /// Adds the names of all schemas that one leads to.
    pub(super) fn reach(&self, schema: &Value, found: &mut BTreeSet<String>) {
        if let Some(name) = reference(schema)
            && found.insert(name.to_owned())
            && let Some(schema) = self.schemas.get(name)
        {
            self.reach(schema, found);
        }
        match schema {
            Value::Object(members) => members.values().for_each(|value| self.reach(value, found)),
            Value::Array(items) => items.iter().for_each(|value| self.reach(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn operation(&self, path: &str, method: &str, told: &Value) -> Operation {
        let mut parameters: Vec<Parameter> =
            told["parameters"].as_array().into_iter().flatten().map(parameter).collect();
        let kinds = told["requestBody"]["content"].as_object().cloned().unwrap_or_default();
        let schema = kinds.values().next().map(|content| content["schema"].clone()).unwrap_or_default();
        let (members, required) = self.members(&schema);
        let content = if kinds.is_empty() {
            Content::Nothing
        } else if self.resolve(&schema)["format"] == "binary" {
            Content::File(kinds.keys().cloned().collect())
        } else if members.is_empty() {
            Content::Json(schema.clone())
        } else {
            // What is required comes in the order in which the schema names it.
            let order = |name: &String| required.iter().position(|other| other == name).unwrap_or(usize::MAX);
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by_key(|(name, _)| order(name));
            parameters.extend(members.into_iter().map(|(name, schema)| Parameter {
                is_required: required.contains(&name),
                about: about(&schema),
                place: Place::Body,
                schema,
                name,
            }));
            Content::Members
        };
        let responses = told["responses"].as_object().into_iter().flatten();
        let success = responses.into_iter().find(|(status, _)| status.starts_with('2')).map(|(_, answer)| answer);
        let answers = success.and_then(|answer| answer["content"].as_object().cloned()).unwrap_or_default();
        Operation {
            name: text(&told["operationId"]),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            summary: text(&told["summary"]),
            parameters,
            content,
            body_name: reference(&schema).unwrap_or_default().to_owned(),
            answers: answers.into_iter().map(|(kind, content)| (kind, content["schema"].clone())).collect(),
        }
    }
}

impl Operation {
    /// Returns the parameters of one place.
    pub(super) fn of(&self, place: Place) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(move |parameter| parameter.place == place)
    }

    /// Returns whether a header is taken.
    pub(super) fn takes_header(&self, name: &str) -> bool {
        self.of(Place::Header).any(|parameter| parameter.name == name)
    }

    /// Returns where the timeline is told that may be left out. A new key is bound to what is said.
    pub(super) fn optional_timeline(&self) -> Option<Place> {
        let is_optional = |one: &&Parameter| one.name == "timeline_id" && !one.is_required;
        self.parameters.iter().find(is_optional).map(|one| one.place).filter(|_| self.name != "create_api_key")
    }

    /// Returns what has to be told: first the values of the path, then the timeline.
    pub(super) fn required(&self) -> Vec<&Parameter> {
        let mut required: Vec<&Parameter> = self.parameters.iter().filter(|one| one.is_required).collect();
        required.sort_by_key(|one| match one.place {
            Place::Path => 0,
            _ if one.name == "timeline_id" => 1,
            Place::Query | Place::Header | Place::Body => 2,
        });
        required
    }

    /// Returns the schema of the answer in JSON.
    pub(super) fn json(&self) -> Option<&Value> {
        self.answers.get("application/json")
    }
}

fn parameter(told: &Value) -> Parameter {
    let place = match told["in"].as_str() {
        Some("path") => Place::Path,
        Some("header") => Place::Header,
        _ => Place::Query,
    };
    let schema = told["schema"].clone();
    let own = text(&told["description"]);
    Parameter {
        name: text(&told["name"]),
        place,
        is_required: told["required"] == true,
        about: [own, about(&schema)].into_iter().find(|told| !told.is_empty()).unwrap_or_else(|| plainly(told)),
        schema,
    }
}

/// Says of a parameter what its name says.
fn plainly(told: &Value) -> String {
    let name = text(&told["name"]);
    format!("The {}.", name.strip_suffix("_id").unwrap_or(&name).replace('_', " "))
}

/// Returns the name that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Returns what is said of a schema, by itself or by what it may be.
pub(super) fn about(schema: &Value) -> String {
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    let mut told = std::iter::once(schema).chain(alternatives).map(|one| text(&one["description"]));
    told.find(|told| !told.is_empty()).unwrap_or_default()
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the texts of a list.
pub(super) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
