//! Recurring timers, with leases that are rows and use the database's clock.

use crate::engine::{
    apart, fires_again, holds, is_superseded, no_step_while_held, observed, one_commit_an_instant, overheard, plays,
    returns,
};
use crate::house::House;

#[tokio::test]
async fn timers_come_again_on_postgresql_as_on_sqlite() {
    Box::pin(fires_again(House::on_postgres())).await;
    Box::pin(is_superseded(House::on_postgres())).await;
    Box::pin(returns(House::on_postgres())).await;
}

#[tokio::test]
async fn nothing_steps_while_something_holds_on_postgresql() {
    Box::pin(holds(House::on_postgres())).await;
}

#[tokio::test]
async fn an_instant_costs_one_commit_on_postgresql() {
    Box::pin(one_commit_an_instant(House::on_postgres())).await;
    Box::pin(no_step_while_held(House::on_postgres())).await;
}

#[tokio::test]
async fn firings_are_observed_on_postgresql_as_on_sqlite() {
    Box::pin(observed(House::on_postgres())).await;
    Box::pin(overheard(House::on_postgres())).await;
}

#[tokio::test]
async fn ranges_that_a_clock_has_passed_are_told_on_postgresql() {
    Box::pin(plays(House::on_postgres())).await;
}

#[tokio::test]
async fn timers_and_firings_of_forks_are_compared_on_postgresql() {
    Box::pin(apart(House::on_postgres())).await;
}
