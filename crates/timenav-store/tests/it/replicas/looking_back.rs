//! A database that is rolled back while the service is idle: the service detects it on its own.

use crate::replicas::*;

async fn found(home: &Home<'_>) -> (DivergenceKind, String, u64, u64) {
    let Err(Refusal::Diverged(divergence)) = home.engine.look_back().await else { panic!("it was not noticed") };
    let Err(Refusal::Diverged(ready)) = home.engine.ready().await else { panic!("it is ready") };
    assert_eq!(divergence, ready);
    (divergence.kind, divergence.timeline.to_string(), divergence.seen.size, divergence.found.size)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn idle_replica_detects_a_rollback() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    right.engine.look_back().await.unwrap();
    let (seen, stored) = lose(&house, left, &right).await;
    right.engine.ready().await.unwrap();
    assert_eq!(found(&right).await, (DivergenceKind::Rollback, "main".to_owned(), seen, stored));
    // Both sides are stored once, and nothing is written any more.
    assert!(right.engine.look_back().await.is_err());
    assert_eq!(other.outside.diverged.lock().len(), 1);
    let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
    assert!(matches!(refused, Err(Refusal::Diverged(_))), "{refused:?}");
    right.engine.close().await;
}

/// A comparison of sizes does not show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn idle_replica_detects_a_fork_of_equal_length() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let (seen, _) = lose(&house, left, &right).await;
    let stranger = joining(&house).await;
    while stranger.size("main").await < seen {
        stranger.change_clock(None, hour()).await;
    }
    assert_eq!(found(&right).await, (DivergenceKind::Fork, "main".to_owned(), seen, seen));
    right.engine.close().await;
    stranger.close().await;
}

#[tokio::test]
async fn standalone_service_detects_a_rollback() {
    let house = House::new();
    if house.database.is_some() {
        return;
    }
    let home = house.open().await;
    home.change_clock(None, hour()).await;
    let file = rusqlite::Connection::open(house.path()).unwrap();
    file.execute_batch("CREATE TEMP TABLE before AS SELECT * FROM timelines").unwrap();
    let stored = home.size("main").await;
    home.change_clock(None, hour()).await;
    home.engine.look_back().await.unwrap();
    let seen = home.size("main").await;
    file.execute_batch(
        "UPDATE timelines SET size = b.size, frontier = b.frontier, statement = b.statement
         FROM before b WHERE b.timeline = timelines.timeline",
    )
    .unwrap();
    assert_eq!(found(&home).await, (DivergenceKind::Rollback, "main".to_owned(), seen, stored));
    home.engine.close().await;
}
