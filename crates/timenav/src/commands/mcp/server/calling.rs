use std::time::Duration;

use serde_json::{Map, Value};

use super::operation::{CallRoute, Head, Operation, PAGE_ITEMS_DEFAULT, TIMELINE};
use super::refusals::{refused, unfit};
use super::session::Session;
use crate::client::{ApiRequest, Reply};
use crate::exit::Failure;

/// Maximum length of a response to an agent, in bytes: a model reads all of it.
pub(super) const ANSWER_BYTES_MAX: usize = 128 * 1024;
/// Extra timeout of requests that wait: the maximum that the service allows.
const WAITS_LONGER: Duration = Duration::from_mins(10);

pub(super) async fn call(
    session: &Session,
    operation: &Operation,
    arguments: Map<String, Value>,
) -> Result<Value, Failure> {
    let mut arguments = checked(session, operation, arguments)?;
    if operation.goes.contains_key("limit") && arguments.get("limit").is_none_or(Value::is_null) {
        arguments.insert("limit".to_owned(), PAGE_ITEMS_DEFAULT.into());
    }
    loop {
        let api_request = request(session, operation, &arguments)?;
        let text = match session.caller.send(&api_request, ANSWER_BYTES_MAX).await? {
            Reply::Text(text) => text,
            // A smaller page has a correct cursor; a truncated response would not.
            Reply::TooLong => match arguments.get("limit").and_then(Value::as_u64) {
                Some(limit) if limit > 1 => {
                    arguments.insert("limit".to_owned(), (limit / 2).into());
                    continue;
                }
                _ => return Err(too_long(operation)),
            },
        };
        let answer = read(&text)?;
        note(session, operation, &arguments, &answer);
        return Ok(answer);
    }
}

pub(super) fn read(text: &str) -> Result<Value, Failure> {
    let answer = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    answer.ok_or_else(|| anyhow::anyhow!("the service did not respond with JSON; is it timenav?").into())
}

fn too_long(operation: &Operation) -> Failure {
    let subject = if operation.method == reqwest::Method::GET { "It" } else { "The call succeeded, but its response" };
    let detail = format!(
        "{subject} is longer than {ANSWER_BYTES_MAX} bytes; request less, such as one event by its id or a narrower range"
    );
    unfit("answer_too_long", &detail)
}

fn checked(
    session: &Session,
    operation: &Operation,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Failure> {
    let is_known = |name: &str| operation.goes.contains_key(name) && !session.is_hidden(name);
    if let Some(name) = arguments.keys().find(|name| !is_known(name)) {
        if let (TIMELINE, Some(timeline)) = (name.as_str(), &session.pinned) {
            let detail = format!("this session uses only the timeline `{timeline}`; leave out `{TIMELINE}`");
            return Err(refused("permission_denied", name, &detail));
        }
        let known = operation.goes.keys().filter(|known| is_known(known));
        let near = known.max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(refused("unknown_parameter", name, &format!("there is no argument `{name}`{hint}")));
    }
    if let Some(name) = operation.required.iter().find(|name| arguments.get(*name).is_none_or(Value::is_null)) {
        return Err(refused("missing_parameter", name, &format!("`{name}` is missing")));
    }
    let mut arguments = arguments;
    if let (Some(timeline), true) = (&session.pinned, operation.goes.contains_key(TIMELINE)) {
        arguments.insert(TIMELINE.to_owned(), timeline.as_str().into());
    }
    Ok(arguments)
}

fn request(session: &Session, operation: &Operation, arguments: &Map<String, Value>) -> Result<ApiRequest, Failure> {
    let mut api_request = ApiRequest::get(&[], Vec::new());
    api_request.method = operation.method.clone();
    for segment in operation.path.split('/').skip(1) {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        api_request.path.push(match name {
            Some(name) => in_path(name, &arguments[name])?,
            None => segment.to_owned(),
        });
    }
    let mut body = Map::new();
    for (name, value) in arguments {
        match operation.goes.get(name) {
            Some(CallRoute::Query) if !value.is_null() => api_request.query.extend(in_query(name, value)?),
            Some(CallRoute::Body) => {
                body.insert(name.clone(), value.clone());
            }
            Some(CallRoute::WholeBody) => api_request.body = Some(value.to_string()),
            Some(CallRoute::Path | CallRoute::Query) | None => {}
        }
    }
    if operation.has_body && api_request.body.is_none() {
        api_request.body = Some(Value::Object(body).to_string());
    }
    if operation.heeds.contains(&Head::Once) {
        api_request = api_request.once();
    }
    if operation.heeds.contains(&Head::There) {
        // A typo in a name must not silently create a timeline.
        api_request = api_request.with("if-match", "*")?;
    }
    if let (true, Some(firing)) = (operation.heeds.contains(&Head::Inside), session.held_firing()) {
        api_request = api_request.with("timenav-firing", &firing)?;
    }
    if arguments.get("wait").is_some_and(|wait| !wait.is_null()) {
        api_request = api_request.longer(WAITS_LONGER);
    }
    Ok(api_request)
}

/// Returns an argument as one path segment; `.` and `..` are rejected.
fn in_path(name: &str, value: &Value) -> Result<String, Failure> {
    match value.as_str() {
        Some(text) if !text.is_empty() && text != "." && text != ".." => Ok(text.to_owned()),
        _ => Err(refused("invalid_parameter", name, &format!("`{name}` is a name, such as `main`"))),
    }
}

fn in_query(name: &str, value: &Value) -> Result<Vec<(String, String)>, Failure> {
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let pairs = match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| Some((format!("{name}.{key}"), scalar(value)?))).collect()
        }
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(scalar).collect();
            items.map(|items| vec![(name.to_owned(), items.join(","))])
        }
        value => scalar(value).map(|text| vec![(name.to_owned(), text)]),
    };
    let detail = format!("`{name}` has values that are not strings, numbers or booleans");
    pairs.ok_or_else(|| refused("invalid_parameter", name, &detail))
}

/// Records which firings are leased to the agent.
fn note(session: &Session, operation: &Operation, arguments: &Map<String, Value>, answer: &Value) {
    match operation.path.as_str() {
        "/v1/queues/{queue}/claim" => session.claimed(&answer["firings"]),
        "/v1/firings/ack" | "/v1/firings/fail" => session.settled(&arguments["firing_ids"]),
        _ => {}
    }
}
