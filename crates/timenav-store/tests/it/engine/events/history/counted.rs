//! Counts of events, compared with the same events page by page.

use timenav_core::place::BBox;
use timenav_engine::{EventGroup, StoredEvent};

use super::*;
use crate::engine::*;

/// A query.
#[derive(Clone, Debug)]
struct Question {
    of: Index,
    as_of: Option<Index>,
    location: LocationQuery,
    range: TimeRange<Virtual>,
    actor: Option<&'static str>,
    source: Option<&'static str>,
    by: GroupBy,
    second: Option<GroupBy>,
    values: Option<Vec<String>>,
    /// Events per response.
    events_max: usize,
}

fn questions() -> impl Strategy<Value = Vec<Question>> {
    let bbox = |edges: [f64; 4]| LocationQuery::Within(BBox::new(edges[0], edges[1], edges[2], edges[3]).unwrap());
    let location = select(vec![
        LocationQuery::Anywhere,
        LocationQuery::Anywhere,
        bbox([-1.0, -1.0, 3.0, 3.0]),
        bbox([-170.0, -80.0, 2.0, 80.0]),
        LocationQuery::Near { center: Point::new(1.0, 1.0).unwrap(), radius_m: 200_000.0 },
        LocationQuery::Named("quay".to_owned()),
    ]);
    let seconds = |from: i64, to: i64| TimeRange::new(Some(moment(from)), Some(moment(to))).unwrap();
    let range = select(vec![TimeRange::everything(), seconds(5_000_000, 30_000_000), seconds(7_000_000, 7_000_000)]);
    let bucket = |text: &str| Bucket::new(parse_duration(text).unwrap()).unwrap();
    let keys = vec![
        GroupBy::Time(bucket("PT7S")),
        GroupBy::Time(bucket("P1M")),
        GroupBy::Cell(2_000_000),
        GroupBy::Cell(1_000),
        GroupBy::Actor,
        GroupBy::Source,
    ];
    let one_key = select([&keys[..], &[GroupBy::Stretches(3)]].concat()).prop_map(|by| (by, None));
    let two_keys = (select(keys.clone()), select(keys)).prop_map(|(by, second)| (by, Some(second)));
    let by = proptest::prop_oneof![one_key, two_keys];
    let values =
        proptest::option::weighted(0.3, vec(select(vec!["ada", "bob", "a log"]).prop_map(str::to_owned), 1..3));
    let actor = proptest::option::weighted(0.2, select(vec!["ada", "bob"]));
    let source = proptest::option::weighted(0.2, select(vec!["a log", "a"]));
    let one = (any::<Index>(), any::<Option<Index>>(), location, range, (actor, source), (by, values), 1..9_usize);
    let one = one.prop_map(|(of, as_of, location, range, (actor, source), ((by, second), values), events_max)| {
        let has_texts = matches!(second.as_ref().unwrap_or(&by), GroupBy::Actor | GroupBy::Source);
        let values = values.filter(|_| has_texts);
        Question { of, as_of, location, range, actor, source, by, second, values, events_max }
    });
    vec(one, 12)
}

impl Question {
    fn filter(&self) -> Arc<EventFilter> {
        let [actor, source] = [self.actor, self.source].map(|text| text.map(str::to_owned));
        let texts = FilterTexts { actor, source, ..FilterTexts::default() };
        Arc::new(EventFilter::new(texts).unwrap())
    }

    fn as_of(&self, life: &Life) -> Option<(String, AsOf)> {
        let positions: Vec<&u64> = life.past.keys().collect();
        let position = **self.as_of?.get(&positions);
        Some((position.to_string(), AsOf::Position(position)))
    }

    /// Returns all responses of a count.
    async fn count(&self, home: &Home<'_>, caller: &Caller, life: &Life) -> Vec<AggregatedEvents> {
        let mut answers: Vec<AggregatedEvents> = Vec::new();
        loop {
            let cursor = answers.last().map(|answer| answer.next_cursor.clone());
            let Some(cursor) = cursor.map_or(Some(None), |cursor| cursor.map(Some)) else { return answers };
            let on = Some(life.name.clone());
            let request = AggregateEvents {
                location: self.location.clone(),
                range: self.range,
                as_of: self.as_of(life),
                filter: self.filter(),
                second: self.second.clone(),
                values: self.values.clone(),
                cursor,
                ..count_by(on, self.by.clone(), self.events_max)
            };
            answers.push(home.engine.aggregate_events(caller, request).await.unwrap());
        }
    }

    /// Returns the same events, one by one.
    async fn list(&self, home: &Home<'_>, caller: &Caller, life: &Life) -> Vec<StoredEvent> {
        let (mut events, mut cursor) = (Vec::new(), None);
        loop {
            let request = MonitorEvents {
                location_text: "asked".to_owned(),
                location: self.location.clone(),
                range: self.range,
                as_of: self.as_of(life),
                filter: self.filter(),
                cursor,
                ..every_event(Some(life.name.clone()))
            };
            let (page, ..) = home.engine.scan_events(caller, request).await.unwrap();
            events.extend(page.events);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return events;
            }
        }
    }

    fn groups_of(&self, event: &StoredEvent) -> Vec<String> {
        let of_last = |by| {
            let mut keys = keys_of(by, event);
            keys.retain(|key| self.values.as_ref().is_none_or(|values| values.contains(key)));
            keys
        };
        let Some(second) = &self.second else { return of_last(&self.by) };
        let seconds = of_last(second);
        let pairs = |first: String| seconds.iter().map(move |second| format!("{first}, {second}")).collect::<Vec<_>>();
        keys_of(&self.by, event).into_iter().flat_map(pairs).collect()
    }

    /// Returns the name of a group, as used for single events.
    fn name(&self, group: &EventGroup) -> String {
        let first = name(&group.key, &self.by);
        let second = group.second_key.as_ref().zip(self.second.as_ref());
        second.map_or_else(|| first.clone(), |(key, by)| format!("{first}, {}", name(key, by)))
    }

    async fn check(&self, home: &Home<'_>, caller: &Caller, lives: &[Life]) {
        let life = self.of.get(lives);
        let (answers, events) = (self.count(home, caller, life).await, self.list(home, caller, life).await);
        let context = || format!("{self:?} on {}", life.name);
        assert!(answers.iter().all(|answer| answer.count <= self.events_max), "{}", context());
        assert_eq!(answers.iter().map(|answer| answer.count).sum::<usize>(), events.len(), "{}", context());
        if matches!(self.by, GroupBy::Stretches(_)) {
            let groups = answers.iter().flat_map(|answer| &answer.groups);
            assert_eq!(groups.map(|group| group.count).sum::<usize>(), events.len(), "{}", context());
            return;
        }
        let mut expected = BTreeMap::<String, (usize, Instant<Virtual>, Instant<Virtual>)>::new();
        let mut ungrouped_count = 0;
        for event in &events {
            let groups = self.groups_of(event);
            ungrouped_count += usize::from(groups.is_empty());
            for group in groups {
                let of = expected.entry(group).or_insert((0, event.time, event.time));
                *of = (of.0 + 1, of.1, event.time);
            }
        }
        let mut counted = BTreeMap::new();
        for group in answers.iter().flat_map(|answer| &answer.groups) {
            let of = counted.entry(self.name(group)).or_insert((0, group.first, group.last));
            *of = (of.0 + group.count, of.1, group.last);
        }
        assert_eq!(counted, expected, "{}", context());
        let total = answers.iter().map(|answer| answer.ungrouped_count).sum::<usize>();
        assert_eq!(total, ungrouped_count, "{}", context());
    }
}

fn keys_of(by: &GroupBy, event: &StoredEvent) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(&event.content).unwrap();
    match by {
        GroupBy::Time(bucket) => vec![bucket.begin(event.time).to_string()],
        GroupBy::Cell(micros) => {
            let cell = |degrees: f64, most: f64| ((degrees + most) * 1e6 / size(*micros)).floor();
            let point = document["geo"]["lat"].as_f64().zip(document["geo"]["lon"].as_f64());
            point.map(|(lat, lon)| format!("{} {}", cell(lat, 90.0), cell(lon, 180.0))).into_iter().collect()
        }
        GroupBy::Actor => {
            let actors = document["actors"].as_array().into_iter().flatten();
            actors.map(|actor| actor.as_str().unwrap().to_owned()).collect()
        }
        GroupBy::Source => document["source"].as_str().map(str::to_owned).into_iter().collect(),
        GroupBy::Stretches(_) | GroupBy::Attribute(_) => Vec::new(),
    }
}

fn name(key: &GroupKey, by: &GroupBy) -> String {
    match (key, by) {
        (GroupKey::Text(text), _) => text.clone(),
        (GroupKey::Time(begin, _), _) => begin.micros().to_string(),
        (GroupKey::Cell([west, south, ..]), GroupBy::Cell(micros)) => {
            let cell = |degrees: f64, most: f64| ((degrees + most) * 1e6 / size(*micros)).round();
            format!("{} {}", cell(*south, 90.0), cell(*west, 180.0))
        }
        (GroupKey::Cell(_), _) => unreachable!("cells are groups of cells"),
    }
}

fn size(micros: i64) -> f64 {
    f64::from(i32::try_from(micros).unwrap())
}

/// Erases an event with all its versions, including those on forks and in past states.
async fn erase(home: &Home<'_>) {
    let request = ErasureRequest::Event(None, event_id("e5"));
    // It may never have been recorded.
    let _ = home.engine.erase_data(&home.admin, request, None).await;
}

fn check_counts(house: impl Fn() -> House, cases: u32) {
    check_cases(cases, &(steps(), questions()), async |(steps, questions)| {
        let home = house().into_home().await;
        let empty = State::new();
        let past = BTreeMap::from([(0, empty.clone())]);
        let mut lives = vec![Life { name: timeline_id("main"), past, now: empty, anchors: Vec::new() }];
        for (on, one) in &steps {
            home.house.clock.advance(1_000_000);
            let number = on.index(lives.len());
            step(&home, &mut lives, number, one).await;
            for life in &mut lives {
                let size = home.size(life.name.as_str()).await;
                life.past.insert(size - 1, life.now.clone());
            }
        }
        erase(&home).await;
        for request in &questions {
            request.check(&home, &home.admin, &lives).await;
        }
        home.close().await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn event_counts_match_counting_one_at_a_time() {
    check_counts(House::new, 24);
    check_counts(House::on_postgres, 4);
}
