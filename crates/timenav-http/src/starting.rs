use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use parking_lot::Mutex;
use timenav_engine::Refusal;
use tower::{ServiceExt as _, service_fn};

use crate::response::finish::REQUEST_ID;
use crate::response::problem::Failure;
use crate::service::{METRICS_TYPE, running};

/// Until the database is available, responds to probes, and with 503 to everything else.
#[derive(Default)]
pub struct Starting {
    reason: Mutex<String>,
    /// Number of rejected requests, also used for their request ids.
    rejected: AtomicU64,
    service: OnceLock<Router>,
}

impl Starting {
    /// Returns the router that serves requests before and after [`Starting::begin`].
    pub fn router(self: &Arc<Self>) -> Router {
        let starting = Arc::clone(self);
        Router::new().fallback_service(service_fn(move |request: Request| {
            let starting = Arc::clone(&starting);
            async move {
                match starting.service.get() {
                    Some(service) => service.clone().oneshot(request).await,
                    None => Ok::<_, Infallible>(starting.waiting(request.uri().path())),
                }
            }
        }))
    }

    pub fn wait(&self, reason: &str) {
        reason.clone_into(&mut self.reason.lock());
    }

    pub fn begin(&self, service: Router) {
        let _ = self.service.set(service);
    }

    fn waiting(&self, path: &str) -> Response {
        match path {
            "/healthz" => running().into_response(),
            "/metrics" => {
                let ready = "# HELP timenav_ready Whether the service can read and write, as reported by /readyz.\n\
                             # TYPE timenav_ready gauge\ntimenav_ready 0\n# EOF\n";
                ([(header::CONTENT_TYPE, METRICS_TYPE)], ready).into_response()
            }
            _ => {
                let reason = format!("the service is waiting for its database: {}", self.reason.lock());
                let failure = Failure::Refused(Refusal::Unavailable(reason));
                let id = format!("starting_{}", self.rejected.fetch_add(1, Ordering::Relaxed));
                let problem = failure.problem(&id);
                let mut response = failure.into_response();
                response.headers_mut().remove(header::CONTENT_LENGTH);
                response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
                if let Ok(id) = HeaderValue::try_from(id) {
                    response.headers_mut().insert(REQUEST_ID, id);
                }
                *response.body_mut() = Body::from(serde_json::to_vec(&problem).unwrap_or_default());
                response
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn waiting_service_is_alive_and_not_ready() {
        let starting = Arc::<Starting>::default();
        let router = starting.router();
        let send = |path: &str| {
            let request = Request::builder().uri(path).body(Body::empty()).unwrap();
            let router = router.clone();
            async move { router.oneshot(request).await.unwrap() }
        };
        starting.wait("connection refused");
        assert_eq!(send("/healthz").await.status(), StatusCode::OK);
        assert_eq!(send("/metrics").await.status(), StatusCode::OK);
        for path in ["/readyz", "/v1/clock", "/"] {
            let response = send(path).await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert_eq!(response.headers()[header::RETRY_AFTER], "1");
            let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
            let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(problem["code"], "unavailable");
            assert!(problem["detail"].as_str().unwrap().contains("connection refused"), "{problem}");
        }
        starting.begin(Router::new().route("/v1/clock", get(|| async { "noon" })));
        assert_eq!(send("/v1/clock").await.status(), StatusCode::OK);
        assert_eq!(send("/healthz").await.status(), StatusCode::NOT_FOUND);
    }
}
