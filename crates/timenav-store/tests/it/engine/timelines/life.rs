//! A model of a timeline's events, with every past state.

use timenav_core::place::Geo;
use timenav_engine::EventPage;

use crate::engine::*;

/// One event in the model, in seconds: as recorded, and as in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Known {
    pub(in crate::engine) recorded: i64,
    pub(in crate::engine) active_at: Option<i64>,
    /// Whether a return undid it, so that its id is available.
    pub(in crate::engine) is_taken_back: bool,
    /// Distinguishes it from earlier, erased events with the same id.
    pub(in crate::engine) born: usize,
    /// Increases with every change, to detect whether the event is still as someone left it.
    pub(in crate::engine) version: usize,
}

impl Known {
    pub(in crate::engine) const fn recorded(time: i64, born: usize) -> Self {
        Self { recorded: time, active_at: Some(time), is_taken_back: false, born, version: 0 }
    }

    /// Applies an intervention.
    pub(in crate::engine) fn change(&mut self, effect: &Effect) {
        match effect {
            Effect::Cancel => self.stand(None),
            Effect::Restore => self.stand(Some(self.recorded)),
            Effect::Delay(_) => self.stand(self.active_at.map(|time| time + 3_600)),
            _ => {}
        }
        self.is_taken_back &= self.active_at.is_none();
    }

    /// Sets the effective time, or cancels the event.
    pub(in crate::engine) fn stand(&mut self, active_at: Option<i64>) {
        self.version += usize::from(active_at != self.active_at);
        self.active_at = active_at;
    }

    /// Applies a return to a state.
    pub(in crate::engine) fn take_back(&mut self, then: Option<&Self>) {
        let before = self.active_at;
        self.stand(then.and_then(|then| then.active_at));
        self.is_taken_back = self.active_at.is_none() && (before.is_some() || self.is_taken_back);
    }
}

/// Returns whether an id is available: it was never used, or a return undid its event.
pub(in crate::engine) fn is_free(state: &State, id: &str) -> bool {
    state.get(id).is_none_or(|known| known.is_taken_back)
}

pub(in crate::engine) type State = BTreeMap<String, Known>;

#[derive(Clone, Debug)]
pub(in crate::engine) struct Life {
    pub(in crate::engine) name: TimelineId,
    pub(in crate::engine) now: State,
    /// The state after each entry, by position.
    pub(in crate::engine) past: BTreeMap<u64, State>,
    pub(in crate::engine) anchors: Vec<Mark>,
}

#[derive(Clone, Debug)]
pub(in crate::engine) struct Mark {
    pub(in crate::engine) anchor_id: AnchorId,
    /// The position where it was set, unless it was inherited from a parent.
    pub(in crate::engine) own: Option<u64>,
    pub(in crate::engine) state: State,
}

impl Life {
    pub(in crate::engine) fn at(&self, position: u64) -> &State {
        self.past.range(..=position).next_back().expect("the first entry made it").1
    }
}

pub(in crate::engine) fn current_events(state: &State) -> Vec<(i64, String)> {
    let active_at = state.iter().filter_map(|(id, known)| Some((known.active_at?, id.clone())));
    let mut all: Vec<_> = active_at.collect();
    all.sort();
    all
}

/// Returns an event derived only from its number and time. Some have a point, and some have actors or a source.
pub(in crate::engine) fn draft(event: u8, seconds: i64) -> EventDraft {
    let point = Point::new(f64::from(event), f64::from(u8::try_from(seconds % 50).unwrap()) / 10.0).unwrap();
    EventDraft {
        event_id: Some(event_id(&format!("e{event}"))),
        geo: (!event.is_multiple_of(3)).then_some(Geo { point, radius_m: None }),
        location: event.is_multiple_of(2).then(|| "quay".to_owned()),
        actors: actors(event),
        source: (event % 4 == 1).then(|| "a log".to_owned()),
        ..EventDraft::at(moment(seconds * 1_000_000), "it happens")
    }
}

/// Returns the actors of an event: none, one, two, or more than an index stores per event.
fn actors(event: u8) -> Vec<String> {
    let few = ["ada", "bob"].into_iter().take(usize::from(event) % 3).map(str::to_owned);
    let many = (0..10).filter(|_| event == 4).map(|number| format!("{number}{}", "x".repeat(120)));
    few.chain(many).collect()
}

pub(in crate::engine) async fn page(
    home: &Home<'_>,
    timeline: &TimelineId,
    as_of: Option<AsOf>,
    items_max: usize,
) -> Vec<EventPage> {
    page_as((home, &home.admin), timeline, as_of, items_max).await
}

async fn page_as(
    (home, caller): (&Home<'_>, &Caller),
    timeline: &TimelineId,
    as_of: Option<AsOf>,
    items_max: usize,
) -> Vec<EventPage> {
    let mut pages: Vec<EventPage> = Vec::new();
    loop {
        let cursor = pages.last().map(|page| page.next_cursor.clone());
        let Some(cursor) = cursor.map_or(Some(None), |cursor| cursor.map(Some)) else { return pages };
        let as_of = as_of.clone().map(|as_of| (format!("{as_of:?}"), as_of));
        let request = MonitorEvents { as_of, items_max, cursor, ..every_event(Some(timeline.clone())) };
        pages.push(home.engine.monitor_events(caller, request).await.unwrap());
    }
}

pub(in crate::engine) async fn found(
    home: &Home<'_>,
    timeline: &TimelineId,
    as_of: Option<AsOf>,
) -> Vec<(i64, String)> {
    found_as((home, &home.admin), timeline, as_of).await
}

/// Returns the events that a caller finds, by their seconds and ids.
pub(in crate::engine) async fn found_as(
    asker: (&Home<'_>, &Caller),
    timeline: &TimelineId,
    as_of: Option<AsOf>,
) -> Vec<(i64, String)> {
    let pages = page_as(asker, timeline, as_of, 2).await;
    let one = |content: &str| {
        let event: serde_json::Value = serde_json::from_str(content).unwrap();
        event["event_id"].as_str().unwrap().to_owned()
    };
    let events = pages.iter().flat_map(|page| &page.events);
    let mut all: Vec<_> = events.map(|event| (event.time.micros() / 1_000_000, one(&event.content))).collect();
    assert!(all.is_sorted_by_key(|event| event.0));
    all.sort();
    all
}

pub(in crate::engine) async fn listed(home: &Home<'_>, timeline: &TimelineId) -> Vec<AnchorId> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let on = Some(timeline.clone());
        let page = home.engine.anchors(&home.admin, on, 2, cursor.as_deref()).await.unwrap();
        all.extend(page.anchors.into_iter().map(|(_, anchor)| anchor.anchor_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return all;
        }
    }
}
