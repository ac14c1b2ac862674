use std::str::FromStr;

use reqwest::Url;

/// The path of traces below the collector URL (OTLP 1.10, "OTLP/HTTP Request").
const TRACES: [&str; 2] = ["v1", "traces"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtlpUrl(Url);

impl OtlpUrl {
    #[cfg_attr(not(any(test, feature = "otel")), expect(dead_code, reason = "only traces use it"))]
    pub(crate) fn traces(&self) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(TRACES);
        }
        url
    }
}

impl FromStr for OtlpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write it like http://127.0.0.1:4318";
        let url = Url::parse(text).map_err(|error| format!("{error}; {FORM}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(format!("it must start with http:// or https://; {FORM}"));
        }
        // Other processes can read flags, and the URL is logged.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "it must not hold a password; give the collector's headers in OTEL_EXPORTER_OTLP_HEADERS".into()
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("it must have no query and no fragment; {FORM}"));
        }
        let segments: Vec<_> = url.path_segments().map(Iterator::collect).unwrap_or_default();
        if segments.ends_with(&TRACES) {
            return Err("it must be the address of the collector alone: /v1/traces is appended to it".to_owned());
        }
        Ok(Self(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_url_is_built_below_the_endpoint() {
        let check = |text: &str, expected: Option<&str>| {
            let url = text.parse::<OtlpUrl>().map(|url| url.traces().to_string());
            assert_eq!(url.as_deref().ok(), expected, "{text}: {url:?}");
        };
        check("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/traces"));
        check("https://traces.example.org/team/", Some("https://traces.example.org/team/v1/traces"));
        check("http://[::1]:4318/a", Some("http://[::1]:4318/a/v1/traces"));
        for wrong in [
            "",
            "127.0.0.1:4318",
            "grpc://127.0.0.1:4317",
            "http://",
            "http://ada:secret@collector:4318",
            "http://collector:4318/?x=1",
            "http://collector:4318/#x",
            "http://collector:4318/v1/traces",
        ] {
            check(wrong, None);
        }
    }
}
