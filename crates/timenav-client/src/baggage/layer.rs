use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use tower_layer::Layer;
use tower_service::Service;

use super::request_clock::joined;
use super::request_clocks::{NoClockForRequest, RequestClocks};

/// Serves each request with the clock of the timeline that its `baggage` header names, or else of the client's own.
///
/// It responds with 400 if the timeline is invalid or unknown, and with 503 if the clock cannot be read. No request is
/// served with the host's time.
#[derive(Clone, Debug)]
pub struct ClockLayer {
    clocks: RequestClocks,
}

impl ClockLayer {
    /// Returns a layer that uses these clocks.
    #[must_use]
    pub const fn new(clocks: RequestClocks) -> Self {
        Self { clocks }
    }
}

impl<S> Layer<S> for ClockLayer {
    type Service = ClockService<S>;

    fn layer(&self, inner: S) -> ClockService<S> {
        ClockService { inner, clocks: self.clocks.clone() }
    }
}

/// A service inside a [`ClockLayer`].
#[derive(Clone, Debug)]
pub struct ClockService<S> {
    inner: S,
    clocks: RequestClocks,
}

impl<S, B, R> Service<Request<B>> for ClockService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    R: From<String>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // `poll_ready` was called on this instance, so use it now and keep the clone for the next call.
        let copy = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, copy);
        let clocks = self.clocks.clone();
        Box::pin(async move {
            let clock = match clocks.for_header(joined(request.headers()).as_deref()).await {
                Ok(clock) => clock,
                Err(error) => return Ok(rejection(&error)),
            };
            request.extensions_mut().insert(clock.clone());
            clock.scope(async move { inner.call(request).await }).await
        })
    }
}

fn rejection<R: From<String>>(error: &NoClockForRequest) -> Response<R> {
    let (status, text) = match error {
        NoClockForRequest::Baggage(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")),
        NoClockForRequest::TooMany(_) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        NoClockForRequest::Unavailable(error) => {
            tracing::warn!(%error, "a request was rejected, because its clock cannot be read");
            // Details are for the operator of this service, not for its clients.
            let text = "the clock of this request cannot be read; try again\n";
            (StatusCode::SERVICE_UNAVAILABLE, text.to_owned())
        }
    };
    let mut response = Response::new(R::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
