//! Arbitrary requests, for `timenav api`.

use timenav_client::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use timenav_client::{Method, Request};

use super::{Answer, Client, ONCE};
use crate::exit::Failure;

pub(crate) struct Call {
    pub(crate) method: Method,
    /// The path below the service URL, with the query.
    pub(crate) target: String,
    /// Headers in addition to the key.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

impl Client {
    /// A JSON response is returned; the bytes of other responses are passed on as they arrive.
    pub(crate) fn call(
        &self,
        call: Call,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<Option<Answer>, Failure> {
        let mut headers = call.headers;
        if call.body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !headers.contains_key(ACCEPT) {
            // Responses without a JSON form, such as exports and streams, keep their own format.
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        }
        let request = Request::at(call.method, &call.target)?.headers(headers).without_timeout();
        let once = self.api.with_retries(ONCE);
        let response = self.runtime.block_on(async {
            match call.body {
                Some(body) => once.upload(request, body).await,
                None => once.send(request).await,
            }
        })?;
        if is_json(response.content_type()) {
            return self.answer(response).map(Some);
        }
        self.each_chunk(response, each)?;
        Ok(None)
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json") && kind != "application/geo+json"
}
