//! The files of `console/dist`, embedded in the program. The console keeps its own route after `#` and uses relative
//! URLs, so it works below any path prefix of a proxy.

use std::borrow::Cow;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use data_encoding::HEXLOWER;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::request::accept::{Accept, JSON, takes_coding};
use crate::response::problem::Failure;
use crate::service;
use crate::state::App;

/// The file served at `/`.
const PAGE: &str = "index.html";
/// Prefix of file names that contain a hash of their bytes: their contents never change.
const HASHED: &str = "assets/";
/// Suffix of the compressed variant of a file.
const PACKED: &str = ".br";

/// W3C CSP 3, Trusted Types: the console may load only its own files and never evaluates text as code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'";

#[derive(RustEmbed)]
#[folder = "../../console/dist/"]
struct Files;

pub(crate) fn routes() -> Router<App> {
    let mut router = Router::new().route("/", get(page));
    for name in Files::iter().filter(|name| !name.ends_with(PACKED)) {
        let path = format!("/{name}");
        let serve = move |headers: HeaderMap| std::future::ready(file(&name, &headers));
        router = router.route(&path, get(serve));
    }
    router
}

/// Serves the console to browsers and a JSON welcome to programs.
async fn page(headers: HeaderMap) -> Response {
    let wants_page = Accept::of(&headers).asks_for("text/html", JSON);
    if wants_page { file(PAGE, &headers).into_response() } else { service::welcome().into_response() }
}

/// Returns a file, compressed if the client accepts that, or 304 if the client has it already (RFC 9110 §13.1.2).
fn file(name: &str, headers: &HeaderMap) -> Result<Response, Failure> {
    let plain = Files::get(name).ok_or(Failure::NoRoute)?;
    let packed = takes_coding(headers, "br").then(|| Files::get(&format!("{name}{PACKED}"))).flatten();
    let encoding = packed.is_some().then(|| HeaderValue::from_static("br"));
    let EmbeddedFile { data, metadata } = packed.unwrap_or(plain);
    let tag = format!("\"{}\"", HEXLOWER.encode(&metadata.sha256_hash()[..16]));
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|value| names(value, &tag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let body = match data {
            Cow::Borrowed(bytes) => Body::from(bytes),
            Cow::Owned(bytes) => Body::from(bytes),
        };
        Response::new(body)
    };
    let cache = if name.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut set = |name: HeaderName, value: HeaderValue| response.headers_mut().insert(name, value);
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, cache),
        (header::VARY, "Accept, Accept-Encoding"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "geolocation=(), camera=(), microphone=()"),
    ] {
        set(name, HeaderValue::from_static(value));
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        set(header::ETAG, tag);
    }
    if !is_known {
        set(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
        encoding.map(|encoding| set(header::CONTENT_ENCODING, encoding));
    }
    Ok(response)
}

/// Returns whether a list of entity tags contains `tag`, by weak comparison (RFC 9110 §8.8.3.2).
fn names(list: &HeaderValue, tag: &str) -> bool {
    let list = list.to_str().unwrap_or("");
    list.split(',').map(str::trim).any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_compared_weakly() {
        let check = |list: &str, expected| assert_eq!(names(&HeaderValue::from_str(list).unwrap(), "\"a\""), expected);
        check("\"a\"", true);
        check("W/\"a\"", true);
        check("\"b\", \"a\"", true);
        check("*", true);
        check("\"b\"", false);
        check("a", false);
    }
}
