//! Any request, as somebody wrote it.

use anyhow::{Context as _, bail};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};

use super::{Answer, Client};
use crate::exit::Failure;

/// A request that no command makes.
pub(crate) struct Call {
    /// How.
    pub(crate) method: Method,
    /// The path below the service's own, and the query.
    pub(crate) target: String,
    /// What is sent beside the key.
    pub(crate) headers: HeaderMap,
    /// What is sent.
    pub(crate) body: Option<Vec<u8>>,
}

impl Client {
    /// Sends a request as it was written. An answer in JSON is returned; the bytes of another one are handed over as they
    /// come.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn call(
        &self,
        call: Call,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<Option<Answer>, Failure> {
        let url = below(&self.target.url, &call.target)?;
        let mut headers = call.headers;
        if call.body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !headers.contains_key(ACCEPT) {
            // What has no form in JSON, such as an export or a stream, is answered in its own.
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        }
        let mut request = self.http.request(call.method, url).headers(headers);
        if let Some(body) = call.body {
            request = request.body(body);
        }
        let response = self.send(request)?;
        if is_json(&response) || !response.status().is_success() {
            return self.answer(response).map(Some);
        }
        self.each_chunk(response, each)?;
        Ok(None)
    }
}

fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json") && kind != "application/geo+json"
}

/// Returns an address below the service's own.
fn below(base: &Url, target: &str) -> anyhow::Result<Url> {
    if !target.starts_with('/') {
        bail!("the path starts with `/`, as /v1/clock does");
    }
    let url = format!("{}{target}", base.as_str().trim_end_matches('/'));
    Url::parse(&url).with_context(|| format!("there is no address {url}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_service() {
        let check = |base: &str, target: &str, expected: Option<&str>| {
            let url = below(&Url::parse(base).unwrap(), target).ok();
            assert_eq!(url.as_ref().map(Url::as_str), expected);
            assert!(url.is_none_or(|url| url.host_str() == Some("h")));
        };
        check("http://h:1", "/v1/clock?timeline_id=a", Some("http://h:1/v1/clock?timeline_id=a"));
        check("http://h:1/time/", "/v1/clock", Some("http://h:1/time/v1/clock"));
        check("http://h:1", "//other/x", Some("http://h:1//other/x"));
        check("http://h:1", "/@other/x", Some("http://h:1/@other/x"));
        check("http://h:1", "@other/x", None);
        check("http://h:1", "v1/clock", None);
    }
}
