//! Everything that can be read from a store, as one text for comparison.

use std::fmt::Write as _;

use timenav_core::ids::EventId;

use crate::conformance::*;

/// Describes the contents of a store in a fixed order.
pub(super) async fn picture(store: &dyn Store, event_ids: &[EventId], outcome_keys: &[[u8; 32]]) -> String {
    let mut opened = store.open().await.unwrap();
    opened.heads.sort_by_key(|head| head.key);
    let mut keys: Vec<_> = opened.directory.keys.values().collect();
    keys.sort_by_key(|key| key.key_id.clone());
    let mut text = format!("{:#?}\n{keys:#?}\n", opened.directory.users);
    for head in &opened.heads {
        let size = head.frontier.size();
        writeln!(text, "{head:#?}").unwrap();
        // One more than exist, so that a stray entry is found too.
        for seq in 0..=size {
            writeln!(text, "{seq} {:?}", store.entry(head.key, seq).await.unwrap()).unwrap();
        }
        for index in 0..=size / 256 {
            let tile = TileId { level: 0, index };
            let width = usize::from(tile.width(size));
            if width > 0 {
                writeln!(text, "{tile:?} {:?}", store.tile(head.key, tile, width).await.unwrap()).unwrap();
            }
        }
        let query = EventQuery {
            layers: layer(head.key, size + 100),
            patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
            range: TimeRange::everything(),
            after: None,
            items_max: 10_000,
            newest_first: false,
            overlapping: false,
        };
        writeln!(text, "{:#?}", store.events(query).await.unwrap()).unwrap();
        writeln!(text, "{:#?}", store.anchor_rows(head.key, None, 10_000).await.unwrap()).unwrap();
        for id in event_ids {
            let known = store.event_versions(layer(head.key, u64::MAX), vec![id.clone()]).await.unwrap();
            writeln!(text, "{known:#?}").unwrap();
        }
    }
    let timer_query = FactsQuery { outcomes: outcome_keys.to_vec(), ..FactsQuery::default() };
    writeln!(text, "{:#?}", store.facts(timer_query, QueryOrigin::Reader).await.unwrap().outcomes).unwrap();
    text
}
