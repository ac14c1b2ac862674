//! Runs the examples in the README of the Rust client.

use timenav_client::FiringState;

use super::runtime;
use crate::support::service::Service;

// The following code is an example in crates/timenav-client/README.md.
use serde_json::{Value, json};
use timenav_client::{Client, Error, Geo, Method, NewEvent};

async fn moon(client: &Client) -> Result<Vec<String>, Error> {
    let landing = NewEvent::new("1969-07-20T20:17:40Z".parse()?)
        .event_id("moon-landing")
        .causes(["launch-of-apollo-11"])
        .geo(Geo::new(0.67, 23.47));
    client.record_events([landing]).if_match("*").await?; // only if the timeline exists
    let mut found = Vec::new();
    let mut pages = client.monitor_events("*", ..).text("moon").limit(100).pages();
    while let Some(page) = pages.next().await? {
        found.extend(page.events.into_iter().map(|event| event.event_id));
    }
    Ok(found)
}

async fn page_limit(client: &Client) -> Result<Option<u64>, Error> {
    let limits: Value = client.request(Method::GET, &["v1", "limits"], json!({})).await?;
    Ok(limits["limits"]["page_items_max"].as_u64())
}
// End of the example.

/// Runs the ten lines at the top of the README, with a client that is not configured by the environment.
async fn ten_lines(here: Client) -> Result<(), Box<dyn std::error::Error>> {
    // From here
    use timenav_client::{Client, Timer};

    let client = Client::clone(&here); // TIMENAV_URL, TIMENAV_API_KEY, TIMENAV_TIMELINE
    client.pause_time().await?;
    client.set_timer(&Timer::cron("0 9 * * *", "Europe/Paris").queue("billing")).await?;
    let listener = client
        .on("billing", |firing| async move {
            println!("billing at {}", firing.clock.now());
            Ok(())
        })
        .await?;
    let receipt = client.advance("P1M").await?; // returns once every morning of the month has been billed
    println!("{} mornings", receipt.acknowledged);
    listener.close().await?;
    // to here.
    Ok(())
}

/// Returns the text between two markers, without white space.
fn between(text: &str, start: &str, end: &str) -> String {
    let (_, text) = text.split_once(start).unwrap();
    text.split_once(end).unwrap().0.split_whitespace().collect()
}

#[test]
fn readme_examples_match_this_file() {
    let own = include_str!("readme.rs");
    let readme = include_str!("../../../../timenav-client/README.md");
    let (_, example) =
        own.split_once("// The following code is an example in crates/timenav-client/README.md.\n").unwrap();
    let (example, _) = example.split_once("// End of the example.").unwrap();
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "they differ");
    let example = between(readme, "```rust\n", "```").replace("Client::from_env()?", "Client::clone(&here)");
    assert_eq!(example, between(own, "// From here", "// to here."));
}

#[test]
fn readme_examples_run_as_described() {
    let service = Service::start();
    let client = Client::builder().base_url(service.url()).api_key(&service.admin).timeline_id("main").build().unwrap();
    runtime().block_on(async {
        let missing = moon(&client.with_timeline("nowhere")).await.unwrap_err();
        assert_eq!(missing.problem().unwrap().http_status, 404);
        assert_eq!(moon(&client).await.unwrap(), ["moon-landing"]);
        assert_eq!(page_limit(&client).await.unwrap(), Some(1_000));
        ten_lines(client.clone()).await.unwrap();
        let fired = client.firings().pages().all().await.unwrap();
        assert!(fired.len() > 27 && fired.iter().all(|firing| firing.state == FiringState::Acknowledged), "{fired:?}");
    });
    service.audit();
}
