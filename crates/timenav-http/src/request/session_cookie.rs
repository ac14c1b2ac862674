//! With HTTPS the cookie is `__Host-timenav`, which browsers accept only from this host and send only over HTTPS (RFC
//! 6265bis §4.1.3.2). Browsers differ about such a cookie over plain HTTP on loopback, so there it has another name and
//! no `Secure` (ADR 0016).

use std::net::IpAddr;

use http::header::{COOKIE, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use timenav_engine::AuthFailure;

use crate::request::network::Network;
use crate::state::HttpOptions;

const SECURE_NAME: &str = "__Host-timenav";
const PLAIN_NAME: &str = "timenav";
const ATTRIBUTES: &str = "Path=/; HttpOnly; SameSite=Strict";

const fn name(options: &HttpOptions) -> &'static str {
    if options.is_secure() { SECURE_NAME } else { PLAIN_NAME }
}

pub(crate) fn session_secret<'a>(
    headers: &'a HeaderMap,
    options: &HttpOptions,
) -> Option<Result<&'a str, AuthFailure>> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut found = pairs.filter(|(given, _)| *given == name(options)).map(|(_, secret)| secret);
    let first = found.next()?;
    // Two different values mean that one was injected.
    Some(if found.all(|other| other == first) { Ok(first) } else { Err(AuthFailure::Session) })
}

pub(crate) fn handed_over(secret: &str, options: &HttpOptions) -> Option<HeaderValue> {
    field(secret, "", options)
}

pub(crate) fn cleared(options: &HttpOptions) -> Option<HeaderValue> {
    field("", "; Max-Age=0", options)
}

fn field(secret: &str, age: &str, options: &HttpOptions) -> Option<HeaderValue> {
    let secure = if options.is_secure() { "; Secure" } else { "" };
    let mut value = HeaderValue::try_from(format!("{}={secret}; {ATTRIBUTES}{secure}{age}", name(options))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns whether a password or cookie may be sent over this connection: HTTPS, loopback, or allowed by the operator.
pub(crate) fn may_travel(parts: &Parts, peer: Option<Network>, options: &HttpOptions) -> bool {
    // A proxy on this machine connects from loopback, but most proxies forward the requested host.
    let is_here = peer.is_some_and(Network::is_loopback) && is_loopback_host(parts);
    options.is_secure() || options.allow_insecure_login || is_here
}

fn is_loopback_host(parts: &Parts) -> bool {
    let Some(authority) = authority(parts) else { return false };
    let host = authority.host().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the host of a request (RFC 9110 §7.2). In HTTP/2 it is in the target.
pub(crate) fn authority(parts: &Parts) -> Option<http::uri::Authority> {
    let named = || parts.headers.get(HOST)?.to_str().ok()?.parse().ok();
    parts.uri.authority().cloned().or_else(named)
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn options(encrypted: bool) -> HttpOptions {
        HttpOptions {
            draining: CancellationToken::new(),
            closing: CancellationToken::new(),
            version: "0",
            encrypted,
            public_origin: None,
            allow_insecure_login: false,
            requests_per_minute: None,
            process: Default::default,
            connections: std::sync::Arc::default(),
            traces: None,
            connection_limits: Vec::new(),
        }
    }

    #[test]
    fn session_cookie_is_found_and_must_be_unique() {
        let check = |fields: &[&str], encrypted, expected: Option<Result<&str, AuthFailure>>| {
            let fields = fields.iter().map(|text| (COOKIE, HeaderValue::from_str(text).unwrap()));
            assert_eq!(session_secret(&fields.collect(), &options(encrypted)), expected);
        };
        check(&[], false, None);
        check(&["timenav=a"], false, Some(Ok("a")));
        check(&["x=1; timenav=a;y=2"], false, Some(Ok("a")));
        check(&["x=1", "timenav=a"], false, Some(Ok("a")));
        check(&["timenav=a"], true, None);
        check(&["__Host-timenav=a; timenav=b"], true, Some(Ok("a")));
        check(&["__Host-timenav=a"], false, None);
        check(&["Timenav=a; xtimenav=b; timenav"], false, None);
        check(&["timenav=a; timenav=a"], false, Some(Ok("a")));
        check(&["timenav=a; timenav=b"], false, Some(Err(AuthFailure::Session)));
        check(&["timenav="], false, Some(Ok("")));
    }

    #[test]
    fn session_cookie_is_limited_to_this_host() {
        let text = |field: Option<HeaderValue>| field.unwrap().to_str().unwrap().to_owned();
        let check = |encrypted, expected: [&str; 2]| {
            let options = options(encrypted);
            assert_eq!([text(handed_over("x", &options)), text(cleared(&options))], expected);
        };
        check(
            true,
            [
                "__Host-timenav=x; Path=/; HttpOnly; SameSite=Strict; Secure",
                "__Host-timenav=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0",
            ],
        );
        check(
            false,
            ["timenav=x; Path=/; HttpOnly; SameSite=Strict", "timenav=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"],
        );
    }
}
