//! Reads every entry of every ledger again, and checks everything that a third party could check. Also checks that the
//! other tables follow from the ledgers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::Sha256;
use timenav_core::ids::DataId;
use timenav_core::ledger::{
    Checkpoint, EventsErased, Hash, LeafRecord, PruneClass, Read, ReadParameters, RemainingReads, Salt,
};
use timenav_core::ledger::{VerifierKey, origin, payload_hash};
use timenav_core::place::LocationQuery;
use timenav_core::scan::Depth;
use timenav_core::time::{Instant, TimeRange, Wall, parse_timestamp};
use timenav_engine::{
    EndedTimeline, EventQuery, Head, OneFact as _, Pattern, ReferenceCheckpoint, ReplayedAuthority, ScanRequest,
    Signer as _, Store, StoredEntry, scan,
};

use crate::house::House;
use crate::ports::CountingEntropy;
use crate::sample::layer;

/// One entry in a form convenient for tests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) timeline: String,
    pub(crate) seq: u64,
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) subject: String,
    pub(crate) clock_time: String,
    pub(crate) payload: Value,
}

impl Line {
    /// Returns `timeline actor action subject`.
    pub(crate) fn short(&self) -> String {
        format!("{} {} {} {}", self.timeline, self.actor, self.action, self.subject)
    }
}

/// Returns every entry of every ledger, by timeline and position.
pub(crate) async fn lines(store: &dyn Store) -> Vec<Line> {
    let mut heads = store.open().await.unwrap().heads;
    heads.sort_by(|a, b| a.id.cmp(&b.id));
    let mut lines = Vec::new();
    for head in &heads {
        for entry in entries(store, head).await {
            lines.extend(lines_of(&entry));
        }
    }
    lines
}

/// Checks every ledger. Returns all entries, by timeline and position.
pub(crate) async fn check(store: &dyn Store, house: &House) -> Vec<Line> {
    let opened = store.open().await.unwrap();
    let mut all = Vec::new();
    let mut salts = HashSet::new();
    let mut heads = opened.heads;
    heads.sort_by(|a, b| a.id.cmp(&b.id));
    for head in &heads {
        let entries = entries(store, head).await;
        check_entries(head, &entries);
        check_tree(head, &entries, house);
        for entry in entries.iter().filter(|entry| !salt_of(entry).is_empty()) {
            assert!(salts.insert(*entry.salt.as_bytes()), "{} {}: a salt is used twice", head.id, entry.seq);
        }
        let lines: Vec<Line> = entries.iter().flat_map(lines_of).collect();
        check_projections(store, head, &entries, &lines).await;
        check_scan(store, head, house).await;
        all.extend(lines);
    }
    let named: BTreeSet<&str> = heads.iter().map(|head| head.id.as_str()).collect();
    let notes = house.outside.notes();
    // Layers inherited by a fork have no end here, and are not signed.
    let ended = opened.ended.iter().filter(|ended| ended.id.adopting_fork().is_none());
    let ended: BTreeSet<&str> = ended.map(|ended| ended.id.as_str()).collect();
    let stored: BTreeSet<&str> = notes.keys().map(timenav_core::ids::TimelineId::as_str).collect();
    assert!(stored.is_superset(&named), "checkpoints outside");
    assert!(stored.iter().all(|stored| named.contains(stored) || ended.contains(stored)), "checkpoints outside");
    let is_making = |line: &&Line| ["create_timeline", "adopt"].contains(&line.action.as_str());
    let made = all.iter().filter(|line| line.timeline == "system").filter(is_making);
    let made: BTreeSet<&str> = made.map(|line| line.subject.as_str()).collect();
    assert!(named.is_disjoint(&ended), "a timeline has ended, or it stands");
    assert_eq!(made, &named | &ended, "timelines that `system` tells of");
    let recorded = all.iter().filter(|line| line.timeline == "system" && line.action == "end_timeline");
    assert_eq!(
        recorded.map(|line| line.subject.as_str()).collect::<BTreeSet<_>>(),
        ended,
        "ends that `system` tells of"
    );
    for ended in &opened.ended {
        check_ended(store, ended, house).await;
    }
    let users: BTreeSet<&str> = opened.directory.users.keys().map(timenav_core::ids::UserId::as_str).collect();
    assert_eq!(users_in(&all), users, "users that `system` tells of");
    all
}

async fn entries(store: &dyn Store, head: &Head) -> Vec<StoredEntry> {
    let size = head.frontier.size();
    assert_eq!(store.entry(head.key, size).await.unwrap(), None, "{} has an entry beyond its end", head.id);
    let mut entries = Vec::new();
    for seq in 0..size {
        let entry = store.entry(head.key, seq).await.unwrap();
        entries.push(entry.unwrap_or_else(|| panic!("{} lacks entry {seq} of {size}", head.id)));
    }
    entries
}

/// Checks that the leaves and the tree of an ended timeline are as they were signed.
async fn check_ended(store: &dyn Store, ended: &EndedTimeline, house: &House) {
    let origin = origin(&house.options.service_name, ended.id.as_str());
    let signer = Arc::clone(&house.signer);
    let key = VerifierKey::new(&origin, signer.public_key()).unwrap();
    let request = ScanRequest {
        source: store,
        timeline: ended.id.clone(),
        depth: Depth::Full,
        keys: key.into(),
        verify: &move |public, message, signature| signer.verify(public, message, signature),
        gazetteer: None,
        entropy: &CountingEntropy::default(),
        references: Vec::new(),
        unkept: Vec::new(),
        authority: &ReplayedAuthority::default(),
    };
    let found = scan(&request, &mut |_| ()).await.unwrap().unwrap();
    assert!(!found.tampering_detected(), "{}", found.details);
}

/// Returns what an entry records, with each read as a separate line.
pub(crate) fn lines_of(entry: &StoredEntry) -> Vec<Line> {
    let record = LeafRecord::decode(&entry.leaf).unwrap();
    let line = |actor: &str, action: &str, subject: &str, clock_time: &str, payload: Value| Line {
        timeline: record.timeline_id.to_string(),
        seq: record.seq,
        actor: actor.to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        clock_time: clock_time.to_owned(),
        payload,
    };
    if record.action == "reads" && !entry.is_erased() {
        let reads = RemainingReads::parse(salt_of(entry), &entry.payload).expect("reads");
        let of_read = |read: &Read<'_>| {
            let ReadParameters::Whole(parameters) = &read.parameters else { panic!("long parameters: {read:?}") };
            let payload = serde_json::from_str(parameters).expect("parameters are JSON");
            line(&read.user, "read", &read.action, &read.clock_time.to_string(), payload)
        };
        let erased = || line("", "read", "", &record.clock_time, Value::Null);
        return reads.iter().map(|read| read.map_or_else(erased, of_read)).collect();
    }
    let payload = if entry.is_erased() {
        Value::Null
    } else {
        serde_json::from_slice(&entry.payload).expect("a payload is JSON")
    };
    vec![line(&record.actor, &record.action, &record.subject, &record.clock_time, payload)]
}

/// Returns the stored salt of an entry: empty if something of the entry was erased.
fn salt_of(entry: &StoredEntry) -> &[u8] {
    let is_missing = *entry.salt.as_bytes() == [0; Salt::BYTES];
    if is_missing { &[] } else { entry.salt.as_bytes() }
}

/// Returns the payload hash in the entry's format.
pub(crate) fn payload_hash_of(record: &LeafRecord<'_>, salt: &[u8], payload: &[u8]) -> Hash {
    if record.action == "reads" {
        return RemainingReads::parse(salt, payload).unwrap().root();
    }
    payload_hash(&Salt::from_bytes(salt.try_into().unwrap()), payload)
}

fn check_entries(head: &Head, entries: &[StoredEntry]) {
    let mut recorded_at: Instant<Wall> = head.created_at;
    let mut directory = 0;
    for (seq, entry) in (0..).zip(entries) {
        let record = LeafRecord::decode(&entry.leaf).unwrap();
        let authority = record.authority.as_ref().expect("every entry is of version 2");
        assert_eq!(record.as_leaf().encode_v2(authority), entry.leaf, "{} {seq}: not canonical", head.id);
        let is_other = record.action == "adopt";
        assert!(is_other || directory <= authority.directory, "{} {seq}: the directory went back", head.id);
        assert_eq!(
            authority.key.is_empty(),
            ["system", "unknown", ""].contains(&&*record.actor),
            "{} {seq}: key",
            head.id
        );
        directory = authority.directory;
        assert_eq!((&*record.timeline_id, record.seq, entry.seq), (head.id.as_str(), seq, seq));
        let at = parse_timestamp(&record.recorded_at).unwrap();
        assert!(recorded_at <= at, "{} {seq}: recorded at {at}, before {recorded_at}", head.id);
        recorded_at = at;
        if entry.is_erased() {
            continue;
        }
        let hash = payload_hash_of(&record, salt_of(entry), &entry.payload);
        assert_eq!(hash, record.payload_hash, "{} {seq}: payload", head.id);
        assert_eq!(record.actor.is_empty(), record.action == "reads", "{} {seq}: actor", head.id);
        assert!(record.action == "reads" || !salt_of(entry).is_empty(), "{} {seq}: no salt", head.id);
    }
    assert_eq!(recorded_at, head.recorded_at, "{}: the last entry's time", head.id);
}

/// Computes the root with an independent implementation of the tree, and compares everything derived from it.
fn check_tree(head: &Head, entries: &[StoredEntry], house: &House) {
    let mut tree = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    for entry in entries {
        tree.push(entry.leaf.clone());
    }
    let root = Hash::from_slice(tree.root().as_bytes().as_slice()).unwrap();
    assert_eq!((head.frontier.size(), head.frontier.root()), (entries.len() as u64, root), "{}: frontier", head.id);
    let note = house.outside.notes().remove(&head.id).unwrap_or_default();
    let checkpoint = open_note(house, head.id.as_str(), &note);
    assert_eq!((checkpoint.size, checkpoint.root), (entries.len() as u64, root), "{}: checkpoint", head.id);
    assert!(head.carried_note.is_empty() || note == *head.carried_note, "{}: a checkpoint in the database", head.id);
}

/// Runs the service's own scan, which must not report anything.
async fn check_scan(store: &dyn Store, head: &Head, house: &House) {
    let signer = &house.signer;
    let verify = {
        let signer = std::sync::Arc::clone(signer);
        move |public: &[u8; 32], message: &[u8], signature: &[u8; 64]| signer.verify(public, message, signature)
    };
    let key = VerifierKey::new(&origin(&house.options.service_name, head.id.as_str()), signer.public_key()).unwrap();
    let note = house.outside.notes().get(&head.id).cloned();
    let request = ScanRequest {
        source: store,
        timeline: head.id.clone(),
        depth: Depth::Full,
        keys: key.into(),
        verify: &verify,
        gazetteer: house.gazetteer.clone(),
        authority: &ReplayedAuthority::default(),
        entropy: &CountingEntropy::default(),
        references: note.into_iter().map(|note| ReferenceCheckpoint { from: "kept outside", note }).collect(),
        unkept: Vec::new(),
    };
    let found = scan(&request, &mut |_| ()).await.unwrap().expect("there is such a timeline").findings;
    assert!(found.is_empty(), "{}: {found:#?}", head.id);
}

/// Verifies a signed checkpoint of a timeline.
pub(crate) fn open_note(house: &House, timeline: &str, note: &str) -> Checkpoint {
    let key = VerifierKey::new(&origin(&house.options.service_name, timeline), house.signer.public_key()).unwrap();
    Checkpoint::open(note.as_bytes(), &key, |key, message, signature| house.signer.verify(key, message, signature))
        .unwrap()
}

/// Checks that clock, events and anchors match the ledger.
async fn check_projections(store: &dyn Store, head: &Head, entries: &[StoredEntry], lines: &[Line]) {
    // On `system`, entries about created timelines contain their clocks.
    let own = |line: &&Line| line.action != "create_timeline" || line.subject == line.timeline;
    let recorded = lines.iter().rev().filter(own).find_map(|line| line.payload.get("clock"));
    let recorded = recorded.expect("every timeline was made");
    let (host, at) = head.clock.origin();
    let clock = serde_json::json!({
        "running": head.clock.is_running(),
        "rate_micros": head.clock.rate().micros(),
        "origin_host": host.to_string(),
        "origin_virtual": at.to_string(),
        "location": head.clock.location,
        "generation": head.clock.generation,
    });
    assert_eq!(*recorded, clock, "{}: clock", head.id);

    let query = EventQuery {
        layers: layer(head.key, head.frontier.size()),
        patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
        range: TimeRange::everything(),
        after: None,
        items_max: entries.len() + 1,
        newest_first: false,
        overlapping: false,
    };
    let mut events = store.events(query).await.unwrap();
    events.sort_by_key(|event| event.position);
    let found: Vec<_> = events.iter().map(|event| (event.position, event.content.as_bytes())).collect();
    let erased: Vec<u64> = entries.iter().filter(|entry| entry.is_erased()).map(|entry| entry.seq).collect();
    check_erased(store, lines, &erased).await;
    let current_events = current_events(entries, lines);
    let current_events: Vec<_> =
        current_events.iter().map(|(position, content)| (*position, content.as_slice())).collect();
    assert_eq!(found, current_events, "{}: events", head.id);
    let inherited = lines.first().map_or(0, |line| line.payload["fork"]["events_count"].as_u64().unwrap_or(0));
    if inherited == 0 {
        assert_eq!(head.events_count, found.len() as u64, "{}: count of events", head.id);
    }

    let anchors = store.anchor_rows(head.key, None, entries.len() + 1).await.unwrap();
    let found: Vec<_> = anchors.iter().map(|anchor| (anchor.position, anchor.anchor_id.to_string())).collect();
    let set = lines.iter().filter(|line| line.action == "set_anchor");
    let set: Vec<_> = set.map(|line| (line.seq, line.subject.clone())).collect();
    assert_eq!(found, set, "{}: anchors", head.id);
    assert_eq!(head.anchors_count, found.len() as u64, "{}: count of anchors", head.id);
}

/// Returns the events in effect according to the entries of a timeline, by the positions of their versions.
fn current_events(entries: &[StoredEntry], lines: &[Line]) -> BTreeMap<u64, Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Within<'a> {
        #[serde(borrow)]
        event: Option<&'a RawValue>,
        #[serde(borrow)]
        after: Option<&'a RawValue>,
    }
    let mut by_id: HashMap<&str, (u64, Vec<u8>)> = HashMap::new();
    for (entry, line) in entries.iter().zip(lines) {
        let content = match line.action.as_str() {
            // If a later version was erased, nothing of the earlier ones is left either.
            "record_event" | "correct_event" | "manipulate_event" if entry.is_erased() => None,
            "record_event" => Some(entry.payload.clone()),
            "correct_event" | "manipulate_event" => {
                let within: Within<'_> = serde_json::from_slice(&entry.payload).unwrap();
                if line.payload["changed"] == false {
                    continue;
                }
                within.event.or(within.after).map(|content| content.get().as_bytes().to_vec())
            }
            _ => continue,
        };
        match content {
            Some(content) => by_id.insert(&line.subject, (entry.seq, content)),
            None => by_id.remove(line.subject.as_str()),
        };
    }
    by_id.into_values().collect()
}

/// Checks that erased content was erased by a later entry, and that sealed records match the ledger.
async fn check_erased(store: &dyn Store, lines: &[Line], entries_erased: &[u64]) {
    let mut erased_keys = BTreeSet::new();
    for line in lines.iter().filter(|line| line.action == "erase_data") {
        let position = line.payload["position"].as_u64().unwrap();
        assert!(position < line.seq, "{line:?}");
        if line.payload.get("event_id").is_some() {
            erased_keys.insert(position);
            erased_keys
                .extend(line.payload["also"].as_array().into_iter().flatten().map(|also| also.as_u64().unwrap()));
        }
    }
    for line in lines.iter().filter(|line| line.action == "erase_events") {
        let payload = line.payload.to_string();
        let erased = EventsErased::decode(payload.as_bytes()).expect("the members are in order");
        assert!(erased.is_possible_at(line.seq), "{line:?}");
        let runs = erased.versions.as_slice().iter().chain(erased.interventions.as_slice());
        erased_keys.extend(runs.flat_map(|(first, last)| *first..=*last));
    }
    let runs = lines.iter().filter(|line| line.action == "sweep").flat_map(|line| {
        let runs = line.payload["positions"].as_array().unwrap();
        runs.iter().map(|run| run[0].as_u64().unwrap()..=run[1].as_u64().unwrap())
    });
    let swept: BTreeSet<u64> = runs.flatten().collect();
    for line in lines.iter().filter(|line| swept.contains(&line.seq)) {
        let class = PruneClass::of(&line.action);
        assert!(class.is_some(), "a sweep names an entry that is kept forever: {line:?}");
    }
    let erased: Vec<u64> = entries_erased.iter().filter(|position| !swept.contains(position)).copied().collect();
    assert_eq!(erased_keys.into_iter().collect::<Vec<_>>(), erased);
    for line in lines.iter().filter(|line| line.action == "encrypt_data") {
        let data_id = DataId::new(&line.subject).unwrap();
        let (on, record) = store.data_record(&data_id).await.unwrap().expect("a record is kept");
        assert_eq!((on.as_str(), record.position), (line.timeline.as_str(), line.seq));
        let by = lines.iter().find(|later| later.action == "erase_data" && later.subject == line.subject);
        assert_eq!(record.erased, by.map(|later| later.seq));
        if record.erased.is_none() {
            assert_eq!(line.payload["sha256"], record.sealed.hash().to_hex());
            assert_eq!(line.payload["bytes"], record.sealed.bytes_count());
        }
    }
}

fn users_in(lines: &[Line]) -> BTreeSet<&str> {
    let mut users = BTreeSet::new();
    for line in lines.iter().filter(|line| line.timeline == "system") {
        match line.action.as_str() {
            "create_user" => users.insert(line.subject.as_str()),
            "delete_user" => users.remove(line.subject.as_str()),
            _ => false,
        };
    }
    users
}
