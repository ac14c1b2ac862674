//! Writes a call for every operation.

use serde_json::Value;

use super::document::{Content, Document, Operation, Parameter, Place, reference, text};
use super::head;
use super::shapes::{Shape, Shapes, Typed};
use super::text::{camel, docs, sentence, snake};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
/// Answers in JSON that may take as long as they take.
const LONG: [&str; 1] = ["detect_tampering"];
/// What the messages of a stream are.
const MESSAGES: [(&str, &str); 3] = [
    ("clock_stream", "The data of each is a [`ClockBody`](crate::ClockBody). [`Client::virtual_clock`] follows them."),
    ("firings_stream", "[`Client::watch_firings`] reads them."),
    ("stream", "The data of each is a [`StreamMessage`](crate::StreamMessage)."),
];
/// Operations whose body the client has a type of its own for, and how it is given.
pub(super) const WHOLE: [(&str, &str, &str); 1] = [("set_timer", "timer", "&crate::Timer")];
/// Headers that the client sends by itself: `Client::inside` says which firing a request comes from.
const BY_ITSELF: [&str; 1] = ["Timenav-Firing"];
const IMPORTS: &str = "use reqwest::Body;\nuse serde_json::{Map, Value};\n\n\
    use crate::arguments::{Bucket, EntityTag, Length, Moment, TimeRange};\n\
    use crate::call::{Call, List, Operation, Page, Pages, Sent, Timeline, page, sent};\nuse crate::client::Client;\n\
    use crate::error::Error;\nuse crate::instant::Instant;\nuse crate::request::Request;\n\
    use crate::response::{Events, Response};\nuse crate::schemas;\nuse crate::sse::SentEvent;\nuse crate::watch::Watch;\n\n";

/// Returns the file of all calls.
pub(super) fn write(document: &Document, shapes: &mut Shapes<'_>) -> String {
    let calls: Vec<String> = document.operations.iter().map(|operation| call(document, shapes, operation)).collect();
    let mut pages: Vec<String> = document.operations.iter().filter_map(|operation| page(document, operation)).collect();
    pages.sort();
    pages.dedup();
    // A type of the API is named with its module, so that nothing is imported that is not used.
    format!("{}{IMPORTS}{}\n{}", head("Every operation of the API."), calls.join("\n"), pages.concat())
}

/// Returns a text in which types of the API are named with their module, other than in comments.
fn qualified(text: &str, shapes: &Shapes<'_>) -> String {
    let is_of_path = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    let line = |line: &str| {
        if line.trim_start().starts_with("///") {
            return format!("{line}\n");
        }
        let (mut told, mut word) = (String::new(), String::new());
        for sign in line.chars().chain(['\n']) {
            if is_of_path(sign) {
                word.push(sign);
                continue;
            }
            if shapes.named(&word).is_some() {
                told += "schemas::";
            }
            told += &std::mem::take(&mut word);
            told.push(sign);
        }
        told
    };
    text.lines().map(line).collect()
}

/// Returns whose member a parameter is.
pub(super) fn owner<'a>(operation: &'a Operation, parameter: &Parameter) -> &'a str {
    if parameter.place == Place::Body { &operation.body_name } else { &operation.name }
}

pub(super) fn typed(shapes: &mut Shapes<'_>, operation: &Operation, parameter: &Parameter) -> Typed {
    match parameter.place {
        Place::Path => Typed { shape: Shape::Text, is_nullable: false },
        _ => shapes.of(&parameter.schema, owner(operation, parameter), &parameter.name),
    }
}

/// Returns the argument that stands for the whole body: its name and its type.
fn whole(shapes: &Shapes<'_>, operation: &Operation) -> Option<(String, String)> {
    if let Some((_, name, typed)) = WHOLE.iter().find(|(of, ..)| *of == operation.name) {
        return Some(((*name).to_owned(), (*typed).to_owned()));
    }
    let Content::Json(schema) = &operation.content else { return None };
    let name = reference(schema).unwrap_or_default();
    let shape = Shape::Named(name.to_owned());
    let argument = if name.starts_with("Events") { "events" } else { "body" };
    Some((argument.to_owned(), shape.argument(shapes)))
}

/// Returns whether a body is given as a whole instead of by its members.
pub(super) fn is_whole(operation: &Operation) -> bool {
    WHOLE.iter().any(|(of, ..)| *of == operation.name)
}

fn call(document: &Document, shapes: &mut Shapes<'_>, operation: &Operation) -> String {
    let name = format!("{}Call", camel(&operation.name));
    let is_file = matches!(operation.content, Content::File(_));
    let about = docs(
        &format!("{} (`{} {}`).", sentence(&operation.summary).trim_end_matches('.'), operation.method, operation.path),
        0,
    );
    let derived = if is_file { "Debug" } else { "Clone, Debug" };
    let content = if is_file { " content: Body," } else { "" };
    let methods: String = setters(shapes, operation) + &ways(document, operation);
    let methods = if methods.is_empty() { String::new() } else { format!("\nimpl<'a> {name}<'a> {{\n{methods}}}\n") };
    let methods = if methods.contains("'a> {") && !methods.contains("Sent<'a") && !methods.contains("Pages<'a") {
        methods.replace("impl<'a>", "impl").replace("<'a> {", "<'_> {")
    } else {
        methods
    };
    let text = format!(
        "{about}#[must_use = \"a call is sent when it is awaited\"]\n#[derive({derived})]\n\
         pub struct {name}<'a> {{\n    call: Call<'a>,{content}\n}}\n{methods}\n{}\n\n{}",
        answered(shapes, operation, &name),
        beginning(shapes, operation, &name),
    );
    qualified(&text, shapes)
}

/// Returns how the answer is read.
fn answered(_: &Shapes<'_>, operation: &Operation, name: &str) -> String {
    let kinds = &operation.answers;
    if let Some(answer) = operation.json() {
        let answer = reference(answer).unwrap_or("Value");
        return match &operation.content {
            Content::File(kinds) => {
                let kind = kinds.iter().find(|kind| *kind == BYTES).or(kinds.first()).map_or(BYTES, String::as_str);
                format!("sent!({name}, {answer}, upload {kind:?});")
            }
            _ => format!("sent!({name}, {answer}, json);"),
        };
    }
    if kinds.contains_key(EVENTS) {
        format!("sent!({name}, Watch<SentEvent>, watch);")
    } else if kinds.contains_key(BYTES) {
        format!("sent!({name}, Vec<u8>, bytes);")
    } else {
        format!("sent!({name}, Response, response);")
    }
}

/// Returns the method of the client that begins the call.
fn beginning(shapes: &mut Shapes<'_>, operation: &Operation, name: &str) -> String {
    let (mut arguments, mut told, mut body) = (Vec::new(), Vec::new(), String::new());
    for one in operation.required() {
        if one.place == Place::Body && is_whole(operation) {
            continue;
        }
        let argument = snake(&one.name);
        told.push(format!("- `{argument}`: {}", sentence(&one.about)));
        if one.place == Place::Path {
            arguments.push(format!("{argument}: &str"));
            continue;
        }
        let typed = typed(shapes, operation, one);
        let owner = owner(operation, one);
        arguments.push(format!("{argument}: {}", typed.argument(owner, &one.name, shapes)));
        body += &format!(
            "{} call.{}({:?}, {argument});",
            typed.conversion(owner, &one.name, shapes),
            adding(one),
            one.name
        );
    }
    if let Some((argument, typed)) = whole(shapes, operation) {
        body += &if is_whole(operation) {
            format!("call.members({argument}.members());")
        } else {
            let converted = typed.trim_start_matches("impl Into<").trim_end_matches('>');
            format!("let {argument}: {converted} = {argument}.into(); call.whole({argument});")
        };
        arguments.push(format!("{argument}: {typed}"));
    }
    let is_file = matches!(operation.content, Content::File(_));
    if is_file {
        arguments.push("content: impl Into<Body>".to_owned());
    }
    let mut about = docs(
        &format!("{} (`{} {}`).", sentence(&operation.summary).trim_end_matches('.'), operation.method, operation.path),
        4,
    );
    if let Some((_, messages)) = MESSAGES.iter().find(|(of, _)| *of == operation.name) {
        about += &format!("    ///\n{}", docs(&format!("Messages come across lost connections. {messages}"), 4));
    }
    if !told.is_empty() {
        about += "    ///\n";
        about.extend(
            told.iter()
                .map(|line| docs(line, 4).replace("    /// ", "    ///   ").replacen("    ///   ", "    /// ", 1)),
        );
    }
    let values: Vec<String> = placeholders(operation).iter().map(|name| snake(name)).collect();
    let mutable = if body.is_empty() { "" } else { "mut " };
    format!(
        "impl Client {{\n{about}    pub fn {}(&self, {}) -> {name}<'_> {{\n\
         const SENT: Operation = {};\n let {mutable}call = Call::new(self, &SENT, &[{}]);\n{body}\n\
         {name} {{ call{} }}\n    }}\n}}",
        snake(&operation.name),
        arguments.join(", "),
        sending(operation),
        values.join(", "),
        if is_file { ", content: content.into()" } else { "" },
    )
}

/// Returns the method of a call by which a parameter is added.
fn adding(parameter: &Parameter) -> &'static str {
    if parameter.place == Place::Body { "member" } else { "query" }
}

/// Returns the names of the values in a path.
pub(super) fn placeholders(operation: &Operation) -> Vec<String> {
    let segments = operation.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    segments.map(str::to_owned).collect()
}

/// Returns how an operation is sent.
fn sending(operation: &Operation) -> String {
    let segments: Vec<String> = operation
        .path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| {
            let named = |one: &&Parameter| segment == format!("{{{}}}", one.name);
            match operation.of(Place::Path).find(named) {
                None => format!("{segment:?}"),
                Some(one) if text(&one.schema["pattern"]).contains('/') => "\"{/}\"".to_owned(),
                Some(_) => "\"{}\"".to_owned(),
            }
        })
        .collect();
    let mut sending = format!("Operation::new({:?}, &[{}])", operation.method, segments.join(", "));
    if operation.takes_header("Idempotency-Key") {
        sending += ".once()";
    }
    if matches!(operation.content, Content::Members | Content::Json(_)) {
        sending += ".body()";
    }
    match operation.optional_timeline() {
        Some(Place::Body) => sending += ".timeline(Timeline::InBody)",
        Some(_) => sending += ".timeline(Timeline::InQuery)",
        None => {}
    }
    if LONG.contains(&operation.name.as_str()) {
        sending += ".long()";
    }
    sending
}

/// Returns the methods that say what may be left out.
fn setters(shapes: &mut Shapes<'_>, operation: &Operation) -> String {
    let mut text = String::new();
    for one in operation.parameters.iter().filter(|one| !one.is_required) {
        if BY_ITSELF.contains(&one.name.as_str())
            || (one.place == Place::Body && is_whole(operation) && one.name != "timeline_id")
        {
            continue;
        }
        let (argument, about) = (snake(&one.name), docs(&sentence(&one.about), 4));
        if one.place == Place::Header {
            text += &header(one, &argument, &about);
            continue;
        }
        let typed = typed(shapes, operation, one);
        if typed.shape == Shape::Attributes {
            text += &format!(
                "{about}    pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {{\n\
                 self.call.{}_attribute(key, value.into());\n self }}\n\n",
                adding(one)
            );
            continue;
        }
        let owner = owner(operation, one);
        let longer = if one.name == "wait" && typed.shape == Shape::Length { "self.call.longer(&wait);" } else { "" };
        text += &format!(
            "{about}    pub fn {argument}(mut self, {argument}: {}) -> Self {{\n{} {longer} self.call.{}({:?}, {argument});\n\
             self }}\n\n",
            typed.argument(owner, &one.name, shapes),
            typed.conversion(owner, &one.name, shapes),
            adding(one),
            one.name,
        );
    }
    if matches!(operation.content, Content::File(_)) {
        text += "    /// Of what kind the content is, by its media type.\n    pub fn content_type(mut self, kind: impl \
                 Into<String>) -> Self {\n self.call.head(\"content-type\", kind.into());\n self }\n\n";
    }
    text
}

fn header(parameter: &Parameter, argument: &str, about: &str) -> String {
    let wire_name = parameter.name.to_ascii_lowercase();
    let (name, kind, said) = match wire_name.as_str() {
        "if-match" => {
            return format!(
                "{about}    pub fn if_match(mut self, tag: impl Into<EntityTag>) -> Self {{\n\
                 self.call.if_match(tag.into());\n self }}\n\n"
            );
        }
        "last-event-id" => ("after", "last_event_id", "last_event_id.into()".to_owned()),
        "idempotency-key" => ("idempotency_key", "key", "key.into()".to_owned()),
        _ => (argument, argument, format!("{argument}.into()")),
    };
    format!(
        "{about}    pub fn {name}(mut self, {kind}: impl Into<String>) -> Self {{\n\
         self.call.head({wire_name:?}, {said});\n self }}\n\n"
    )
}

/// Returns the methods for answers of other kinds.
fn ways(document: &Document, operation: &Operation) -> String {
    let mut text = String::new();
    if operation.answers.contains_key(JSON) && operation.answers.contains_key(TEXT) {
        text += "    /// Sends the call, and returns the signed text, to be kept and checked elsewhere.\n    #[must_use = \"it is sent when it is awaited\"]\n    \
                 pub fn text(self) -> Sent<'a, String> { self.call.text() }\n\n";
    }
    if operation.answers.contains_key(JSON) && operation.answers.contains_key(EVENTS) {
        text += "    /// Sends the call, and returns messages that say how far it has come, and then the result.\n    #[must_use = \"it is sent when it is awaited\"]\n    \
                 pub fn events(self) -> Sent<'a, Events> { self.call.events() }\n\n";
    }
    if let Some(page) = paged(document, operation) {
        text += &format!(
            "    /// Returns page after page, each asked for when it is wanted.\n    #[must_use]\n    \
             pub fn pages(self) -> Pages<'a, {page}> {{ Pages::new(self.call) }}\n\n"
        );
    }
    text
}

/// Returns the type of an answer that is a page.
pub(super) fn paged(document: &Document, operation: &Operation) -> Option<String> {
    let name = operation.json().and_then(reference)?;
    let (members, _) = document.members(&document.schemas[name]);
    members.contains_key("next_cursor").then(|| name.to_owned())
}

/// Returns what a page has.
fn page(document: &Document, operation: &Operation) -> Option<String> {
    let name = paged(document, operation)?;
    let (members, _) = document.members(&document.schemas[&name]);
    // What is gone is told beside what is listed.
    let lists = members.iter().filter(|(member, schema)| !schema["items"].is_null() && *member != "gone");
    let lists: Vec<(&String, &str)> =
        lists.map(|(member, schema): (_, &Value)| (member, reference(&schema["items"]).unwrap_or("Value"))).collect();
    Some(match lists.as_slice() {
        [(member, of)] => format!("page!(schemas::{name}, {member}, schemas::{of});\n"),
        _ => format!("page!(schemas::{name});\n"),
    })
}
