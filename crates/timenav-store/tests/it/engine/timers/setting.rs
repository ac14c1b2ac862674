//! Requests that set a timer whose id exists.

use crate::engine::*;

#[tokio::test]
async fn timer_set_again_is_rejected_if_any_part_differs() {
    let home = Home::new().await;
    let first = TimerRequest {
        schedule: Some(Schedule::At(moment(i64::from(i32::MAX) * 1_000_000))),
        deliver: Some(Delivery::Queue(QueueId::new("bills").unwrap())),
        order_key: Some("customer-1".to_owned()),
        payload: Some("[1]".into()),
    };
    let set = async |request: TimerRequest| {
        let named = (Some(TimerId::new("renewal").unwrap()), request);
        home.engine.set_timer(&home.admin, None, named, None).await
    };
    set(first.clone()).await.unwrap();
    let size = home.size("main").await;
    set(first.clone()).await.unwrap();
    assert_eq!(home.size("main").await, size, "an identical timer changes nothing");
    let others = [
        TimerRequest { schedule: Some(Schedule::At(moment(i64::from(i32::MAX) * 1_000_001))), ..first.clone() },
        TimerRequest { deliver: None, ..first.clone() },
        TimerRequest { order_key: Some("customer-2".to_owned()), ..first.clone() },
        TimerRequest { order_key: None, ..first.clone() },
        TimerRequest { payload: Some("[2]".into()), ..first.clone() },
        TimerRequest { payload: None, ..first },
    ];
    for other in others {
        let rejected = set(other.clone()).await;
        assert!(matches!(rejected, Err(Refusal::AlreadyExists { .. })), "{other:?}");
    }
    home.close().await;
}
