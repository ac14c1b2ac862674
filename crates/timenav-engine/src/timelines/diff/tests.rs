use super::*;

fn layers(of: &[(i64, u64)]) -> Vec<Layer> {
    of.iter().map(|(key, as_of)| Layer { timeline: TimelineKey(*key), as_of: *as_of, overrides: false }).collect()
}

fn event_ids(names: &[&str]) -> BTreeSet<EventId> {
    names.iter().map(|name| EventId::new(name).expect("an id")).collect()
}

#[test]
fn timelines_diverge_at_their_first_fork() {
    let (main, fork) = (layers(&[(1, 90)]), layers(&[(1, 40), (2, 7)]));
    assert_eq!(parting(&main, &fork), Some(Parting { layer: 0, size: 40 }));
    assert_eq!(parting(&fork, &main), Some(Parting { layer: 0, size: 40 }));
    let stretches = stretches(&main, &fork, Parting { layer: 0, size: 40 });
    assert_eq!(stretches, [(TimelineKey(1), 40, 90), (TimelineKey(1), 40, 40), (TimelineKey(2), 0, 7)]);
    let (left, right) = (layers(&[(1, 40), (2, 5), (3, 1)]), layers(&[(1, 40), (2, 7), (4, 1)]));
    assert_eq!(parting(&left, &right), Some(Parting { layer: 1, size: 5 }));
    assert_eq!(parting(&layers(&[(1, 40), (2, 5)]), &layers(&[(3, 40), (2, 5)])), None);
}

#[test]
fn compared_entries_are_limited() {
    let most = DIFF_ENTRIES_MAX as u64;
    let entries = |a: u64, b: u64| {
        let (a, b) = (layers(&[(1, 10 + a)]), layers(&[(1, 10), (2, b)]));
        check_length(&stretches(&a, &b, Parting { layer: 0, size: 10 }))
    };
    assert!(entries(most - 3, 3).is_ok());
    let refused = entries(most - 3, 4);
    assert!(matches!(refused, Err(Refusal::LimitReached { max: DIFF_ENTRIES_MAX, .. })), "{refused:?}");
}

#[test]
fn first_ids_after_the_cursor_are_kept() {
    let mut changed = Changed { event_ids: event_ids(&["a", "b", "c", "d"]), is_cut: false };
    changed.keep(Some(&EventId::new("a").unwrap()), 3);
    assert_eq!((&changed.event_ids, changed.is_cut), (&event_ids(&["b", "c", "d"]), false));
    changed.keep(None, 2);
    assert_eq!((&changed.event_ids, changed.is_cut), (&event_ids(&["b", "c"]), true));
}
