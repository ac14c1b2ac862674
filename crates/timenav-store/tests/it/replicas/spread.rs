//! Entries that Citus spreads over several servers: the one with a head may commit before the one with its last entry.

use std::time::Duration as HostDuration;

use tokio::time::timeout;

use super::{end, generation, hour, two};
use crate::cluster::{execute, is_spread};
use crate::house::{House, is_unavailable, told};

/// Takes the last entry of `main` away, as it is while a server has not committed its part.
const TAKE_AWAY: &str = "CREATE TABLE aside AS SELECT * FROM entries
    WHERE (timeline, position) IN (SELECT timeline, size - 1 FROM timelines WHERE timeline_id = 'main');
    DELETE FROM entries WHERE (timeline, position) IN (SELECT timeline, position FROM aside)";
const BRING_BACK: &str = "INSERT INTO entries SELECT * FROM aside; DROP TABLE aside";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_change_that_citus_has_not_finished_is_waited_for_and_stops_nobody() {
    if !is_spread() {
        return println!("not tried: it needs PG_CITUS_WORKERS");
    }
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let url = house.database();
    let before = generation(&right).await;
    left.engine.change_clock(&left.admin, None, hour(), None).await.unwrap();
    execute(&url, TAKE_AWAY);
    // For a moment it is waited for.
    let (engine, caller) = (right.engine.clone(), right.admin.clone());
    let reading = tokio::spawn(async move { engine.read_clock(&caller, None).await });
    let _ = timeout(HostDuration::from_millis(100), std::future::pending::<()>()).await;
    assert!(!reading.is_finished(), "{}", told(&reading.await.unwrap()));
    execute(&url, BRING_BACK);
    assert_eq!(reading.await.unwrap().unwrap().clock.generation, before + 1);
    // After that the other one says that it cannot tell now, and goes on once it can.
    left.engine.change_clock(&left.admin, None, hour(), None).await.unwrap();
    execute(&url, TAKE_AWAY);
    let refused = right.engine.read_clock(&right.admin, None).await;
    assert!(is_unavailable(&refused), "{}", told(&refused));
    let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
    assert!(is_unavailable(&refused), "{}", told(&refused));
    execute(&url, BRING_BACK);
    right.engine.change_clock(&right.admin, None, hour(), None).await.unwrap();
    assert_eq!(generation(&right).await, before + 3);
    end(&house, [left, right]).await;
}
