use timenav_core::time::Instant;

use super::*;
use crate::events::location::columns_of;

fn prepared(event_id: &str, is_named: bool) -> PreparedEvent {
    let draft = EventDraft::at(Instant::EPOCH, "looked up");
    let (salt, payload_hash) = (Salt::from_bytes([1; Salt::BYTES]), Hash::from_bytes([2; Hash::BYTES]));
    let (event_id, columns) = (EventId::new(event_id).unwrap(), columns_of(None, &draft));
    let content = event_content(&event_id, &draft).into();
    PreparedEvent { event_id, is_named, draft: Arc::new(draft), columns, content, salt, payload_hash }
}

#[test]
fn only_caller_chosen_ids_are_queried() {
    let events = || vec![prepared("chosen", true), prepared("drawn", false)];
    let chosen = [&EventId::new("chosen").unwrap()];
    assert_eq!(RecordEvents { events: events(), each: false }.needs().events, chosen);
    assert_eq!(CompareEvents { events: events() }.needs().events, chosen);
}
