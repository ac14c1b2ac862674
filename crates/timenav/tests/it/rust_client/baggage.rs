//! The clock in request baggage, in an axum service.

use http::{HeaderMap, Request as HttpRequest, StatusCode};
use serde_json::json;
use timenav_client::{Request, VirtualClock};
use tower::ServiceExt as _;

use super::{at, runtime};
use crate::support::service::Service;
use crate::support::waiting::until_so;

// The following code is an example in crates/timenav-client/README.md.
use axum::{Extension, Router, routing::get};
use timenav_client::Client;
use timenav_client::baggage::{ClockLayer, RequestClock, RequestClocks};

async fn now(Extension(clock): Extension<RequestClock>) -> String {
    clock.now().map_or_else(|error| error.to_string(), |now| now.to_string())
}

fn shop(client: Client) -> Router {
    let clocks = RequestClocks::new(client).allowed(|timeline| timeline != "system");
    Router::new().route("/now", get(now)).layer(ClockLayer::new(clocks))
}
// End of the example.

/// Returns the result of the function, here and in a task, and the forwarded baggage.
async fn elsewhere() -> String {
    let clock = timenav_client::baggage::clock().unwrap();
    assert!(tokio::spawn(async { timenav_client::baggage::clock() }).await.unwrap().is_none());
    let inside = clock.clone().scope(async { timenav_client::baggage::clock().unwrap().timeline_id().to_owned() });
    assert_eq!(tokio::spawn(inside).await.unwrap(), clock.timeline_id());
    let mut head = HeaderMap::from_iter([("baggage".parse().unwrap(), "region=eu,timenav=old".parse().unwrap())]);
    timenav_client::baggage::forward_timeline(&mut head);
    format!("{} {}", clock.now().unwrap(), head["baggage"].to_str().unwrap())
}

/// Returns the status and text of a response.
async fn ask(app: &Router, path: &str, baggage: &[&str]) -> (StatusCode, String) {
    let mut request = HttpRequest::get(path);
    for header in baggage {
        request = request.header("baggage", *header);
    }
    let answer = app.clone().oneshot(request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
    let is_later = answer.headers().get("retry-after").is_some_and(|value| value == "1");
    assert_eq!(is_later, answer.status() == StatusCode::SERVICE_UNAVAILABLE);
    let (status, body) = (answer.status(), axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap());
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Creates a timeline with a clock paused at a time.
fn paused_client_at(service: &Service, timeline: &str, moment: &str) {
    service.post("/timelines", &json!({ "timeline_id": timeline }));
    service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
    service.post("/v1/travel", &json!({ "destination_time": moment, "timeline_id": timeline }));
}

#[test]
fn requests_use_the_clock_of_their_baggage() {
    let service = Service::start();
    let client = Client::builder().base_url(service.url()).api_key(&service.admin).build().unwrap();
    paused_client_at(&service, "leap:day", "2028-02-29T09:00:00Z");
    paused_client_at(&service, "moon", "1969-07-20T20:17:40Z");
    paused_client_at(&service, "third", "2000-01-01T00:00:00Z");
    paused_client_at(&service, "main-too", "1999-12-31T00:00:00Z");
    let (runtime, problem_text) = (runtime(), |text: &str| (StatusCode::OK, text.to_owned()));
    let app = runtime.block_on(async {
        let app = shop(client.with_timeline("main-too"));
        for _ in 0..2 {
            let (leap_day, moon) = tokio::join!(
                ask(&app, "/now", &["userId=alice", "timenav=leap%3Aday;p=1"]),
                ask(&app, "/now", &["timenav=moon"]),
            );
            assert_eq!((leap_day, moon), (problem_text("2028-02-29T09:00:00Z"), problem_text("1969-07-20T20:17:40Z")));
        }
        assert_eq!(ask(&app, "/now", &[]).await, problem_text("1999-12-31T00:00:00Z"));
        for (baggage, output) in [
            (&["timenav=nowhere"][..], "nowhere"),
            (&["timenav=moon", "timenav=third"], "two timelines"),
            (&["timenav=system"], "may not use"),
            (&["timenav="], "is empty"),
        ] {
            let (status, text) = ask(&app, "/now", baggage).await;
            assert!(status == StatusCode::BAD_REQUEST && text.contains(output), "{baggage:?}: {status} {text}");
        }
        app
    });
    // Moving the clock changes the time in the application.
    service.post("/v1/travel", &json!({ "destination_time": "2040-01-01T00:00:00Z", "timeline_id": "moon" }));
    let is_reported = |moment: &str| runtime.block_on(ask(&app, "/now", &["timenav=moon"])) == problem_text(moment);
    until_so("the jump", || is_reported("2040-01-01T00:00:00Z"));
    runtime.block_on(client.send(Request::at(timenav_client::Method::DELETE, "/timeline/moon").unwrap())).unwrap();
    until_so("the end of the timeline", || {
        runtime.block_on(ask(&app, "/now", &["timenav=moon"])).0 == StatusCode::BAD_REQUEST
    });
    drop((app, runtime));
    service.audit();
}

fn is_same(one: &VirtualClock, other: &VirtualClock) -> bool {
    std::ptr::eq(one, other)
}

#[test]
fn clocks_are_shared_and_unused_ones_evicted() {
    let service = Service::start();
    let client = Client::builder().base_url(service.url()).api_key(&service.admin).build().unwrap();
    for (number, timeline) in ["a", "b", "c"].into_iter().enumerate() {
        paused_client_at(&service, timeline, &format!("203{number}-01-01T00:00:00Z"));
    }
    runtime().block_on(async {
        let clocks = RequestClocks::new(client).clocks_max(2);
        let of = |timeline: &str| {
            let (clocks, header) = (clocks.clone(), format!("timenav={timeline}"));
            async move { clocks.for_header(Some(&header)).await }
        };
        // The first user opens it for all.
        let (first, second) = tokio::join!(of("a"), of("a"));
        assert!(is_same(first.as_ref().unwrap(), second.as_ref().unwrap()));
        let other = of("b").await.unwrap();
        let refused = of("c").await.unwrap_err();
        assert!(refused.to_string().contains("all 2 clocks are in use"), "{refused}");
        drop((first, second));
        assert_eq!(of("c").await.unwrap().now(), Ok(at("2032-01-01T00:00:00Z")));
        // The unused one was closed, and the other is still the same.
        assert!(is_same(&of("b").await.unwrap(), &other));
        let app = Router::new().route("/", get(elsewhere)).layer(ClockLayer::new(clocks.clone()));
        let expected = "2031-01-01T00:00:00Z region=eu,timenav=b".to_owned();
        assert_eq!(ask(&app, "/", &["timenav=b"]).await, (StatusCode::OK, expected));
        let unused = Client::builder().base_url("http://127.0.0.1:1").api_key("tnk_x").build().unwrap();
        let (status, text) = ask(&shop(unused), "/now", &[]).await;
        assert!(status == StatusCode::SERVICE_UNAVAILABLE && !text.contains("127.0.0.1"), "{text}");
    });
    service.audit();
}

#[test]
fn readme_example_matches_this_file() {
    let own = include_str!("baggage.rs");
    let (_, example) =
        own.split_once("// The following code is an example in crates/timenav-client/README.md.\n").unwrap();
    let (example, _) = example.split_once("// End of the example.").unwrap();
    let readme = include_str!("../../../../timenav-client/README.md");
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "they differ");
}
