use super::{EventChange, EventMade};

#[test]
fn replaced_own_version_ends() {
    let corrected = EventChange::corrected("after", false);
    let expected = EventChange { made: EventMade::Version("after"), ends: true, count: 0, overrides: false };
    assert_eq!(corrected, expected);
    assert_eq!(EventChange::intervened(Some("after"), true, false), expected);
}

#[test]
fn inherited_version_is_overridden_and_does_not_end() {
    let expected = EventChange { made: EventMade::Version("after"), ends: false, count: 0, overrides: true };
    assert_eq!(EventChange::corrected("after", true), expected);
    assert_eq!(EventChange::intervened(Some("after"), true, true), expected);
}

#[test]
fn canceled_event_leaves_tombstone_only_if_inherited() {
    let own = EventChange::<&str>::intervened(None, true, false);
    assert_eq!(own, EventChange { made: EventMade::Nothing, ends: true, count: -1, overrides: false });
    let inherited = EventChange::<&str>::intervened(None, true, true);
    assert_eq!(inherited, EventChange { made: EventMade::Tombstone, ends: false, count: -1, overrides: true });
}

#[test]
fn restored_event_ends_no_version() {
    let restored = EventChange::intervened(Some("again"), false, false);
    assert_eq!(restored, EventChange { made: EventMade::Version("again"), ends: false, count: 1, overrides: false });
}

#[test]
fn only_versions_and_tombstones_create_rows() {
    assert!(EventChange::recorded("new").makes_row());
    assert!(EventChange::<&str>::intervened(None, true, true).makes_row());
    assert!(!EventChange::<&str>::unchanged().makes_row());
    assert!(!EventChange::<&str>::erased().makes_row());
}
