//! Concurrent scans, and scans that are abandoned.

use timenav_engine::{EngineStats, SCANS_RUNNING_MAX, SCANS_RUNNING_PER_USER_MAX};

use crate::engine::*;

fn counts(stats: EngineStats) -> [u64; 3] {
    [stats.scans_running, stats.scans_finished, stats.scans_cancelled]
}

#[tokio::test]
async fn concurrent_scans_are_limited_and_dropped_ones_free_capacity() {
    let (store, home) = House::new().into_faulty_home().await;
    let main = timeline_id("main");
    // Scans stop before they read their first entries.
    store.scan_gate.forget_permits(OPEN_PERMITS);
    let mut running = Vec::new();
    let other = home.user("other", true).await;
    for number in 1..=SCANS_RUNNING_MAX as u64 {
        let (engine, main) = (home.engine.clone(), main.clone());
        let caller = if number <= SCANS_RUNNING_PER_USER_MAX as u64 { &home.admin } else { &other };
        if number == SCANS_RUNNING_PER_USER_MAX as u64 + 1 {
            let lines = home.lines().await.len();
            let refused = engine.ask_for_scan(&home.admin, &main, Depth::Quick).await.unwrap_err();
            assert!(matches!(refused, Refusal::RateLimited { .. }), "one user takes no more than a share: {refused}");
            assert_eq!(home.lines().await.len(), lines, "what found no place is not in the ledger");
        }
        let request = engine.ask_for_scan(caller, &main, Depth::Full).await.unwrap();
        running.push(tokio::spawn(async move { engine.run_scan(request, &mut |_| ()).await }));
        assert_eq!(counts(home.engine.stats()), [number, 0, 0]);
    }
    let third = home.user("third", true).await;
    let lines = home.lines().await.len();
    let refused = home.engine.ask_for_scan(&third, &main, Depth::Quick).await.unwrap_err();
    assert!(matches!(refused, Refusal::RateLimited { retry_after_seconds: 5, .. }), "{refused}");
    assert_eq!(home.lines().await.len(), lines, "what found no place is not in the ledger");
    // One is abandoned while it waits for its entries.
    let dropped = running.pop().unwrap();
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    assert_eq!(counts(home.engine.stats()), [SCANS_RUNNING_MAX as u64 - 1, 0, 1]);
    let request = home.engine.ask_for_scan(&other, &main, Depth::Full).await.unwrap();
    assert_eq!(counts(home.engine.stats()), [SCANS_RUNNING_MAX as u64, 0, 1]);
    drop(request);
    assert_eq!(counts(home.engine.stats()), [SCANS_RUNNING_MAX as u64 - 1, 0, 2]);
    store.scan_gate.add_permits(OPEN_PERMITS);
    for scan in running {
        assert!(!scan.await.unwrap().unwrap().scan.tampering_detected());
    }
    assert_eq!(counts(home.engine.stats()), [0, SCANS_RUNNING_MAX as u64 - 1, 2]);
    home.close().await;
}
