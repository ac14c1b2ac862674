//! A request names its host exactly once (RFC 9112 §3.2, RFC 9113 §8.3.1, RFC 9110 §4.2.3 and §7.2). If a proxy and
//! this service disagree about the host, requests can reach the wrong destination.

use std::net::Ipv6Addr;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Version};

use crate::response::problem::Failure;

/// Returns the response to a request that does not name one host.
pub(crate) fn refused(request: &Request) -> Option<Response> {
    let detail = fault(request)?;
    let mut response = Failure::Host { detail }.into_response();
    // The bytes that follow on this connection may be meant for another host.
    if request.version() < Version::HTTP_2 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Some(response)
}

fn fault(request: &Request) -> Option<&'static str> {
    let mut fields = request.headers().get_all(HOST).iter();
    let first = fields.next();
    if fields.next().is_some() {
        return Some("the request has more than one Host header; send one");
    }
    let field = match first.map(HeaderValue::to_str) {
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => return Some("the Host header is not a host with an optional port"),
        None => None,
    };
    let target = request.uri().authority().map(http::uri::Authority::as_str);
    if target.is_some_and(|authority| !is_host(authority)) {
        return Some("the request target does not have a host with an optional port");
    }
    if field.is_some_and(|host| !is_host(host)) {
        return Some("the Host header is not a host with an optional port");
    }
    match (field, target) {
        // Only HTTP/1.0 allows this, and some monitoring programs still use it.
        (None, _) if request.version() <= Version::HTTP_10 => None,
        (None, Some(_)) if request.version() >= Version::HTTP_2 => None,
        (None, _) => Some("the request has no Host header; send one"),
        // HTTP/1.1 allows the target alone (RFC 9112 §3.2.2), but a proxy in front may have used the header.
        (Some(host), Some(authority)) if !host.eq_ignore_ascii_case(authority) => {
            Some("the Host header and the request target name different hosts")
        }
        (Some(_), _) => None,
    }
}

/// Returns whether a text is a host with an optional port (RFC 3986 §3.2.2 and §3.2.3) and no userinfo.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else { return false };
            if address.parse::<Ipv6Addr>().is_err() {
                return false;
            }
            ("", port)
        }
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_named = text.starts_with('[') || (!host.is_empty() && host.bytes().all(is_of_a_name));
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok() && !port.starts_with('+');
    is_named && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Returns whether a byte is allowed in a host name. DNS names and addresses use a subset.
fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_a_name_or_address_with_optional_port() {
        for right in [
            "time.example.org",
            "localhost:8080",
            "127.0.0.1",
            "[::1]",
            "[::1]:8080",
            "[::ffff:192.0.2.1]",
            "a",
            "host_name.internal",
            "time.example.org:",
            "x:65535",
        ] {
            assert!(is_host(right), "{right}");
        }
        for wrong in [
            "",
            ":80",
            "a b",
            "a/b",
            "user@host",
            "a:b",
            "a:80:80",
            "a:65536",
            "a:-1",
            "a:+1",
            "[::1",
            "::1",
            "[]",
            "[x]",
            "[::1]80",
            "a\"b",
            "a<b",
            "a,b@c",
            "http://a",
            "a#b",
            "a?b",
            "a\\b",
            "é",
        ] {
            assert!(!is_host(wrong), "{wrong}");
        }
    }
}
