//! Recurring timers, with leases that are rows and use the database's clock.

use crate::engine::{
    apart, fires_again, holds, is_superseded, no_step_while_held, observed, one_commit_an_instant, overheard, plays,
    returns,
};
use crate::house::House;

#[tokio::test]
async fn timers_fire_again_on_postgresql() {
    Box::pin(fires_again(House::on_postgres())).await;
    Box::pin(is_superseded(House::on_postgres())).await;
    Box::pin(returns(House::on_postgres())).await;
}

#[tokio::test]
async fn clock_does_not_step_during_a_hold_on_postgresql() {
    Box::pin(holds(House::on_postgres())).await;
}

#[tokio::test]
async fn advance_takes_one_commit_per_instant_on_postgresql() {
    Box::pin(one_commit_an_instant(House::on_postgres())).await;
    Box::pin(no_step_while_held(House::on_postgres())).await;
}

#[tokio::test]
async fn firings_are_observed_on_postgresql() {
    Box::pin(observed(House::on_postgres())).await;
    Box::pin(overheard(House::on_postgres())).await;
}

#[tokio::test]
async fn stream_reports_passed_event_ranges_on_postgresql() {
    Box::pin(plays(House::on_postgres())).await;
}

#[tokio::test]
async fn comparison_of_forks_covers_timers_on_postgresql() {
    Box::pin(apart(House::on_postgres())).await;
}
