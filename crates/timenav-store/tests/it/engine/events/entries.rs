//! Entries with their contents: all of them match their signed hashes, and each caller sees only what they may.

use timenav_engine::{ENTRIES_PAGE_BYTES_MAX, EntryPage};

use crate::engine::*;

async fn page(home: &Home<'_>, caller: &Caller, from: u64, items_max: usize) -> EntryPage {
    let request = EntriesRequest { timeline: timeline_id("main"), from, items_max };
    home.engine.entries(caller, request).await.unwrap()
}

fn event(name: &str, description: &str) -> EventDraft {
    named_event(name, 1, description)
}

/// Records entries of several kinds on `main`. The last one is an erasure.
async fn history(home: &Home<'_>) {
    let (engine, admin) = (&home.engine, &home.admin);
    let drafts = vec![event("kept", "kept"), event("gone", "a secret")];
    engine.record_events(admin, None, drafts, None).await.unwrap();
    engine.change_clock(admin, None, ClockCommand::Pause, None).await.unwrap();
    engine.set_anchor(admin, None, anchor_now(), None).await.unwrap();
    engine.read_clock(admin, None).await.unwrap();
    engine.erase_data(admin, ErasureRequest::Event(None, event_id("gone")), None).await.unwrap();
}

/// Returns which parts of the entries of each action are shown.
fn seen(page: &EntryPage) -> BTreeMap<String, Vec<&'static str>> {
    let mut seen = BTreeMap::<String, Vec<&'static str>>::new();
    for entry in &page.entries {
        let action = LeafRecord::decode(&entry.leaf).unwrap().action.into_owned();
        let contents = match entry.contents {
            EntryContents::Visible { .. } => "shown",
            EntryContents::Erased => "erased",
            EntryContents::AdminsOnly => "restricted",
        };
        seen.entry(action).or_default().push(contents);
    }
    seen
}

#[tokio::test]
async fn readers_see_clock_anchor_and_event_payloads() {
    let home = Home::new().await;
    history(&home).await;
    for name in ["reader", "writer", "owner"] {
        home.user(name, false).await;
    }
    let lists = PermissionsChange {
        read: Some(users(["reader"])),
        write: Some(users(["writer"])),
        admin: Some(users(["admin", "owner"])),
        ..PermissionsChange::default()
    };
    home.set_permissions("main", lists).await;
    let narrow = home.caller("owner", Some(vec![Scope::TimelineRead])).await;
    let readers = [home.caller("reader", None).await, home.caller("writer", None).await, narrow];
    for reader in &readers {
        let listing = page(&home, reader, 0, 100).await;
        let seen = seen(&listing);
        assert_eq!(seen["create_timeline"], ["shown"]);
        assert_eq!(seen["record_event"], ["shown", "erased"]);
        assert_eq!(seen["pause_time"], ["shown"]);
        assert_eq!(seen["set_anchor"], ["shown"]);
        assert_eq!(seen["erase_data"], ["shown"]);
        assert!(seen["reads"].iter().all(|contents| *contents == "restricted"), "{seen:?}");
        assert_eq!(seen["set_access_control"], ["restricted"]);
    }
    let owner = home.caller("owner", None).await;
    let listing = page(&home, &owner, 0, 100).await;
    let hidden = listing.entries.iter().filter(|entry| entry.contents == EntryContents::AdminsOnly).count();
    assert_eq!(hidden, 0);
    home.close().await;
}

#[tokio::test]
async fn entry_pages_are_contiguous() {
    let home = Home::new().await;
    let drafts = (0..100).map(|number| EventDraft::at(moment(number), "x")).collect();
    home.record_events(None, drafts).await;
    let size = home.size("main").await;
    for items_max in [1, 31, 32, 33, 1_000] {
        let (mut from, mut positions) = (0, Vec::new());
        while from < size {
            let page = page(&home, &home.admin, from, items_max).await;
            assert!((1..=items_max).contains(&page.entries.len()));
            positions.extend(page.entries.iter().map(|entry| entry.position));
            let Some(next) = page.next else { break };
            assert_eq!(next, page.entries.last().unwrap().position + 1);
            from = next;
        }
        assert!((0..size).eq(positions.iter().copied().take(usize::try_from(size).unwrap())), "{items_max}");
    }
    // The query is an entry too. The page may include it, and nothing after it.
    let size = home.size("main").await;
    let last = page(&home, &home.admin, size, 10).await;
    assert_eq!((last.entries.len(), last.entries[0].position, last.next), (1, size, None));
    for from in [size + 100, 1 << 40, u64::MAX] {
        let request = EntriesRequest { timeline: timeline_id("main"), from, items_max: 1 };
        let refused = home.engine.entries(&home.admin, request).await;
        assert!(matches!(refused, Err(Refusal::Invalid { field, .. }) if field == "from"));
    }
    home.close().await;
}

#[tokio::test]
async fn entry_page_size_is_limited_in_bytes() {
    let home = Home::new().await;
    let long = "x".repeat(16 * 1024);
    let drafts = (0..600).map(|number| EventDraft::at(moment(number), long.clone())).collect();
    home.record_events(None, drafts).await;
    let bytes_of = |page: &EntryPage| -> usize {
        let bytes = page.entries.iter().map(|entry| match &entry.contents {
            EntryContents::Visible { payload, .. } => entry.leaf.len() + payload.len(),
            EntryContents::Erased | EntryContents::AdminsOnly => entry.leaf.len(),
        });
        bytes.sum()
    };
    let first = page(&home, &home.admin, 0, 1_000).await;
    let bytes = bytes_of(&first);
    assert!(bytes <= ENTRIES_PAGE_BYTES_MAX, "{bytes}");
    let more = page(&home, &home.admin, first.next.unwrap(), 1).await;
    assert!(bytes + bytes_of(&more) > ENTRIES_PAGE_BYTES_MAX, "{bytes}");
    home.close().await;
}

#[tokio::test]
async fn fork_entries_name_the_parent_checkpoint() {
    let home = Home::new().await;
    home.record_events(None, vec![event("kept", "kept")]).await;
    let fork: TimelineId = timeline_id("fork");
    home.engine.fork_timeline(&home.admin, fork.clone(), &timeline_id("main"), None, None).await.unwrap();
    home.record_events(on("fork"), vec![event("own", "own")]).await;
    let request = EntriesRequest { timeline: fork, from: 0, items_max: 100 };
    let page = home.engine.entries(&home.admin, request).await.unwrap();
    let (of, size) = page.fork.unwrap();
    assert_eq!(of, timeline_id("main"));
    let EntryContents::Visible { payload, .. } = &page.entries[0].contents else { panic!("the making is shown") };
    let made: serde_json::Value = serde_json::from_slice(payload).unwrap();
    assert_eq!(made["fork"]["size"], size);
    let parent = self::page(&home, &home.admin, 0, 100).await;
    assert_eq!(parent.fork, None);
    assert_ne!(parent.checkpoint.root, page.checkpoint.root);
    home.close().await;
}
