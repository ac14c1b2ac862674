//! The OpenAPI document that the service serves: the committed one, generated from the routes by `cargo xtask openapi`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use serde_json::Value;

#[cfg(feature = "schema")]
pub mod generate;
mod patch;

/// The document in OpenAPI 3.1, the version that tools support today. It cannot describe QUERY.
const OPENAPI: &str = include_str!("../../../docs/api/openapi.json");
/// The additions of OpenAPI 3.2 as a JSON merge patch (RFC 7396): QUERY and stream messages.
const OPENAPI_3_2_PATCH: &str = include_str!("../../../docs/api/openapi-3.2.patch.json");

/// All responses share these bytes: unauthenticated clients may request the document on many connections at once.
pub(crate) struct Served {
    pub(crate) plain: Bytes,
    pub(crate) gzip: Bytes,
}

pub(crate) static OPENAPI_3_1_SERVED: LazyLock<Served> =
    LazyLock::new(|| Served::of(Bytes::from_static(OPENAPI.as_bytes())));

pub(crate) static OPENAPI_3_2_SERVED: LazyLock<Served> = LazyLock::new(|| {
    let mut document = parsed(OPENAPI);
    patch::apply(&mut document, parsed(OPENAPI_3_2_PATCH));
    Served::of(Bytes::from(text(&document)))
});

impl Served {
    fn of(plain: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&plain).and_then(|()| encoder.finish()).expect("writing to a vector cannot fail");
        Self { plain, gzip: Bytes::from(gzip) }
    }
}

/// Names of required parameters, by method and documented path.
static REQUIRED: LazyLock<BTreeMap<(String, String), BTreeSet<String>>> = LazyLock::new(required_of_all);

#[must_use]
pub fn openapi_json() -> &'static str {
    OPENAPI
}

/// Returns the names of the required parameters of an operation. `path` is the path of its route.
pub(crate) fn required_parameters(method: &Method, path: &str) -> BTreeSet<String> {
    let method = if method == Method::HEAD { "get".to_owned() } else { method.as_str().to_lowercase() };
    let path = path.strip_prefix("/api").unwrap_or(path).replace("{*", "{");
    let bare = path.strip_prefix("/v1").unwrap_or(&path).to_owned();
    let found = [path, bare].into_iter().find_map(|path| REQUIRED.get(&(method.clone(), path)));
    found.cloned().unwrap_or_default()
}

fn required_of_all() -> BTreeMap<(String, String), BTreeSet<String>> {
    let document = parsed(OPENAPI);
    let mut all = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            all.insert((method.clone(), path.clone()), required_of(operation, &document));
        }
    }
    all
}

fn required_of(operation: &Value, document: &Value) -> BTreeSet<String> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let in_query = items(&operation["parameters"]).into_iter().filter_map(|parameter| {
        let is_required = parameter["in"] == "query" && parameter["required"] == true;
        is_required.then(|| parameter["name"].as_str().map(str::to_owned))?
    });
    let body = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let pointer = body.as_str().map_or("", |reference| reference.trim_start_matches('#'));
    let schema = document.pointer(pointer).unwrap_or(&Value::Null);
    let in_body = items(&schema["required"]).into_iter().filter_map(|name| name.as_str().map(str::to_owned));
    in_query.chain(in_body).collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the document is JSON, as a test checks")
}

fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_parameters_match_the_openapi_document() {
        let check = |method: Method, path: &str, expected: &[&str]| {
            let found = required_parameters(&method, path);
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{method} {path}");
        };
        check(Method::POST, "/v1/travel", &["destination_time"]);
        check(Method::POST, "/api/v1/travel", &["destination_time"]);
        check(Method::GET, "/v1/monitor-events", &["location", "time_range"]);
        check(Method::HEAD, "/api/v1/monitor-events", &["location", "time_range"]);
        check(Method::POST, "/timelines", &["timeline_id"]);
        check(Method::POST, "/v1/timelines", &["timeline_id"]);
        check(Method::GET, "/v1/clock", &[]);
        check(Method::GET, "/no-such-path", &[]);
    }

    #[test]
    fn newer_openapi_document_has_query_operations() {
        let newer = parsed(std::str::from_utf8(&OPENAPI_3_2_SERVED.plain).unwrap());
        assert_eq!(newer["openapi"], "3.2.0");
        assert_eq!(newer["paths"]["/v1/clock"]["query"]["operationId"], "clock_by_query");
    }
}
