//! Firing events and passed events, received across reconnects.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use timenav_client::{DueRange, FiringUpdate, Request, Timer, Watch};

use super::{Front, START, at, paused_client, paused_client_at, runtime};
use crate::support::service::{Service, timenav};

// The following code is an example in crates/timenav-client/README.md.
use timenav_client::{Advance, Client, Error, FiringChange, WatchMessage};

async fn failures(client: &Client) -> Result<Vec<String>, Error> {
    let mut watch = client.watch_firings("billing").await?; // `None` means all queues
    let receipt = client.advance(Advance::by("P1M").allow_failed_firings()).await?;
    let (mut failed, mut left) = (Vec::new(), receipt.failed);
    while left > 0
        && let Some(message) = watch.next().await?
    {
        match message {
            WatchMessage::Update(update) if update.firing.change == FiringChange::Failed => {
                failed.push(update.firing.timer_id);
                left -= 1;
            }
            WatchMessage::Gap(gap) if gap.is_reset => break, // any message may be missing
            WatchMessage::Update(_) | WatchMessage::Gap(_) => {}
        }
    }
    Ok(failed)
}
// End of the example.

#[test]
fn readme_example_matches_this_file() {
    let own = include_str!("watching.rs");
    let (_, example) =
        own.split_once("// The following code is an example in crates/timenav-client/README.md.\n").unwrap();
    let (example, _) = example.split_once("// End of the example.").unwrap();
    let readme = include_str!("../../../../timenav-client/README.md");
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "they differ");
}

/// Returns the event and timer of the next firing message; `gap` or `reset` if messages may be missing.
async fn fired(watch: &mut Watch<WatchMessage<FiringUpdate>>) -> String {
    match watch.next().await.unwrap().expect("the watch is open") {
        WatchMessage::Update(FiringUpdate { firing, .. }) => format!("{:?} {}", firing.change, firing.timer_id),
        WatchMessage::Gap(gap) => (if gap.is_reset { "reset" } else { "gap" }).to_owned(),
    }
}

/// Returns the range passed by the clock; `reset` if messages may be missing.
async fn passed(watch: &mut Watch<WatchMessage<DueRange>>) -> String {
    match watch.next().await.unwrap().expect("the watch is open") {
        WatchMessage::Update(DueRange { first, last, time_range, .. }) => {
            assert_eq!(time_range, format!("{first}/{last}"));
            time_range
        }
        WatchMessage::Gap(gap) => (if gap.is_reset { "reset" } else { "gap" }).to_owned(),
    }
}

async fn record(client: &Client, timeline: &str, days: &[u8]) {
    let events = days.iter().map(|day| json!({ "time": format!("2027-01-0{day}T00:00:00Z"), "name": "A day" }));
    let request = Request::post(&["v1", "events"]).query("timeline_id", timeline);
    client.send(request.json(&events.collect::<Vec<_>>()).unwrap()).await.unwrap();
}

#[test]
fn watched_firings_are_not_claimed() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "watched").await;
        let mut billing = client.watch_firings("billing").await.unwrap();
        let mut all = client.watch_firings(None).await.unwrap();
        assert_eq!(billing.last_id(), "");
        // A canceled wait loses no messages.
        assert!(tokio::time::timeout(Duration::from_millis(50), billing.next()).await.is_err());
        client.set_timer(&Timer::at(at("2027-01-02T00:00:00Z")).id("renew").queue("billing")).await.unwrap();
        client.set_timer(&Timer::at(at("2027-01-02T00:00:00Z")).id("other")).await.unwrap();
        client.advance("2d").await.unwrap();
        let Ok(Some(WatchMessage::Update(offered))) = billing.next().await else { panic!("no update") };
        let firing = &offered.firing;
        assert_eq!((firing.change, firing.timer_id.as_str()), (FiringChange::Offered, "renew"));
        assert_eq!((firing.due, firing.queue.as_deref()), (at("2027-01-02T00:00:00Z"), Some("billing")));
        assert_eq!((offered.timeline_id.as_str(), offered.id.as_str()), ("watched", billing.last_id()));
        let claim = Request::post(&["v1", "queues", "billing", "claim"]).json(&json!({ "timeline_id": "watched" }));
        let claimed: Value = client.json(claim.unwrap()).await.unwrap();
        let Ok(Some(WatchMessage::Update(leased))) = billing.next().await else { panic!("no update") };
        assert_eq!((leased.firing.claimed_by.as_deref(), leased.firing.attempt), (Some("admin"), Some(1)));
        assert_eq!(leased.firing.leased_until.unwrap().to_string(), claimed["firings"][0]["leased_until"]);
        let done = json!({ "timeline_id": "watched", "firing_ids": [firing.firing_id] });
        client.send(Request::post(&["v1", "firings", "ack"]).json(&done).unwrap()).await.unwrap();
        assert_eq!(fired(&mut billing).await, "Acknowledged renew");
        let mut both = [fired(&mut all).await, fired(&mut all).await];
        both.sort();
        assert_eq!(both, ["Offered other", "Offered renew"]);
        // A client that resumes gets the missed messages, and a notice that claims may be missing.
        let mut again = client.watch_firings_after("billing", &offered.id).await.unwrap();
        assert_eq!([fired(&mut again).await, fired(&mut again).await], ["gap", "Acknowledged renew"]);
        again.close();
        assert!(again.next().await.unwrap().is_none(), "it was closed");
        let refused = client.watch_firings("no queue").await.unwrap_err();
        assert_eq!(refused.problem().unwrap().code, "invalid_parameter");
        client.set_timer(&Timer::at(at("2027-01-05T00:00:00Z")).id("declined").queue("billing")).await.unwrap();
        let declining = client.on("billing", |_| std::future::ready(Err("declined".into()))).await.unwrap();
        assert_eq!(failures(&client).await.unwrap(), ["declined"]);
        declining.close().await.unwrap();
    });
    service.audit();
}

#[test]
fn watch_reports_events_passed_by_the_clock() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "played").await;
        record(&client, "played", &[2, 3, 9]).await;
        let mut due = client.watch_due().await.unwrap();
        client.advance("5d").await.unwrap();
        assert_eq!(passed(&mut due).await, "2027-01-01T00:00:00.000001Z/2027-01-06T00:00:00Z");
        client.rewind("4d").await.unwrap();
        client.advance("2d").await.unwrap();
        assert_eq!(passed(&mut due).await, "2027-01-02T00:00:00.000001Z/2027-01-04T00:00:00Z");
        client.advance("P1M").await.unwrap();
        let mut again = client.watch_due_after(due.last_id()).await.unwrap();
        assert_eq!(passed(&mut again).await, "2027-01-04T00:00:00.000001Z/2027-02-04T00:00:00Z");
    });
    service.audit();
}

#[test]
fn watch_reconnects_after_crash_and_ends_with_its_key() {
    let mut service = Service::start();
    let runtime = runtime();
    let (front, client, mut firings, mut due) = runtime.block_on(async {
        let front = Front::before(&service).await;
        let client = paused_client_at(&front.url, &service.admin, "crash").await;
        record(&client, "crash", &[2, 4]).await;
        let mut firings = client.watch_firings(None).await.unwrap();
        let mut due = client.watch_due().await.unwrap();
        client.set_timer(&Timer::at(at(START)).id("before")).await.unwrap();
        client.advance("36h").await.unwrap();
        assert_eq!(fired(&mut firings).await, "Offered before");
        assert_eq!(passed(&mut due).await, "2027-01-01T00:00:00.000001Z/2027-01-02T12:00:00Z");
        (front, client, firings, due)
    });
    service.kill();
    service.start_again();
    runtime.block_on(async {
        *front.service.lock().unwrap() = service.address();
        client.set_timer(&Timer::at(at(START)).id("after")).await.unwrap();
        client.advance("3d").await.unwrap();
        assert_eq!([fired(&mut firings).await, fired(&mut firings).await], ["gap", "Offered after"]);
        assert_eq!(passed(&mut due).await, "2027-01-02T12:00:00.000001Z/2027-01-05T12:00:00Z");
        let key: Value = client
            .json(Request::post(&["v1", "api-keys"]).json(&json!({ "timeline_id": "crash" })).unwrap())
            .await
            .unwrap();
        let other =
            Client::builder().base_url(&front.url).api_key(key["api_key"].as_str().unwrap()).timeline_id("crash");
        let mut watch = other.build().unwrap().watch_firings(None).await.unwrap();
        let revoked =
            Request::new(timenav_client::Method::DELETE, &["v1", "api-keys", key["key_id"].as_str().unwrap()]);
        client.send(revoked).await.unwrap();
        assert_eq!(watch.next().await.unwrap_err().problem().unwrap().http_status, 401);
        assert!(watch.next().await.unwrap().is_none());
    });
    service.audit();
}

#[test]
fn command_line_watches_reconnect_after_a_crash() {
    let mut service = Service::start();
    let runtime = runtime();
    let (front, client) = runtime.block_on(async {
        let front = Front::before(&service).await;
        let client = paused_client_at(&front.url, &service.admin, "shown").await;
        client.set_timer(&Timer::at(at(START)).id("before")).await.unwrap();
        (front, client)
    });
    let spawn = |arguments: &[&str]| {
        let mut command = timenav();
        command.args(arguments).args(["--timeline", "shown"]);
        command.env("TIMENAV_URL", &front.url).env("TIMENAV_API_KEY", &service.admin);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        (child, lines)
    };
    let (timers, mut of_timers) = spawn(&["timer", "watch", "--after", "0"]);
    let (clock, mut of_clock) = spawn(&["clock", "watch"]);
    let (stream, mut of_stream) = spawn(&["stream", "--topics", "events", "--after", "0"]);
    let read_lines = |lines: &mut dyn Iterator<Item = String>, expected: &str| {
        let line = lines.next().unwrap();
        assert!(line.ends_with(expected), "{line}");
    };
    read_lines(&mut of_timers, "  gap: claims and failed attempts may be missing");
    read_lines(&mut of_timers, "  2027-01-01T00:00:00Z  before  default  offered");
    read_lines(&mut of_clock, "  paused  rate 1  (generation 2)");
    runtime.block_on(record(&client, "shown", &[2]));
    read_lines(&mut of_stream, "  2027-01-02T00:00:00Z  A day");
    service.kill();
    service.start_again();
    *front.service.lock().unwrap() = service.address();
    runtime.block_on(async {
        client.set_timer(&Timer::at(at(START)).id("after")).await.unwrap();
        record(&client, "shown", &[4]).await;
        client.advance("1d").await.unwrap();
    });
    read_lines(&mut of_timers, "  gap: claims and failed attempts may be missing");
    read_lines(&mut of_timers, "  2027-01-01T00:00:00Z  after  default  offered");
    read_lines(&mut of_clock, "2027-01-02T00:00:00Z  paused  rate 1  (generation 3)");
    read_lines(&mut of_stream, "  2027-01-04T00:00:00Z  A day");
    for mut child in [timers, clock, stream] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    service.audit();
}
