//! Writes the types that calls take and answer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::{Content, Document, Place, about, reference, text, texts};
use super::head;
use super::shapes::{Shape, Shapes, Typed, is_tagged};
use super::text::{camel, docs, snake};

/// Structs with more members than that are boxed where they are one of several alternatives.
const MEMBERS_IN_PLACE_MAX: usize = 8;
/// What a type is made of.
const IMPORTS: &str = "use serde::{Deserialize, Serialize};\nuse serde_json::{Map, Value};\n\n\
    use crate::arguments::Length;\nuse crate::instant::Instant;\nuse crate::states::{AdvanceState, Running};\n\
    use crate::words::words;\n\n";

/// Which way values of a type go.
#[derive(Clone, Copy)]
struct Ways {
    is_sent: bool,
    is_answered: bool,
}

impl Ways {
    /// Returns what is derived for every type that goes that way.
    fn derived(self) -> Vec<&'static str> {
        let mut derived = vec!["Clone", "Debug", "PartialEq"];
        derived.extend(self.is_answered.then_some("Deserialize"));
        derived.extend(self.is_sent.then_some("Serialize"));
        derived
    }
}

/// Returns the file of all types that calls need.
pub(super) fn write(document: &Document, shapes: &mut Shapes<'_>) -> String {
    let (sent, answered) = needed(document);
    let mut written: Vec<(String, String)> = Vec::new();
    for name in sent.union(&answered) {
        let schema = &document.schemas[name];
        let ways = Ways { is_sent: sent.contains(name), is_answered: answered.contains(name) };
        written.push((name.clone(), named(document, shapes, name, schema, ways)));
    }
    for (name, schema) in &shapes.inline {
        written.push((name.clone(), words(name, schema, Shapes::about_words(name))));
    }
    written.sort();
    let types: Vec<String> = written.into_iter().map(|(_, text)| text).collect();
    format!("{}{IMPORTS}{}", head("What calls take and answer."), types.join("\n"))
}

/// Returns the names of types that are sent, and of those that are answered. A body whose members are arguments is no type.
fn needed(document: &Document) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for operation in &document.operations {
        for parameter in operation.parameters.iter().filter(|parameter| parameter.place != Place::Path) {
            document.reach(&parameter.schema, &mut sent);
        }
        if let Content::Json(schema) = &operation.content {
            document.reach(schema, &mut sent);
        }
        operation.answers.values().for_each(|schema| document.reach(schema, &mut answered));
    }
    (sent, answered)
}

fn named(document: &Document, shapes: &mut Shapes<'_>, name: &str, schema: &Value, ways: Ways) -> String {
    if is_tagged(schema) {
        return tagged(shapes, name, schema, ways);
    }
    if schema["oneOf"].is_array() {
        return untagged(document, shapes, name, schema, ways);
    }
    if schema["enum"].is_array() {
        return words(name, schema, "");
    }
    structure(document, shapes, name, schema, ways)
}

fn words(name: &str, schema: &Value, otherwise: &str) -> String {
    let told = text(&schema["description"]);
    let mut text = format!("words! {{\n{}    {name} {{\n", docs(if told.is_empty() { otherwise } else { &told }, 4));
    for word in texts(&schema["enum"]) {
        text += &format!("        /// `{word}`.\n        {} = {word:?},\n", camel(&word));
    }
    text + "    }\n}\n"
}

/// A member of a struct.
struct Member {
    name: String,
    wire_name: String,
    about: String,
    typed: Typed,
    is_required: bool,
}

impl Member {
    fn is_optional(&self) -> bool {
        !self.is_required || self.typed.is_nullable
    }

    fn rust(&self) -> String {
        let rust = self.typed.shape.rust();
        if self.is_optional() { format!("Option<{rust}>") } else { rust }
    }

    fn field(&self, is_sent: bool) -> String {
        let mut attributes = Vec::new();
        if self.name.trim_start_matches("r#") != self.wire_name {
            attributes.push(format!("rename = {:?}", self.wire_name));
        }
        if is_sent && self.is_optional() {
            attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
        }
        let serde =
            if attributes.is_empty() { String::new() } else { format!("#[serde({})]\n", attributes.join(", ")) };
        format!("{}{serde}pub {}: {},\n", docs(&self.about, 4), self.name, self.rust())
    }
}

fn members(document: &Document, shapes: &mut Shapes<'_>, owner: &str, schema: &Value) -> Vec<Member> {
    let (members, required) = document.members(schema);
    let mut members: Vec<Member> = members
        .into_iter()
        .map(|(wire_name, schema)| Member {
            name: snake(&wire_name),
            about: about(&schema),
            typed: shapes.of(&schema, owner, &wire_name),
            is_required: required.contains(&wire_name),
            wire_name,
        })
        .collect();
    let order = |name: &String| required.iter().position(|other| other == name).unwrap_or(usize::MAX);
    members.sort_by_key(|member| order(&member.wire_name));
    members
}

fn structure(document: &Document, shapes: &mut Shapes<'_>, name: &str, schema: &Value, ways: Ways) -> String {
    let members = members(document, shapes, name, schema);
    let mut derived = ways.derived();
    if ways.is_sent && members.iter().all(Member::is_optional) {
        derived.push("Default");
    }
    let fields: String = members.iter().map(|member| member.field(ways.is_sent)).collect();
    let mut text = format!(
        "{}#[derive({})]\n#[non_exhaustive]\npub struct {name} {{\n{fields}}}\n",
        docs(&text(&schema["description"]), 0),
        derived.join(", "),
    );
    if ways.is_sent {
        text += &construction(shapes, name, &members);
    }
    text
}

/// Returns how a value is made: of what it needs, and then of what else there is.
fn construction(shapes: &Shapes<'_>, name: &str, members: &[Member]) -> String {
    let (needed, others): (Vec<&Member>, Vec<&Member>) = members.iter().partition(|member| !member.is_optional());
    let arguments: Vec<String> =
        needed.iter().map(|one| format!("{}: {}", one.name, one.typed.shape.argument(shapes))).collect();
    let conversions: String = needed.iter().map(|one| one.typed.shape.conversion(&one.name, shapes)).collect();
    let fields: Vec<String> = needed
        .iter()
        .map(|one| one.name.clone())
        .chain(others.iter().map(|one| format!("{}: None", one.name)))
        .collect();
    let (about, made) = if needed.is_empty() {
        ("Creates one with nothing set.", "Self::default()".to_owned())
    } else {
        ("Creates one with what is required.", format!("Self {{ {} }}", fields.join(", ")))
    };
    let mut text = format!(
        "\nimpl {name} {{\n    /// {about}\n    #[must_use]\n    pub fn new({}) -> Self {{ {conversions} {made} }}\n",
        arguments.join(", ")
    );
    for one in others {
        let setter = format!(
            "\n{}    #[must_use]\n    pub fn {name}(mut self, {name}: {}) -> Self {{ {} self.{name} = Some({name}); self }}\n",
            docs(&one.about, 4),
            one.typed.shape.argument(shapes),
            one.typed.shape.conversion(&one.name, shapes),
            name = one.name,
        );
        text += &setter;
    }
    text + "}\n"
}

fn alternatives(schema: &Value) -> &[Value] {
    schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Writes alternatives that are told apart by their `kind`.
fn tagged(shapes: &mut Shapes<'_>, name: &str, schema: &Value, ways: Ways) -> String {
    let mut variants = String::new();
    for one in alternatives(schema) {
        let kind = texts(&one["properties"]["kind"]["enum"]).concat();
        let required = texts(&one["required"]);
        let members = one["properties"].as_object().into_iter().flatten().filter(|(member, _)| *member != "kind");
        let fields: String = members
            .map(|(member, schema)| {
                let typed = shapes.of(schema, name, member);
                let rust = typed.shape.rust();
                let is_optional = typed.is_nullable || !required.contains(member);
                let (skipped, rust) = if is_optional {
                    ("#[serde(skip_serializing_if = \"Option::is_none\")]\n", format!("Option<{rust}>"))
                } else {
                    ("", rust)
                };
                format!("{}{skipped}{}: {rust},\n", docs(&about(schema), 8), snake(member))
            })
            .collect();
        let fields = if fields.is_empty() { String::new() } else { format!(" {{\n{fields}}}") };
        variants += &format!("{}{}{fields},\n", docs(&text(&one["description"]), 4), camel(&kind));
    }
    if ways.is_answered {
        variants += "    /// Something that this version does not know.\n    #[serde(other)]\n    Other,\n";
    }
    format!(
        "{}#[derive({})]\n#[serde(tag = \"kind\", rename_all = \"snake_case\")]\n#[non_exhaustive]\n\
         pub enum {name} {{\n{variants}}}\n",
        docs(&text(&schema["description"]), 0),
        ways.derived().join(", "),
    )
}

/// Writes alternatives that are told apart by their shape.
fn untagged(document: &Document, shapes: &mut Shapes<'_>, name: &str, schema: &Value, ways: Ways) -> String {
    let (mut variants, mut conversions) = (String::new(), String::new());
    for one in alternatives(schema) {
        let shape = shapes.of(one, name, "").shape;
        let variant = match &shape {
            Shape::Named(name) => name.clone(),
            Shape::List(_) => "Several".to_owned(),
            Shape::Object => "Object".to_owned(),
            Shape::U32 | Shape::U64 | Shape::I64 | Shape::F64 => "Number".to_owned(),
            _ => "Text".to_owned(),
        };
        let target = reference(one).map_or(one, |name| &document.schemas[name]);
        let said = [one, target].map(about).into_iter().find(|said| !said.is_empty()).unwrap_or_default();
        let is_boxed = matches!(&shape, Shape::Named(_)) && document.members(one).0.len() > MEMBERS_IN_PLACE_MAX;
        let rust = shape.rust();
        let (held, made) = if is_boxed { (format!("Box<{rust}>"), "Box::new(value)") } else { (rust.clone(), "value") };
        variants += &format!("{}{variant}({held}),\n", docs(&said, 4));
        let from = |of: &str, made: &str| {
            format!(
                "\nimpl From<{of}> for {name} {{\n fn from(value: {of}) -> Self {{ Self::{variant}({made}) }}\n}}\n"
            )
        };
        conversions += &from(&rust, made);
        if shape == Shape::Text {
            conversions += &from("&str", "value.to_owned()");
        }
    }
    if ways.is_answered {
        variants += "    /// Something that this version does not know.\n    Other(Value),\n";
    }
    format!(
        "{}#[derive({})]\n#[serde(untagged)]\n#[non_exhaustive]\npub enum {name} {{\n{variants}}}\n{conversions}",
        docs(&text(&schema["description"]), 0),
        ways.derived().join(", "),
    )
}
