//! Which type of Rust a schema is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::document::{Document, reference, text, texts};
use super::text::camel;

/// Members of answers that are instants: the document says only that they are texts.
const INSTANTS: [&str; 38] = [
    "at",
    "clock_time",
    "confirmed_at",
    "contents_until",
    "counted_to",
    "created_at",
    "current_time",
    "due",
    "end_time",
    "expires_at",
    "first",
    "from",
    "idle_expires_at",
    "last",
    "last_seen_at",
    "latest_time",
    "leased_until",
    "left_at",
    "new_time",
    "next",
    "oldest",
    "origin_host",
    "origin_virtual",
    "paused_at",
    "reached",
    "recorded_at",
    "recorded_before",
    "revoked_at",
    "searched_to",
    "set_at",
    "since",
    "time",
    "timestamp",
    "to",
    "until",
    "not_before",
    "ended_at",
    "erased_at",
];
/// Those that only look so.
const NO_INSTANTS: [(&str, &str); 1] = [("DeliverBody", "to")];
/// Members of answers that have a type of their own.
const OWN: [(&str, &str, &str); 2] = [("ClockBody", "state", "Running"), ("SettledBody", "state", "AdvanceState")];
/// What inline sets of words are called.
const WORDS: [(&str, &str, &str, &str); 5] = [
    ("KeyRequest", "scopes", "KeyScope", "What an API key can be used for."),
    ("RestrictRequest", "restriction_level", "RestrictionLevel", "How far somebody may travel in time."),
    ("proof", "format", "ProofFormat", "How a proof is written."),
    ("export_events", "format", "ExportFormat", "How exported events are written."),
    ("import_events", "format", "FileFormat", "How a file with events is written."),
];
/// What is said of others.
const SOME_WORDS: &str = "One of several words.";
/// Parameters of a query that are lists, with commas.
const LISTS: [&str; 3] = ["kinds", "include", "topics"];
/// Members for which null says something else than nothing does.
const CLEARED: [(&str, &str); 4] = [
    ("ChangeTimerRequest", "order_key"),
    ("SetFaultRequest", "fault"),
    ("SetRetentionRequest", "reads"),
    ("SetRetentionRequest", "refusals"),
];

/// A type of Rust.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Instant,
    Length,
    Moment,
    Bucket,
    TimeRange,
    Bool,
    U32,
    U64,
    I64,
    F64,
    /// Any JSON.
    Any,
    /// Any object.
    Object,
    /// Attributes that are looked for, each by its key.
    Attributes,
    Map(Box<Shape>),
    List(Box<Shape>),
    /// A type of `schemas`, or one of the client's own.
    Named(String),
}

/// A type, and whether it may be null.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) shape: Shape,
    pub(super) is_nullable: bool,
}

/// Finds types, and collects those that have no name in the document.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    document: &'a Document,
    /// Sets of words that stand where they are used.
    pub(super) inline: BTreeMap<String, Value>,
}

impl<'a> Shapes<'a> {
    pub(super) const fn new(document: &'a Document) -> Self {
        Self { document, inline: BTreeMap::new() }
    }

    /// Returns the type of a member of something: of a schema, or of an operation's query.
    pub(super) fn of(&mut self, schema: &Value, owner: &str, member: &str) -> Typed {
        if let Some(alternatives) = schema["oneOf"].as_array().filter(|alternatives| alternatives.len() == 2)
            && alternatives[1] == json!({ "type": "null" })
        {
            return Typed { is_nullable: true, ..self.of(&alternatives[0], owner, member) };
        }
        let is_nullable = kinds(schema).iter().any(|kind| kind == "null");
        Typed { shape: self.shape(schema, owner, member), is_nullable }
    }

    fn shape(&mut self, schema: &Value, owner: &str, member: &str) -> Shape {
        let is = |row: &(&str, &str)| *row == (owner, member);
        if let Some((.., name)) = OWN.iter().find(|(of, named, _)| is(&(*of, *named))) {
            return Shape::Named((*name).to_owned());
        }
        if let Some(name) = reference(schema) {
            return Shape::Named(name.to_owned());
        }
        if member == "attribute" {
            return Shape::Attributes;
        }
        let words = texts(&schema["enum"]);
        if !words.is_empty() {
            let named =
                WORDS.iter().find(|(of, named, ..)| is(&(*of, *named))).map(|(_, _, name, _)| (*name).to_owned());
            let name = named.unwrap_or_else(|| camel(owner) + &camel(member));
            self.inline.insert(name.clone(), schema.clone());
            return Shape::Named(name);
        }
        let kinds: Vec<String> = kinds(schema).into_iter().filter(|kind| kind != "null").collect();
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        match (kinds.as_slice(), schema["format"].as_str().unwrap_or_default()) {
            (_, "moment") => Shape::Moment,
            (["string"], "timestamp" | "expiry") => Shape::Instant,
            (["string"], "length-of-time" | "whole-seconds") => Shape::Length,
            (["string", "integer"], "length-of-time") => Shape::Bucket,
            (["string"], "time-range") => Shape::TimeRange,
            (["string"], _) if LISTS.contains(&member) => Shape::List(Box::new(Shape::Text)),
            (["string"], "") if is_instant(owner, member) => Shape::Instant,
            (["string"], _) => Shape::Text,
            (["boolean"], _) => Shape::Bool,
            (["integer"], format) => integer(schema, format),
            (["number"], _) => Shape::F64,
            (["array"] | ["array", "string"], _) => Shape::List(Box::new(self.shape(&schema["items"], owner, member))),
            (["object"], _) => match &schema["additionalProperties"] {
                values @ Value::Object(_) => Shape::Map(Box::new(self.shape(values, owner, member))),
                _ => Shape::Object,
            },
            _ => Shape::Any,
        }
    }

    /// Returns what is said of words that stand where they are used.
    pub(super) fn about_words(name: &str) -> &'static str {
        WORDS.iter().find(|(_, _, named, _)| *named == name).map_or(SOME_WORDS, |(.., about)| about)
    }

    /// Returns whether null says something else than nothing does.
    pub(super) fn is_cleared(owner: &str, member: &str) -> bool {
        CLEARED.contains(&(owner, member))
    }

    /// Returns the schema of a named type.
    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.inline.get(name).or_else(|| self.document.schemas.get(name))
    }

    /// Returns whether a type is one of several, each of which can be given for it.
    pub(super) fn is_union(&self, name: &str) -> bool {
        self.named(name).is_some_and(|schema| schema["oneOf"].is_array() && !is_tagged(schema))
    }
}

/// Returns whether the alternatives of a schema are told apart by a word.
pub(super) fn is_tagged(schema: &Value) -> bool {
    let alternatives = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    !alternatives.is_empty() && alternatives.iter().all(|one| one["properties"]["kind"]["enum"].is_array())
}

fn is_instant(owner: &str, member: &str) -> bool {
    owner.ends_with("Body") && INSTANTS.contains(&member) && !NO_INSTANTS.contains(&(owner, member))
}

fn integer(schema: &Value, format: &str) -> Shape {
    let most = schema["maximum"].as_u64();
    let is_signed = schema["minimum"].as_i64().is_none_or(|least| least < 0);
    match format {
        _ if is_signed => Shape::I64,
        "int32" => Shape::U32,
        _ if most.is_some_and(|most| u32::try_from(most).is_ok()) => Shape::U32,
        _ => Shape::U64,
    }
}

fn kinds(schema: &Value) -> Vec<String> {
    match &schema["type"] {
        Value::String(_) => vec![text(&schema["type"])],
        several => texts(several),
    }
}

impl Shape {
    /// Returns the type of a field.
    pub(super) fn rust(&self) -> String {
        match self {
            Self::Text => "String".to_owned(),
            Self::Instant => "Instant".to_owned(),
            Self::Length => "Length".to_owned(),
            Self::Moment => "Moment".to_owned(),
            Self::Bucket => "Bucket".to_owned(),
            Self::TimeRange => "TimeRange".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::U32 => "u32".to_owned(),
            Self::U64 => "u64".to_owned(),
            Self::I64 => "i64".to_owned(),
            Self::F64 => "f64".to_owned(),
            Self::Any => "Value".to_owned(),
            Self::Object | Self::Attributes => "Map<String, Value>".to_owned(),
            Self::Map(of) => format!("std::collections::BTreeMap<String, {}>", of.rust()),
            Self::List(of) => format!("Vec<{}>", of.rust()),
            Self::Named(name) => name.clone(),
        }
    }

    /// Returns whether more than one type is taken for it.
    fn is_converted(&self, shapes: &Shapes<'_>) -> bool {
        match self {
            Self::Text | Self::Length | Self::Moment | Self::Bucket | Self::TimeRange | Self::Any => true,
            Self::Named(name) => shapes.is_union(name),
            _ => false,
        }
    }

    /// Returns the type of an argument.
    pub(super) fn argument(&self, shapes: &Shapes<'_>) -> String {
        match self {
            Self::List(of) => format!("impl IntoIterator<Item = {}>", of.argument(shapes)),
            Self::Map(of) => format!("impl IntoIterator<Item = (impl Into<String>, {})>", of.argument(shapes)),
            _ if self.is_converted(shapes) => format!("impl Into<{}>", self.rust()),
            _ => self.rust(),
        }
    }

    /// Returns the statement that makes a field of an argument; empty where they are the same.
    pub(super) fn conversion(&self, name: &str, shapes: &Shapes<'_>) -> String {
        match self {
            Self::List(of) if of.is_converted(shapes) => {
                format!("let {name}: {} = {name}.into_iter().map(Into::into).collect();", self.rust())
            }
            Self::Map(of) => {
                let value = if of.is_converted(shapes) { "value.into()" } else { "value" };
                let pair = format!("|(key, value)| (key.into(), {value})");
                format!("let {name}: {} = {name}.into_iter().map({pair}).collect();", self.rust())
            }
            Self::List(_) => format!("let {name}: {} = {name}.into_iter().collect();", self.rust()),
            _ if self.is_converted(shapes) => format!("let {name}: {} = {name}.into();", self.rust()),
            _ => String::new(),
        }
    }
}

impl Typed {
    /// Returns the type of an argument that may be null on purpose.
    pub(super) fn argument(&self, owner: &str, member: &str, shapes: &Shapes<'_>) -> String {
        if Shapes::is_cleared(owner, member) {
            return format!("impl Into<Option<{}>>", self.shape.rust());
        }
        self.shape.argument(shapes)
    }

    /// Returns the statement that makes a value of such an argument.
    pub(super) fn conversion(&self, owner: &str, member: &str, shapes: &Shapes<'_>) -> String {
        let name = super::text::snake(member);
        if Shapes::is_cleared(owner, member) {
            return format!("let {name}: Option<{}> = {name}.into();", self.shape.rust());
        }
        self.shape.conversion(&name, shapes)
    }
}
