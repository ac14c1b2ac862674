use std::str::FromStr;

use reqwest::Url;

/// The URL at which browsers reach the service through a proxy that terminates TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    /// Returns scheme, host and port in the form that browsers send (RFC 6454 §6.1).
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}; write it like https://time.example.org"))?;
        if url.scheme() != "https" {
            return Err("it must start with https://; a service without encryption does not need this".to_owned());
        }
        Ok(Self { origin: url.origin().ascii_serialization() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_url_is_reduced_to_an_https_origin() {
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
}
