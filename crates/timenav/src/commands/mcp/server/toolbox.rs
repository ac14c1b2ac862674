//! Tools come from the operations table and the OpenAPI document, so a new operation becomes a tool automatically.

use std::collections::BTreeMap;

use anyhow::Context as _;
use reqwest::Method;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::operation::{CallRoute, Head, Operation, REACHES_FORKS, TIMELINE};
use super::schema::{self, resolved};
use super::scope::{Scope, flag};
use super::{elapse, waiting};
use crate::commands::reference::operations::{Agents, OPERATIONS};

/// Creates timelines: its timeline id is not that of the agent.
const CREATE: &str = "POST /timelines";
/// Operations about the service and the caller, without a timeline.
pub(super) const ABOUT_THE_SERVICE: [&str; 2] = ["GET /v1/limits", "GET /v1/session"];
/// Idempotent operations in addition to reads and deletions.
pub(super) const SETS: [&str; 8] = [
    "POST /v1/pause-time",
    "POST /v1/resume-time",
    "POST /v1/set-rate",
    "POST /v1/firings/ack",
    "POST /v1/set-access-control",
    "POST /v1/set-retention",
    "POST /v1/restrict-time-travel",
    "POST /v1/correct-event",
];

pub(super) struct Toolbox {
    offered: BTreeMap<String, Offer>,
    /// Tools that are not allowed, with the flag that allows them.
    withheld: BTreeMap<String, Option<&'static str>>,
}

pub(super) struct Offer {
    pub(super) tool: Tool,
    pub(super) does: ToolKind,
}

pub(super) enum ToolKind {
    Operation(Operation),
    WaitFor,
    Elapse,
}

impl Toolbox {
    /// Never fails: the document is embedded, and a test parses it.
    pub(super) fn new(scope: Scope, pinned: Option<&str>) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(timenav_http::openapi_json()).context("the document is JSON")?;
        let mut toolbox = Self { offered: BTreeMap::new(), withheld: BTreeMap::new() };
        for row in OPERATIONS {
            let (method, path) = row.name.split_once(' ').context("an operation is a method and a path")?;
            let described = &document["paths"][path][method.to_lowercase()];
            let name = described["operationId"].as_str().context("an operation has an id")?.to_owned();
            if !scope.permits(row.agents) {
                toolbox.withheld.insert(name, flag(row.agents));
                continue;
            }
            let reader = Reader { document: &document, row: row.name, described, is_pinned: pinned.is_some() };
            match reader.offer(&name, row.agents, Method::from_bytes(method.as_bytes())?, path) {
                Some(offer) => toolbox.offered.insert(name, offer).is_none(),
                None => toolbox.withheld.insert(name, None).is_none(),
            };
        }
        let own = |tool: Tool, does| (tool.name.to_string(), Offer { tool, does });
        toolbox.offered.extend([own(waiting::tool(scope, pinned.is_some()), ToolKind::WaitFor)]);
        if scope.travel {
            toolbox.offered.extend([own(elapse::tool(pinned.is_some()), ToolKind::Elapse)]);
        } else {
            toolbox.withheld.insert(elapse::NAME.to_owned(), flag(Agents::Travel));
        }
        Ok(toolbox)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Offer> {
        self.offered.get(name)
    }

    pub(super) fn tools(&self) -> Vec<Tool> {
        self.offered.values().map(|offer| offer.tool.clone()).collect()
    }

    pub(super) fn missing(&self, name: &str) -> String {
        match self.withheld.get(name) {
            Some(Some(flag)) => format!("`{name}` is not allowed: `timenav mcp` was started without {flag}"),
            Some(None) => format!("`{name}` is not available to agents, or not to those with a fixed timeline"),
            None => format!("there is no tool `{name}`"),
        }
    }
}

struct Reader<'a> {
    document: &'a Value,
    row: &'a str,
    described: &'a Value,
    is_pinned: bool,
}

#[derive(Default)]
struct Arguments {
    properties: Map<String, Value>,
    goes: BTreeMap<String, CallRoute>,
    required: Vec<String>,
}

impl Arguments {
    fn add(&mut self, name: &str, goes: CallRoute, is_required: bool, schema: Value) {
        if self.goes.contains_key(name) {
            return;
        }
        self.goes.insert(name.to_owned(), goes);
        self.properties.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.to_owned());
        }
    }

    fn hide(&mut self, name: &str) {
        self.properties.remove(name);
        self.required.retain(|required| required != name);
    }
}

impl Reader<'_> {
    /// Returns the tool for an operation, or `None` if it would let a pinned agent reach other timelines.
    fn offer(&self, name: &str, agents: Agents, method: Method, path: &str) -> Option<Offer> {
        let mut arguments = self.arguments();
        if self.is_pinned {
            let is_about_it = arguments.goes.contains_key(TIMELINE) && self.row != CREATE;
            if !is_about_it && !ABOUT_THE_SERVICE.contains(&self.row) {
                return None;
            }
            arguments.hide(TIMELINE);
            arguments.hide(REACHES_FORKS);
        }
        let description = self.described["summary"].as_str().unwrap_or(name).to_owned();
        let input = schema::arguments(self.document, &arguments.properties, &arguments.required);
        let tool = Tool::new(name.to_owned(), description, input).with_annotations(self.annotations(agents, &method));
        let heeds = self.parameters().filter_map(head).collect();
        let operation = Operation {
            path: path.to_owned(),
            has_body: self.body().is_some(),
            heeds,
            goes: arguments.goes,
            required: arguments.required,
            method,
        };
        Some(Offer { tool, does: ToolKind::Operation(operation) })
    }

    /// Irreversible operations are destructive. Clock moves and corrections are reversible.
    ///
    /// Hints that equal the protocol's defaults are omitted: not read-only, destructive, not idempotent.
    fn annotations(&self, agents: Agents, method: &Method) -> ToolAnnotations {
        if agents == Agents::Read || *method == Method::GET {
            return ToolAnnotations::new().read_only(true);
        }
        let is_destructive = agents == Agents::Govern || *method == Method::DELETE;
        let is_idempotent = *method == Method::DELETE || SETS.contains(&self.row);
        let mut annotations = ToolAnnotations::new();
        annotations.destructive_hint = (!is_destructive).then_some(false);
        annotations.idempotent_hint = is_idempotent.then_some(true);
        annotations
    }

    fn parameters(&self) -> impl Iterator<Item = &Value> {
        self.described["parameters"].as_array().into_iter().flatten()
    }

    fn body(&self) -> Option<&Value> {
        let schema = self.described.pointer("/requestBody/content/application~1json/schema")?;
        Some(resolved(self.document, schema))
    }

    fn arguments(&self) -> Arguments {
        let mut arguments = Arguments::default();
        for parameter in self.parameters() {
            let goes = match parameter["in"].as_str() {
                Some("path") => CallRoute::Path,
                Some("query") => CallRoute::Query,
                _ => continue,
            };
            let mut schema = parameter["schema"].clone();
            if let Some(description) = parameter["description"].as_str().filter(|description| !description.is_empty()) {
                schema["description"] = description.into();
            }
            arguments.add(parameter["name"].as_str().unwrap_or_default(), goes, parameter["required"] == true, schema);
        }
        let Some(body) = self.body() else { return arguments };
        let required: Vec<&str> = body["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in body["properties"].as_object().into_iter().flatten() {
            arguments.add(name, CallRoute::Body, required.contains(&name.as_str()), schema.clone());
        }
        // If the body is one item or a list, only the list is offered.
        let several = body["oneOf"].as_array().into_iter().flatten().find(|choice| choice["type"] == "array");
        if let Some(several) = several {
            arguments.add("items", CallRoute::WholeBody, true, several.clone());
        }
        arguments
    }
}

fn head(parameter: &Value) -> Option<Head> {
    match parameter["name"].as_str()? {
        "Idempotency-Key" => Some(Head::Once),
        // Agents cannot know versions or tags, so other conditions are not offered.
        "If-Match" => {
            let description = parameter["description"].as_str()?;
            (description.starts_with("`*`") || description.contains("generation")).then_some(Head::There)
        }
        "Timenav-Firing" => Some(Head::Inside),
        _ => None,
    }
}
