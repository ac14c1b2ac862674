//! A replica whose folder holds nothing yet, and what others have kept.

use timenav_core::ids::TimelineId;
use timenav_engine::{KeptOutside, OpenError, Outside as _};

use super::{hour, lose, two};
use crate::house::House;

/// Returns why a further replica does not start that is given these checkpoints; `None` where it starts, with whether it
/// says that it had nothing to compare with.
async fn joined(house: &House, kept: Vec<KeptOutside>) -> Result<bool, OpenError> {
    let mut third = house.replica();
    third.options.joins = true;
    third.options.kept_by_others = kept;
    let home = third.try_open(third.store()).await?;
    let is_unseen = home.engine.is_unseen();
    home.engine.close().await;
    Ok(is_unseen)
}

/// Returns what somebody keeps of one timeline alone, without a seal: as a witness does, or a client.
fn only(kept: &[KeptOutside], timeline: &TimelineId) -> Vec<KeptOutside> {
    let mut one: Vec<_> = kept.iter().filter(|kept| kept.timeline == *timeline).cloned().collect();
    for kept in &mut one {
        kept.seal = None;
    }
    assert_eq!(one.len(), 1);
    one
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_joins_compares_with_what_others_have_kept() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    left.engine.change_clock(&left.admin, None, hour(), None).await.unwrap();
    right.engine.hear_of_all().await.unwrap();
    let kept = || other.outside.last().unwrap();
    let (main, system) = (TimelineId::main(), TimelineId::system());
    // Alone it says that it took the database as it was. `system` tells of all others.
    assert!(joined(&house, Vec::new()).await.unwrap());
    assert!(joined(&house, only(&kept(), &main)).await.unwrap());
    assert!(!joined(&house, only(&kept(), &system)).await.unwrap());
    assert!(!joined(&house, kept()).await.unwrap());
    let (seen, _) = lose(&house, left, &right).await;
    let kept = kept();
    for kept in [kept.clone(), only(&kept, &main)] {
        let refused = joined(&house, kept).await.err();
        let is_it = |kept: u64, timeline: &TimelineId| kept == seen && *timeline == main;
        assert!(
            matches!(&refused, Some(OpenError::Rollback { kept, timeline, .. }) if is_it(*kept, timeline)),
            "{refused:?}"
        );
    }
    // What nobody has signed here is no reason to start, and none to trust the database.
    let mut forged = only(&kept, &main);
    forged[0].note = forged[0].note.replace("timenav.test/main\n", "timenav.test/main\n1").into();
    let refused = joined(&house, forged).await.err();
    assert!(matches!(&refused, Some(OpenError::Checkpoint { .. })), "{refused:?}");
    right.engine.close().await;
}
