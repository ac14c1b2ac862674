//! The session cookie over HTTP and HTTPS, and the origins it is accepted from.

use std::process::Command;

use serde_json::{Value, json};

use super::{PASSWORD, entries, logged_in, with_ada};
use crate::process::certify;
use crate::support::http::{Answer, Request};
use crate::support::service::{Process, Service};

/// Logs in like a browser that requested a host.
fn log_in_at(service: &Service, host: &str, more: &[(&str, &str)]) -> Answer {
    let body = json!({ "user_id": "ada", "password": PASSWORD });
    let request = Request::post("/v1/login").json(&body).header("Host", host).anonymous();
    service.send(more.iter().fold(request, |request, (name, value)| request.header(name, value)))
}

fn attributes(answer: &Answer) -> (String, String) {
    let cookie = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer}"));
    let (name, rest) = cookie.split_once('=').unwrap();
    (name.to_owned(), rest.split_once(';').unwrap().1.to_owned())
}

#[test]
fn plain_http_login_is_limited_to_loopback() {
    let service = with_ada(&[]);
    for host in ["127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:8080", "[::1]:8080", "127.9.9.9"] {
        let answer = log_in_at(&service, host, &[]);
        let expected = ("timenav".to_owned(), " Path=/; HttpOnly; SameSite=Strict".to_owned());
        assert_eq!(attributes(&answer), expected, "{host}");
        assert_eq!(answer.header("strict-transport-security"), None);
    }
    // A proxy on this machine, for any host name.
    for host in ["time.example.org", "192.0.2.1", "localhost.example.org", "[::2]"] {
        let refused = log_in_at(&service, host, &[("X-Forwarded-Proto", "https"), ("Forwarded", "proto=https")]);
        let refused = refused.refused(403, "feature_disabled");
        let detail = refused["detail"].as_str().unwrap();
        let flags = ["--tls-cert", "--public-url", "--allow-insecure-login"];
        assert!(flags.iter().all(|flag| detail.contains(flag)), "{detail}");
    }
    service.audit();
    let service = with_ada(&["--allow-insecure-login"]);
    assert_eq!(attributes(&log_in_at(&service, "time.example.org", &[])).0, "timenav");
    service.audit();
}

#[test]
fn tls_proxy_gets_a_secure_host_cookie() {
    let service = with_ada(&["--public-url", "https://time.example.org/below"]);
    let answer = log_in_at(&service, "time.example.org", &[("Origin", "https://time.example.org")]);
    let expected = ("__Host-timenav".to_owned(), " Path=/; HttpOnly; SameSite=Strict; Secure".to_owned());
    assert_eq!(attributes(&answer), expected);
    let hsts = "max-age=31536000; includeSubDomains";
    assert_eq!(answer.header("strict-transport-security"), Some(hsts));
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(logged_in(&service, &cookie), "ada");
    // The proxy may send another host; the configured origin applies.
    let on = |origin: &str| Request::get("/timelines").cookie(&cookie).header("Origin", origin);
    service.send(on("https://time.example.org").header("Host", "10.0.0.7:8080")).expect(200);
    service.send(on("http://time.example.org")).refused(403, "cross_site_request");
    // The cookie for plain HTTP could be set by anyone on the network, so it is not accepted here.
    let plain = cookie.replace("__Host-", "");
    service.send(Request::get("/timelines").session(&plain)).refused(401, "missing_credentials");
    service.audit();
}

/// Which combinations of fetch metadata and method are accepted.
#[test]
fn cookie_is_accepted_only_from_own_origin() {
    let service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    // Description, Sec-Fetch-Site, Origin, and whether GET, POST and QUERY are accepted.
    let table = [
        ("a page of the service", Some("same-origin"), None, [true; 3]),
        ("the same, with its origin", Some("same-origin"), Some("http://timenav.test"), [true; 3]),
        ("a bookmark", Some("none"), None, [true, false, false]),
        ("another site", Some("cross-site"), None, [false; 3]),
        ("another site with our origin", Some("cross-site"), Some("http://timenav.test"), [false; 3]),
        ("another host of our site", Some("same-site"), None, [false; 3]),
        ("a word that is not known", Some("Same-Origin"), None, [false; 3]),
        ("two words", Some("same-origin, cross-site"), None, [false; 3]),
        ("an empty word", Some(""), Some("http://timenav.test"), [false; 3]),
        ("an older browser", None, Some("http://timenav.test"), [true; 3]),
        ("the same in large letters", None, Some("HTTP://TimeNav.test"), [true; 3]),
        ("another origin", None, Some("http://evil.test"), [false; 3]),
        ("another scheme", None, Some("https://timenav.test"), [false; 3]),
        ("another port", None, Some("http://timenav.test:8080"), [false; 3]),
        ("a name that begins like ours", None, Some("http://timenav.test.evil.test"), [false; 3]),
        ("an origin that is hidden", None, Some("null"), [false; 3]),
        ("nothing", None, None, [false; 3]),
    ];
    let mut refused_count = 0;
    for (name, site, origin, expected) in table {
        for (method, is_answered) in ["GET", "POST", "QUERY"].into_iter().zip(expected) {
            let request = match method {
                "POST" => Request::post("/v1/api-keys").json(&json!({ "expires_at": "2999-01-01T00:00:00Z" })),
                method => Request::new(method, "/v1/sessions").json(&json!({})),
            };
            let fields = [("Sec-Fetch-Site", site), ("Origin", origin)];
            let request = fields.into_iter().fold(request.cookie(&cookie), |request, (field, value)| match value {
                Some(value) => request.header(field, value),
                None => request,
            });
            let answer = service.send(request);
            if is_answered {
                assert!(matches!(answer.status, 200 | 201), "{name}, {method}: {answer}");
            } else {
                assert_eq!(answer.header("set-cookie"), None, "a stranger's page ends no session");
                answer.refused(403, "cross_site_request");
                refused_count += 1;
            }
        }
    }
    // Each attempt is logged under the user's name.
    let attempts = entries(&service, &[("action", "unauthorized_access_attempt")]);
    assert_eq!(attempts.len(), refused_count);
    assert!(attempts.iter().all(|entry| entry["user_id"] == "ada"), "{attempts:?}");
    assert_eq!(logged_in(&service, &cookie), "ada");
    service.audit();
}

#[test]
fn duplicate_origin_headers_reject_the_cookie() {
    let service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    let twice = |name: &str, values: [&str; 2]| {
        let request = Request::get("/v1/sessions").cookie(&cookie);
        service.send(values.iter().fold(request, |request, value| request.header(name, value)))
    };
    twice("Sec-Fetch-Site", ["same-origin", "cross-site"]).refused(403, "cross_site_request");
    twice("Origin", ["http://timenav.test", "http://evil.test"]).refused(403, "cross_site_request");
    // With an injected second cookie.
    let slipped_in = Request::get("/v1/sessions").session(&format!("{cookie}; timenav=tnc_x"));
    service.send(slipped_in).refused(401, "invalid_credentials");
    // Other cookies do not matter.
    let among_others = Request::get("/v1/sessions").session(&format!("a=b; {cookie}; theme=dark"));
    service.send(among_others).expect(200);
    service.audit();
}

#[test]
fn cross_site_login_is_rejected() {
    let service = with_ada(&[]);
    for (name, value, status) in [
        ("Sec-Fetch-Site", "cross-site", 403),
        ("Sec-Fetch-Site", "same-site", 403),
        ("Sec-Fetch-Site", "none", 403),
        ("Origin", "null", 403),
        ("Sec-Fetch-Site", "same-origin", 200),
        ("Origin", "http://127.0.0.1", 200),
    ] {
        let answer = log_in_at(&service, "127.0.0.1", &[(name, value)]);
        let code = if status == 403 { json!("cross_site_request") } else { Value::Null };
        assert_eq!((answer.status, &answer.json()["code"]), (status, &code), "{name}: {value}");
    }
    // A form cannot send JSON.
    let form = Request::post("/v1/login").body("application/x-www-form-urlencoded", b"user_id=ada&password=x");
    service.send(form.header("Host", "127.0.0.1").anonymous()).refused(415, "unsupported_media_type");
    service.audit();
}

#[test]
fn remote_plain_http_reads_need_only_the_cookie() {
    // On plain HTTP, browsers send no fetch metadata for reads, and only an origin for changes.
    let service = with_ada(&["--allow-insecure-login"]);
    let cookie = service.log_in("ada", PASSWORD);
    let ask = |request: Request| service.send(request.cookie(&cookie));
    ask(Request::get("/v1/sessions")).expect(200);
    ask(Request::post("/v1/logout")).refused(403, "cross_site_request");
    ask(Request::new("QUERY", "/v1/sessions").json(&json!({}))).refused(403, "cross_site_request");
    ask(Request::get("/v1/sessions").header("Origin", "http://evil.test")).refused(403, "cross_site_request");
    ask(Request::post("/v1/logout").header("Origin", "http://timenav.test")).expect(200);
    service.audit();
}

#[test]
fn https_login_sets_a_secure_host_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_at("https", &data, &log, &arguments);
    let url = format!("https://localhost:{}", process.address.port());
    let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
    let post = |path: &str, headers: &[&str], body: &Value| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--include", "--max-time", "20", "--cacert", arguments[1]]);
        command.args(["-H", "Content-Type: application/json", "-d", &body.to_string()]);
        for header in headers {
            command.args(["-H", header]);
        }
        let output = command.arg(format!("{url}{path}")).output().expect("curl is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let bearer = format!("Authorization: Bearer {}", key.trim_end());
    assert!(post("/v1/set-password", &[&bearer], &json!({ "password": PASSWORD })).contains(" 200"));
    let origin = format!("Origin: {url}");
    let answer = post("/v1/login", &[&origin], &json!({ "user_id": "admin", "password": PASSWORD }));
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&answer);
    let (secret, attributes) = cookie.trim_end().split_once("; ").unwrap();
    assert!(secret.starts_with("__Host-timenav=tnc_"), "{secret}");
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict; Secure");
    let out = post("/v1/logout", &[&format!("Cookie: {secret}"), "Sec-Fetch-Site: same-origin"], &json!({}));
    assert!(out.contains("set-cookie: __Host-timenav=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0"), "{out}");
    process.terminate();
    assert!(process.wait().success());
}
