//! What settings say about sessions: where browsers are, and how long one lasts.

use std::str::FromStr;

use reqwest::Url;
use serde::Deserialize;
use timenav_core::limits::SESSION_SECONDS_MAX;

/// The address under which browsers reach the service through a proxy that ends TLS.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    /// Returns scheme, host and port, as browsers write them (RFC 6454 §6.1).
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}; write https://time.example.org"))?;
        if url.scheme() != "https" {
            return Err("it starts with https://; what is not encrypted needs no such address".to_owned());
        }
        Ok(Self { origin: url.origin().ascii_serialization() })
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// How long a session lasts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub(crate) struct SessionSecs(u32);

impl SessionSecs {
    /// Returns the limit of that name in core.
    pub(super) const fn of(seconds: u32) -> Self {
        Self(seconds)
    }

    /// Returns the number.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for SessionSecs {
    type Error = String;

    fn try_from(seconds: u32) -> Result<Self, String> {
        if (1..=SESSION_SECONDS_MAX).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(format!("a session lasts 1 to {SESSION_SECONDS_MAX} seconds"))
        }
    }
}

impl FromStr for SessionSecs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u32>().map_err(|error| error.to_string())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_origin() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(text.parse::<PublicUrl>().ok().as_ref().map(PublicUrl::origin), expected, "{text}");
        };
        check("https://time.example.org", Some("https://time.example.org"));
        check("https://Time.Example.org:443/below/this", Some("https://time.example.org"));
        check("https://time.example.org:8443/", Some("https://time.example.org:8443"));
        check("http://time.example.org", None);
        check("time.example.org", None);
        check("", None);
    }

    #[test]
    fn a_session_lasts_from_a_second_to_a_month() {
        let check = |text: &str, expected| assert_eq!(text.parse::<SessionSecs>().ok().map(SessionSecs::get), expected);
        check("0", None);
        check("1", Some(1));
        check("2592000", Some(2_592_000));
        check("2592001", None);
        check("-1", None);
    }
}
