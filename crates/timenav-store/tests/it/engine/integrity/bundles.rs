//! Bundles exported during concurrent writes, and what aborts an export.

use timenav_engine::{BundleCheck, BundleExport, CheckedBundle};

use crate::engine::*;

/// More than a block and more than a part, so that not everything has been read once the first part is there.
const EVENTS: usize = 450;

fn name(number: usize) -> String {
    format!("e{number}")
}

async fn record(home: &Home<'_>) {
    let text = "x".repeat(2_000);
    let draft = |number| named_event(&name(number), 1, &text);
    home.record_events(None, (0..EVENTS).map(draft).collect()).await;
}

async fn erase(home: &Home<'_>, number: usize) {
    let erasure = ErasureRequest::Event(None, event_id(&name(number)));
    home.engine.erase_data(&home.admin, erasure, None).await.unwrap();
}

async fn export(home: &Home<'_>) -> BundleExport {
    home.engine.export_bundle(&home.admin, &timeline_id("main")).await.unwrap()
}

/// Returns the remaining parts.
async fn rest(export: &mut BundleExport) -> Result<String, Refusal> {
    let mut text = String::new();
    while let Some(part) = export.next_part().await? {
        text.push_str(&part);
    }
    Ok(text)
}

pub(in crate::engine) async fn export_of(home: &Home<'_>, timeline: &TimelineId) -> String {
    rest(&mut home.engine.export_bundle(&home.admin, timeline).await.unwrap()).await.unwrap()
}

fn checked(home: &Home<'_>, text: &str) -> Result<CheckedBundle, String> {
    checked_of(home, &timeline_id("main"), text)
}

/// Verifies a bundle without the service.
pub(in crate::engine) fn checked_of(
    home: &Home<'_>,
    timeline: &TimelineId,
    text: &str,
) -> Result<CheckedBundle, String> {
    let signer = home.house.signer.clone();
    let key = VerifierKey::new(&format!("timenav.test/{timeline}"), signer.public_key()).unwrap();
    let verify =
        move |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature);
    let mut check = BundleCheck::new(key, Vec::new(), &verify);
    for line in text.split_inclusive('\n') {
        check.line(line.as_bytes())?;
    }
    check.finish()
}

#[tokio::test]
async fn concurrent_writes_and_erasures_do_not_resize_an_export() {
    for read_log in [ReadLog::Durable, ReadLog::Buffered] {
        let home = House::with(Options { read_log, ..House::new().options }).into_home().await;
        record(&home).await;
        erase(&home, 1).await;
        let mut export = export(&home).await;
        let mut text = export.next_part().await.unwrap().unwrap();
        assert!(!text.contains(&format!("\\\"{}\\\"", name(EVENTS - 1))), "the last was not written yet");
        // One that was already exported, and one that was not.
        erase(&home, 2).await;
        erase(&home, EVENTS - 1).await;
        text += &rest(&mut export).await.unwrap();
        assert_eq!(text.matches("\n{\"erasure\":").count(), 1);
        let bundle = checked(&home, &text).unwrap();
        assert_eq!((bundle.missing_contents, bundle.layers.len()), (2, 1));
        assert!(bundle.layers[0].1 < home.size("main").await);
        assert_eq!(export.next_part().await.unwrap(), None);
        home.close().await;
    }
}

#[tokio::test]
async fn revoked_permission_ends_a_bundle_export() {
    let home = Home::new().await;
    record(&home).await;
    let ada = home.user("ada", false).await;
    let lists = admins(["ada"]);
    home.set_permissions("main", lists).await;
    let mut export = home.engine.export_bundle(&ada, &timeline_id("main")).await.unwrap();
    let begun = export.next_part().await.unwrap().unwrap();
    let of_ada = home.engine.api_keys(&ada, None, 10, None).await.unwrap().0;
    home.engine.revoke_api_key(&ada, of_ada[0].key_id.clone()).await.unwrap();
    let refused = rest(&mut export).await;
    assert!(matches!(refused, Err(Refusal::Unidentified(_))), "{refused:?}");
    let wrong = checked(&home, &begun).unwrap_err();
    assert!(wrong.contains("cut off"), "{wrong}");
    home.engine.close().await;
}

#[tokio::test]
async fn missing_unerased_contents_end_a_bundle_export() {
    let house = House::new();
    let home = house.open().await;
    record(&home).await;
    home.engine.close().await;
    let database = Connection::open(house.path()).unwrap();
    let statement =
        "UPDATE entries SET payload = x'', salt = x'' WHERE CAST(leaf AS TEXT) LIKE '%\"seq\":7,%\"main\"%'";
    assert_eq!(database.execute(statement, []).unwrap(), 1);
    drop(database);
    let home = house.open().await;
    let refused = rest(&mut export(&home).await).await;
    let damaged = "Damaged(\"the contents of entry 7 of `main` are missing, but were not erased\")";
    assert_eq!(outcome_text(&refused), damaged);
    home.engine.close().await;
}
