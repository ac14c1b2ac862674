//! How much of what a timeline may have here may arrive.

use serde_json::Value;
use timenav_core::limits::RETENTION_POLICIES_MAX;
use timenav_engine::{KeptFor, Refusal, RetentionRequest};

use super::hostile::resigned;
use super::{NAME, adopt, another_house, export, make, seal};
use crate::house::House;
use crate::sample::timeline_id;

#[tokio::test]
async fn so_many_sealed_records_arrive_and_no_more() {
    let (there, mut here) = (House::off_disk(), another_house());
    let far = there.open().await;
    make(&far, NAME).await;
    for _ in 0..2 {
        seal(&far, NAME).await;
    }
    let text = export(&far).await;
    far.engine.close().await;
    here.options.data_records_per_timeline_max = 1;
    let home = here.open().await;
    let refused = adopt(&home, &there, &text).await.err().unwrap();
    assert!(matches!(refused, Refusal::LimitReached { max: 1, .. }), "{refused}");
    home.engine.close().await;
    drop(home);
    here.options.data_records_per_timeline_max = 2;
    let home = here.open().await;
    adopt(&home, &there, &text).await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn so_many_policies_arrive_and_no_more() {
    let there = House::off_disk();
    let far = there.open().await;
    make(&far, NAME).await;
    for _ in 0..RETENTION_POLICIES_MAX {
        let request = RetentionRequest { reads: KeptFor::Seconds(864_000), refusals: KeptFor::Ever };
        far.engine.set_retention(&far.admin, timeline_id(NAME), request, None).await.unwrap();
    }
    let text = export(&far).await;
    far.engine.close().await;
    let here = another_house();
    let home = here.open().await;
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    one_more(&mut lines);
    let refused = adopt(&home, &there, &resigned(lines, &there)).await.err().unwrap().to_string();
    let expected = format!("at most {RETENTION_POLICIES_MAX} policies of retention");
    assert!(refused.contains(&expected), "{refused}");
    adopt(&home, &there, &text).await.unwrap();
    home.close().await;
}

/// Adds a policy at the end, as no service does.
fn one_more(lines: &mut Vec<Value>) {
    let (checkpoint, end) = (lines.len() - 2, lines.len() - 1);
    let mut policies = lines.iter().filter(|line| {
        line["entry"]["leaf"].as_str().is_some_and(|leaf| leaf.contains("\"action\":\"set_retention\""))
    });
    let mut again = policies.next_back().unwrap().clone();
    let newest = lines[checkpoint - 1]["entry"]["leaf"].as_str().unwrap().to_owned();
    let member = |leaf: &str, name: &str| {
        let leaf: Value = serde_json::from_str(leaf).unwrap();
        leaf[name].clone()
    };
    let leaf = again["entry"]["leaf"].as_str().unwrap().to_owned();
    let size = member(&newest, "seq").as_u64().unwrap() + 1;
    let seq = format!("\"seq\":{}", member(&leaf, "seq"));
    let recorded_at = |leaf: &str| format!("\"recorded_at\":{}", member(leaf, "recorded_at"));
    let clock_time = |leaf: &str| format!("\"clock_time\":{}", member(leaf, "clock_time"));
    let leaf = leaf
        .replace(&seq, &format!("\"seq\":{size}"))
        .replace(&recorded_at(&leaf), &recorded_at(&newest))
        .replace(&clock_time(&leaf), &clock_time(&newest));
    again["entry"]["leaf"] = leaf.into();
    lines[0]["bundle"]["layers"][0]["size"] = (size + 1).into();
    lines[1]["layer"]["size"] = (size + 1).into();
    lines[end]["end"]["entries"] = (size + 1).into();
    lines.insert(checkpoint, again);
}
