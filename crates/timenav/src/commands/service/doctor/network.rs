//! Checks a running service over the network, as an anonymous client and with the owner's key.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, SERVER, STRICT_TRANSPORT_SECURITY};
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::check::{Check, some_of};
use crate::client::{authorities, built, is_this_machine};
use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// TLS 1.0 and 1.1, which are deprecated (RFC 8996).
const DEPRECATED: [(u8, &str); 2] = [(1, "TLS 1.0"), (2, "TLS 1.1")];

pub(super) struct Seen {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

pub(super) struct ServiceProbe {
    url: Url,
    http: Client,
    runtime: Runtime,
}

impl ServiceProbe {
    pub(super) fn new(url: &Url, ca: Option<&Path>) -> Result<Self, Failure> {
        let authorities = ca.map(authorities).transpose()?;
        let http = built(url, || {
            let builder = Client::builder().timeout(ANSWER_TIMEOUT);
            let builder = builder.redirect(reqwest::redirect::Policy::none());
            let builder = if is_this_machine(url) { builder.no_proxy() } else { builder };
            match &authorities {
                Some(authorities) => builder.tls_certs_only(authorities.clone()),
                None => builder,
            }
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::new)?;
        Ok(Self { url: url.clone(), http, runtime })
    }

    pub(super) fn get(&self, path: &str, key: Option<&str>) -> Result<Seen, reqwest::Error> {
        let mut request = self.http.get(sibling_url(&self.url, path)).header(ACCEPT, "application/json");
        if let Some(key) = key {
            request = request.bearer_auth(key.trim());
        }
        self.runtime.block_on(async {
            let response = request.send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Seen { status, headers, body: response.text().await? })
        })
    }
}

pub(super) fn look_at(url: &Url, ca: Option<&Path>, surroundings: &Surroundings) -> Result<Vec<Check>, Failure> {
    let service = ServiceProbe::new(url, ca)?;
    let get = |path: &str, key: Option<&str>| service.get(path, key);
    let ready = match get("readyz", None) {
        Ok(ready) => ready,
        Err(error) => return Ok(vec![unreachable(&error)]),
    };
    let mut checks = vec![reachable(&ready), encrypted(url)];
    if url.scheme() == "https" {
        checks.extend([hsts(&ready.headers), old_versions(url)]);
    }
    let strangers: Vec<Seen> = ["", "v1/session"].iter().filter_map(|path| get(path, None).ok()).collect();
    checks.push(version(&strangers));
    checks.extend(get("metrics", None).ok().map(|answer| metrics(answer.status)));
    if let Some(key) = surroundings.api_key.as_ref().filter(|key| !key.trim().is_empty()) {
        checks.extend(get("v1/limits", Some(key)).ok().map(|answer| quota(&answer)));
        checks.extend(get("v1/api-keys", Some(key)).ok().map(|answer| own_keys(&answer)));
    }
    Ok(checks)
}

/// Returns a URL below that of the service, which may have a path prefix.
fn sibling_url(url: &Url, path: &str) -> Url {
    let mut address = url.clone();
    address.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
    address
}

pub(super) fn error_chain(error: &reqwest::Error) -> String {
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        chain = format!("{chain}: {inner}");
        source = inner.source();
    }
    chain
}

fn unreachable(error: &reqwest::Error) -> Check {
    let seen = format!("the service cannot be reached: {}", error_chain(error));
    Check::fail("reachable", seen, "Check that it is running, and check --url, --ca and the certificate")
}

pub(super) fn reachable(ready: &Seen) -> Check {
    match ready.status {
        200 => Check::ok("reachable", "the service is ready"),
        status => {
            let seen = format!("/readyz returned {status}");
            Check::fail("reachable", seen, "Check its log: it cannot write, or another program is listening there")
        }
    }
}

pub(super) fn encrypted(url: &Url) -> Check {
    if url.scheme() == "https" {
        Check::ok("encrypted", "the service is reached over HTTPS")
    } else if is_this_machine(url) {
        Check::ok("encrypted", "the service is reached without encryption, on this machine only")
    } else {
        let advice = "Use HTTPS: keys and passwords can be read in transit";
        Check::fail("encrypted", "the service is reached without encryption", advice)
    }
}

pub(super) fn hsts(headers: &HeaderMap) -> Check {
    if headers.contains_key(STRICT_TRANSPORT_SECURITY) {
        return Check::ok("hsts", "the service requires browsers to use HTTPS");
    }
    let advice = "Give the service its certificate or --public-url, and have the proxy pass the header on";
    Check::warn("hsts", "there is no Strict-Transport-Security", advice)
}

fn old_versions(url: &Url) -> Check {
    let spoken: Vec<String> =
        DEPRECATED.iter().filter(|(minor, _)| speaks(url, *minor)).map(|(_, name)| (*name).to_owned()).collect();
    tls_versions(&spoken)
}

pub(super) fn tls_versions(spoken: &[String]) -> Check {
    if spoken.is_empty() {
        return Check::ok("tls-versions", "TLS 1.0 and 1.1 are rejected");
    }
    Check::fail("tls-versions", format!("{} is accepted", some_of(spoken)), "Allow only TLS 1.2 and 1.3 at the proxy")
}

/// Returns whether the server answers a TLS hello of an old version with one of its own.
fn speaks(url: &Url, minor: u8) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host = host.trim_matches(['[', ']']);
    let Some(address) = (host, port).to_socket_addrs().ok().and_then(|mut all| all.next()) else { return false };
    let Ok(mut stream) = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT) else { return false };
    let _ = stream.set_read_timeout(Some(ANSWER_TIMEOUT));
    // Cipher suites that every server of that age supported, and no extensions.
    let suites = [0xc0, 0x13, 0xc0, 0x14, 0xc0, 0x09, 0xc0, 0x0a, 0x00, 0x2f, 0x00, 0x35];
    let body = [&[3, minor][..], &[7; 32], &[0, 0, 12], &suites, &[1, 0]].concat();
    let length = u8::try_from(body.len()).unwrap_or_default();
    let hello = [&[0x16, 3, 1, 0, length + 4, 1, 0, 0, length][..], &body].concat();
    let mut kind = [0];
    stream.write_all(&hello).and_then(|()| stream.read_exact(&mut kind)).is_ok() && kind == [0x16]
}

/// Checks what `/` and `/v1/session` reveal to anonymous clients.
pub(super) fn version(answers: &[Seen]) -> Check {
    const NAME: &str = "version";
    let tells = |answer: &Seen| {
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        answer.headers.contains_key(SERVER) || body.get("version").is_some_and(|version| !version.is_null())
    };
    if answers.iter().any(tells) {
        let advice = "If that matters to you, have a proxy serve / and /v1/session and remove the Server header";
        return Check::warn(NAME, "unauthenticated clients can see which version is running", advice);
    }
    Check::ok(NAME, "unauthenticated clients cannot see which version is running")
}

pub(super) fn metrics(status: u16) -> Check {
    if status == 200 {
        let advice = "Block /metrics at the proxy: it shows how busy the service is";
        return Check::warn("metrics", "anyone can read /metrics", advice);
    }
    Check::ok("metrics", format!("/metrics returned {status}"))
}

pub(super) fn quota(limits: &Seen) -> Check {
    let body: Value = serde_json::from_str(&limits.body).unwrap_or_default();
    match (limits.status, &body["limits"]["requests_per_minute"]) {
        (200, Value::Number(quota)) => Check::ok("quota", format!("each user can make {quota} requests a minute")),
        (200, _) => {
            let seen = "requests are not limited";
            Check::warn("quota", seen, "Set --requests-per-minute: every request is recorded permanently")
        }
        (status, _) => {
            Check::warn("quota", format!("the key was rejected with {status}"), "Set TIMENAV_API_KEY to a valid key")
        }
    }
}

pub(super) fn own_keys(answer: &Seen) -> Check {
    const NAME: &str = "own-keys";
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let Some(keys) = body["api_keys"].as_array() else {
        return Check::warn(NAME, format!("the list of keys returned {}", answer.status), "");
    };
    let is_endless = |key: &&Value| key["expires_at"].is_null() && key["revoked_at"].is_null();
    let endless = keys.iter().filter(is_endless).filter_map(|key| key["key_id"].as_str().map(str::to_owned));
    let endless: Vec<String> = endless.collect();
    if endless.is_empty() {
        return Check::ok(NAME, "every key that this key can see expires");
    }
    let seen = format!("keys never expire: {}", some_of(&endless));
    Check::warn(NAME, seen, "Create keys with --expires-at, and revoke these")
}
