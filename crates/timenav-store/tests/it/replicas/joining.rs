//! A replica with an empty folder, and the checkpoints stored by others.

use timenav_engine::ExternalCheckpoint;

use crate::replicas::*;

/// Starts another replica with these checkpoints. Returns the error, or whether it reports that it had nothing to
/// compare with.
async fn joined(house: &House, stored: Vec<ExternalCheckpoint>) -> Result<bool, OpenError> {
    let mut third = house.replica();
    third.options.joins = true;
    third.options.checkpoints_of_others = stored;
    let home = third.try_open(third.store()).await?;
    let is_unseen = home.engine.is_unseen();
    home.engine.close().await;
    Ok(is_unseen)
}

/// Returns the checkpoint of a single timeline, without a seal, like a witness or a client stores it.
fn only(stored: &[ExternalCheckpoint], timeline: &TimelineId) -> Vec<ExternalCheckpoint> {
    let mut one: Vec<_> = stored.iter().filter(|stored| stored.timeline == *timeline).cloned().collect();
    for stored in &mut one {
        stored.seal = None;
    }
    assert_eq!(one.len(), 1);
    one
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn joining_replica_compares_checkpoints_of_the_others() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    left.change_clock(None, hour()).await;
    right.engine.catch_up_all().await.unwrap();
    let stored = || other.outside.last().unwrap();
    let (main, system) = (TimelineId::main(), TimelineId::system());
    // Without any, it reports that it accepted the database as it was. `system` covers all other timelines.
    assert!(joined(&house, Vec::new()).await.unwrap());
    assert!(joined(&house, only(&stored(), &main)).await.unwrap());
    assert!(!joined(&house, only(&stored(), &system)).await.unwrap());
    assert!(!joined(&house, stored()).await.unwrap());
    let (seen, _) = lose(&house, left, &right).await;
    let stored = stored();
    for stored in [stored.clone(), only(&stored, &main)] {
        let refused = joined(&house, stored).await.err();
        let is_it = |stored: u64, timeline: &TimelineId| stored == seen && *timeline == main;
        assert!(
            matches!(&refused, Some(OpenError::Rollback { stored, timeline, .. }) if is_it(*stored, timeline)),
            "{refused:?}"
        );
    }
    // Checkpoints that were not signed here neither prevent a start nor make the database trusted.
    let mut forged = only(&stored, &main);
    forged[0].note = forged[0].note.replace("timenav.test/main\n", "timenav.test/main\n1").into();
    let refused = joined(&house, forged).await.err();
    assert!(matches!(&refused, Some(OpenError::Checkpoint { .. })), "{refused:?}");
    right.engine.close().await;
}
