//! Entries distributed over several servers by Citus: the server with a head may commit before the one with its last
//! entry.

use crate::cluster::is_spread;
use crate::replicas::*;

/// Removes the last entry of `main`, as if a server had not committed its part yet.
const TAKE_AWAY: &str = "CREATE TABLE aside AS SELECT * FROM entries
    WHERE (timeline, position) IN (SELECT timeline, size - 1 FROM timelines WHERE timeline_id = 'main');
    DELETE FROM entries WHERE (timeline, position) IN (SELECT timeline, position FROM aside)";
const BRING_BACK: &str = "INSERT INTO entries SELECT * FROM aside; DROP TABLE aside";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unfinished_citus_commit_is_awaited_without_stopping_the_service() {
    if !is_spread() {
        return println!("not tried: it needs PG_CITUS_WORKERS");
    }
    let (left, right) = pair().await;
    let url = left.house.database();
    let before = generation(&right).await;
    left.change_clock(None, hour()).await;
    execute(&url, TAKE_AWAY);
    // For a short time, reads wait for it.
    let reading = right.spawn(move |engine, caller| async move { engine.read_clock(&caller, None).await });
    let _ = timeout(HostDuration::from_millis(100), std::future::pending::<()>()).await;
    assert!(!reading.is_finished(), "{}", outcome_text(&reading.await.unwrap()));
    execute(&url, BRING_BACK);
    assert_eq!(reading.await.unwrap().unwrap().clock.generation, before + 1);
    // After that the other one reports that it cannot respond now, and continues once it can.
    left.change_clock(None, hour()).await;
    execute(&url, TAKE_AWAY);
    let refused = right.engine.read_clock(&right.admin, None).await;
    assert!(is_unavailable(&refused), "{}", outcome_text(&refused));
    let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
    assert!(is_unavailable(&refused), "{}", outcome_text(&refused));
    execute(&url, BRING_BACK);
    right.change_clock(None, hour()).await;
    assert_eq!(generation(&right).await, before + 3);
    end([left, right]).await;
}

/// Saves the ids of two-phase commits that Citus still knows. It cleans them up within a second.
const KEEP_PREPARED: &str = "CREATE TABLE IF NOT EXISTS prepared (gid TEXT PRIMARY KEY);
    INSERT INTO prepared SELECT gid FROM pg_dist_transaction ON CONFLICT DO NOTHING";

/// A server that has prepared its part of a commit cannot lose it. Citus prepares only servers on which it saw a write,
/// and does not see it if the transaction has read from that server before, like when recording an event.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commits_are_prepared_on_the_citus_server_with_the_entries() {
    if !is_spread() {
        return println!("not tried: it needs PG_CITUS_WORKERS");
    }
    let (left, right) = pair().await;
    let url = left.house.database();
    for number in 0..10 {
        for (home, side) in [(&left, "left"), (&right, "right")] {
            // The check for an existing event is in the transaction that writes it.
            let drafts = vec![draft(&format!("{side}{number}"))];
            home.record_events(None, drafts).await;
            execute(&url, KEEP_PREPARED);
        }
    }
    // Some may be gone before they are saved.
    execute(&url, "DO $$ BEGIN ASSERT (SELECT count(*) FROM prepared) >= 16; END $$");
    end([left, right]).await;
}
