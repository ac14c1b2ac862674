//! Timers that come again, where leases are rows and go by the database's clock.

use crate::engine::{
    another_house_on_postgres, apart, fires_again, go_on, holds, is_superseded, layers_stay, no_step_while_held,
    observed, one_commit_an_instant, overheard, plays, returns, runs_over,
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

#[tokio::test]
async fn timers_go_on_where_they_arrive_on_postgresql() {
    Box::pin(go_on(House::on_postgres(), another_house_on_postgres())).await;
}

#[tokio::test]
async fn timers_of_a_clock_that_runs_go_over_on_postgresql() {
    Box::pin(runs_over(House::on_postgres(), another_house_on_postgres())).await;
}

#[tokio::test]
async fn rows_of_timers_of_a_layer_cannot_be_changed_on_postgresql() {
    Box::pin(layers_stay(House::on_postgres(), another_house_on_postgres())).await;
}
