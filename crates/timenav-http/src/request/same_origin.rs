//! Checks whether a request was sent by a page of this service.
//!
//! Sources: W3C Fetch Metadata, `Sec-Fetch-Site`; RFC 6454 §7, `Origin`. A browser adds cookies to requests of any
//! page, so a cookie alone proves nothing. Every request with a cookie creates at least an entry, so reads are checked
//! as well as changes.

use http::request::Parts;
use http::{HeaderMap, Method, Uri};

use crate::request::params::SentAsQuery;
use crate::request::session_cookie::authority;
use crate::state::HttpOptions;

pub(crate) fn is_own_page(parts: &Parts, options: &HttpOptions) -> bool {
    match request_origin(parts, options) {
        RequestOrigin::Own => true,
        RequestOrigin::Other => false,
        // Opened from a bookmark or the address bar. A page cannot forge this.
        RequestOrigin::NoPage => is_safe(parts),
        // Browsers send the header only to trusted hosts, which excludes plain HTTP, and omit `Origin` on same-origin
        // reads. Only `SameSite` protects such requests.
        RequestOrigin::Nothing => options.allow_insecure_login && !options.is_secure() && is_safe(parts),
    }
}

/// Returns whether a request without a cookie may log in: it must not come from a page of another site. Clients other
/// than browsers send neither header.
pub(crate) fn may_log_in(parts: &Parts, options: &HttpOptions) -> bool {
    matches!(request_origin(parts, options), RequestOrigin::Own | RequestOrigin::Nothing)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestOrigin {
    Own,
    Other,
    NoPage,
    Nothing,
}

fn request_origin(parts: &Parts, options: &HttpOptions) -> RequestOrigin {
    match one(&parts.headers, "sec-fetch-site") {
        Some("same-origin") => return RequestOrigin::Own,
        Some("none") => return RequestOrigin::NoPage,
        Some(_) => return RequestOrigin::Other,
        None => {}
    }
    match one(&parts.headers, "origin") {
        Some(origin) if is_own_origin(origin, parts, options) => RequestOrigin::Own,
        Some(_) => RequestOrigin::Other,
        None => RequestOrigin::Nothing,
    }
}

/// Returns the value of a header. A duplicate or non-text header yields a value that matches no known one.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_some() { "" } else { first.to_str().unwrap_or("") })
}

fn is_own_origin(origin: &str, parts: &Parts, options: &HttpOptions) -> bool {
    if options.public_origin.as_deref().is_some_and(|public| public.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let scheme = if options.is_secure() { "https" } else { "http" };
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let is_scheme = uri.scheme_str().is_some_and(|given| given.eq_ignore_ascii_case(scheme));
    let named = authority(parts);
    let is_host = |given: &http::uri::Authority| {
        named.as_ref().is_some_and(|host| host.as_str().eq_ignore_ascii_case(given.as_str()))
    };
    is_scheme && uri.authority().is_some_and(is_host)
}

fn is_safe(parts: &Parts) -> bool {
    matches!(parts.method, Method::GET | Method::HEAD) && parts.extensions.get::<SentAsQuery>().is_none()
}
