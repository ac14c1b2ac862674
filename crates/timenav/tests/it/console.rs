//! The console: the files of `console/dist` as they are served.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::support::http::{Answer, Request};
use crate::support::service::Service;

/// PROTOCOLS.md §22, verbatim.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'";

/// Returns the files of the console by path.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../console/dist");
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.push((format!("/{name}"), std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(found.iter().any(|(path, _)| path == "/index.html"), "the console is not built");
    found
}

fn get(service: &Service, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = Request::get(path).anonymous();
    service.send(headers.iter().fold(request, |request, (name, value)| request.header(name, value)))
}

fn tag(bytes: &[u8]) -> String {
    format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(bytes)[..16]))
}

/// The page is always revalidated. All other file names contain a content hash.
fn cache(path: &str) -> &'static str {
    if path == "/index.html" { "no-cache" } else { "public, max-age=31536000, immutable" }
}

#[track_caller]
fn guarded(answer: &Answer, path: &str) {
    for (name, expected) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "geolocation=(), camera=(), microphone=()"),
        ("cache-control", cache(path)),
        ("vary", "Accept, Accept-Encoding"),
    ] {
        assert_eq!(answer.header(name), Some(expected), "{:?}", answer.headers);
    }
    for absent in ["set-cookie", "strict-transport-security", "access-control-allow-origin"] {
        assert_eq!(answer.header(absent), None, "{:?}", answer.headers);
    }
}

#[test]
fn console_files_are_served_at_their_paths() {
    let service = Service::start();
    let all = files();
    for (path, bytes) in all.iter().filter(|(path, _)| path.strip_suffix(".br").is_none()) {
        let plain = get(&service, path, &[]);
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
        assert_eq!(&plain.body, bytes, "{path}");
        assert_eq!(plain.header("etag"), Some(&*tag(bytes)), "{path}");
        guarded(&plain, path);
        let kind = match path.rsplit_once('.').unwrap().1 {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml; charset=utf-8",
            "woff2" => "font/woff2",
            other => panic!("{path}: which type has .{other}?"),
        };
        assert_eq!(plain.header("content-type"), Some(kind), "{path}");
        // Compressed if there is a compressed file and the client accepts it.
        let packed = get(&service, path, &[("Accept-Encoding", "gzip, deflate, br, zstd")]);
        match all.iter().find(|(other, _)| *other == format!("{path}.br")) {
            Some((_, bytes)) => {
                assert_eq!(packed.header("content-encoding"), Some("br"), "{path}");
                assert_eq!((&packed.body, packed.header("etag")), (bytes, Some(&*tag(bytes))), "{path}");
            }
            None => assert_eq!((&packed.body, packed.header("content-encoding")), (&plain.body, None), "{path}"),
        }
        guarded(&packed, path);
        assert_eq!(packed.header("content-type"), Some(kind), "{path}");
        let unpacked = get(&service, path, &[("Accept-Encoding", "gzip, br;q=0")]);
        assert_eq!((&unpacked.body, unpacked.header("content-encoding")), (&plain.body, None), "{path}");
        let head = service.send(Request::new("HEAD", path).anonymous());
        assert_eq!((head.status, head.header("etag"), head.body.len()), (200, plain.header("etag"), 0), "{path}");
        assert_eq!(head.header("content-length"), Some(&*bytes.len().to_string()), "{path}");
        guarded(&head, path);
    }
    service.audit();
}

#[test]
fn cached_file_with_matching_etag_returns_304() {
    let service = Service::start();
    let has = |tags: &str| get(&service, "/index.html", &[("If-None-Match", tags)]);
    let tag = get(&service, "/index.html", &[]).header("etag").unwrap().to_owned();
    for tags in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let answer = has(&tags);
        assert_eq!((answer.status, answer.header("etag")), (304, Some(&*tag)), "{tags}");
        assert_eq!(answer.header("content-type"), None);
        guarded(&answer, "/index.html");
    }
    for tags in ["\"x\"", "x", "", tag.trim_matches('"')] {
        assert_eq!(has(tags).status, 200, "{tags}");
    }
    let packed = [("Accept-Encoding", "br"), ("If-None-Match", tag.as_str())];
    let is_packed = files().iter().any(|(path, _)| path == "/index.html.br");
    assert_eq!(get(&service, "/index.html", &packed).status, if is_packed { 200 } else { 304 }, "another one");
    service.audit();
}

#[test]
fn root_serves_console_to_browsers_and_json_to_programs() {
    let service = Service::start();
    let page = get(&service, "/index.html", &[]).body;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for accept in [browser, "text/html", "application/json;q=0.1, TEXT/HTML"] {
        let answer = get(&service, "/", &[("Accept", accept)]);
        assert_eq!((answer.status, &answer.body), (200, &page), "{accept}");
        guarded(&answer, "/index.html");
    }
    for accept in ["*/*", "application/json", "text/html;q=0", "text/htmlx", ""] {
        let answer = get(&service, "/", &[("Accept", accept)]);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}");
        assert!(answer.json()["status"].is_string());
    }
    // The page is public: users without a valid session log in there.
    let old = get(&service, "/", &[("Accept", "text/html"), ("Cookie", "timenav=x"), ("Sec-Fetch-Site", "cross-site")]);
    assert_eq!((old.status, &old.body), (200, &page));
    service.audit();
}

#[test]
fn paths_outside_console_files_return_404() {
    let service = Service::start();
    let packed = "/index.html.br";
    for path in [
        packed,
        "/assets",
        "/assets/",
        "/assets/nothing.js",
        "/assets/../index.html",
        "/assets/%2e%2e/index.html",
        "/%2e%2e/package.json",
        "//index.html",
        "/index.html/",
        "/INDEX.HTML",
        "/clock",
    ] {
        get(&service, path, &[("Accept", "text/html")]).refused(404, "not_found");
    }
    let refused = service.send(Request::post("/index.html").anonymous());
    assert_eq!(refused.header("allow"), Some("GET, HEAD, QUERY, OPTIONS"));
    refused.refused(405, "method_not_allowed");
    service.audit();
}
