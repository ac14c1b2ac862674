use super::*;
use crate::access::{Permissions, RestrictionLevel, Scope};
use crate::clock::{Clock, ClockState, Rate};
use crate::horizon::Horizon;
use crate::ids::{KeyId, SessionId, TimelineId, UserId};
use crate::time::{Instant, parse_timestamp};

fn published() -> Value {
    read_json("test-data/ledger-format-v2.json").expect("the vectors are part of the repository")
}

#[test]
fn entries_have_the_published_bytes() {
    items(&published()["leaves"]).iter().for_each(check_leaf_v2);
}

fn check_leaf_v2(leaf: &Value) {
    let authority = Authority { key: text(&leaf["key"]).into(), directory: number(&leaf["directory"]) };
    check_leaf(leaf, Some(&authority));
}

#[test]
fn ledger_page_quotes_the_vectors() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/specs/ledger-2.md");
    let page = std::fs::read_to_string(page).expect("the page is part of the repository");
    let vectors = published();
    let reads = &vectors["reads"];
    let of_reads = items(&reads["reads"]).iter().flat_map(|read| [text(&read["read"]), text(&read["digest"])]);
    let quoted = [
        text(&reads["salt"]),
        text(&reads["payload_hash"]),
        text(&reads["entry"]["entry"]),
        text(&reads["entry"]["leaf_hash"]),
        text(&reads["entry_of_directory_300"]["compact"]),
        text(&reads["reads"][1]["handed_around"]),
        text(&reads["without_read_1"]),
        text(&vectors["roots"][4]),
        text(&vectors["states"][0]["state"]),
        text(&vectors["heads"][1]["handed_around"]).trim_end(),
        text(&vectors["directory"]["empty_root"]),
        text(&vectors["directory"]["root"]),
        text(&vectors["directory_with_ended"]["root"]),
    ];
    for quote in quoted.into_iter().chain(of_reads) {
        assert!(page.contains(quote), "docs/specs/ledger-2.md does not quote {quote}");
    }
}

#[test]
fn reads_have_the_published_bytes() {
    let vectors = &published()["reads"];
    let master = Salt::from_bytes(bytes(&vectors["salt"]));
    let root = hash(&vectors["payload_hash"]);
    let remaining = RemainingReads::parse(master.as_bytes(), text(&vectors["payload"]).as_bytes()).unwrap();
    let mut draft = ReadsDraft::new(master);
    for (number, vector) in items(&vectors["reads"]).iter().enumerate() {
        let proof = remaining.prove(number).unwrap();
        assert_eq!(std::str::from_utf8(&proof.read).unwrap(), text(&vector["read"]));
        assert_eq!(proof.salt, Salt::from_bytes(bytes(&vector["salt"])));
        assert_eq!(sha256(&[proof.salt.as_bytes(), &proof.read]), hash(&vector["digest"]));
        assert_eq!(proof.hashes, hashes(&vector["proof"]));
        assert_eq!(std::str::from_utf8(&proof.encode()).unwrap(), text(&vector["handed_around"]));
        assert_eq!(ReadProof::decode(text(&vector["handed_around"]).as_bytes()), Ok(proof.clone()));
        draft.push(&proof.verify(&root).unwrap()).unwrap();
    }
    assert_eq!(draft.finish(), (text(&vectors["payload"]).as_bytes().to_vec(), root));
    let opened = remaining.without(|number, _| number == 1);
    assert_eq!(std::str::from_utf8(&opened).unwrap(), text(&vectors["without_read_1"]));
    assert_eq!(RemainingReads::parse(&[], &opened).unwrap().root(), root);
    let without_salt = reads_in(&opened).unwrap();
    assert!(without_salt.iter().map(Option::as_ref).eq(RemainingReads::parse(&[], &opened).unwrap().iter()));
    let payload = text(&vectors["payload"]).as_bytes();
    assert!(reads_in(payload).unwrap().iter().map(Option::as_ref).eq(remaining.iter()));
}

#[test]
fn reads_entries_are_rebuilt_from_the_published_bytes() {
    let vectors = &published()["reads"];
    for entry in [&vectors["entry"], &vectors["entry_of_directory_300"]] {
        let compact = HEXLOWER.decode(text(&entry["compact"]).as_bytes()).unwrap();
        let leaf = rebuilt_leaf(&compact, text(&entry["timeline_id"]), number(&entry["seq"])).unwrap();
        assert_eq!(std::str::from_utf8(&leaf).unwrap(), text(&entry["entry"]));
        assert_eq!(leaf_hash(&leaf), hash(&entry["leaf_hash"]));
        let reads = ReadsEntry::of(&LeafRecord::decode(&leaf).unwrap()).unwrap();
        assert_eq!(reads.to_bytes(), compact);
        assert_eq!(reads.payload_hash, hash(&vectors["payload_hash"]));
    }
}

#[test]
fn mixed_version_tree_has_the_published_roots() {
    let vectors = published();
    let reads = hash(&vectors["reads"]["entry"]["leaf_hash"]);
    let leaves = items(&vectors["leaves"]).iter().map(|leaf| hash(&leaf["leaf_hash"]));
    let leaves: Vec<Hash> = leaves.chain([reads]).collect();
    for (size, root) in hashes(&vectors["roots"]).iter().enumerate() {
        assert_eq!(tree_root(&leaves[..size]), *root);
    }
}

fn instant<S>(value: &Value) -> Instant<S> {
    parse_timestamp(text(value)).unwrap()
}

fn optional<'v, T>(value: &'v Value, read: impl FnOnce(&'v Value) -> T) -> Option<T> {
    (!value.is_null()).then(|| read(value))
}

fn with_row<T>(vector: &Value, with: impl FnOnce(&DirectoryRow<'_>) -> T) -> T {
    let row: Value = serde_json::from_str(text(&vector["row"])).unwrap();
    let user_id = UserId::new(text(&row["user_id"])).unwrap();
    let user_id = &user_id;
    let known_at = row.get("known_at").and_then(Value::as_u64);
    let horizon = Horizon { until_clock: row.get("horizon") == Some(&"clock".into()), known_at };
    match text(&vector["kind"]) {
        "user" => {
            let is_it = |level: &&RestrictionLevel| level.as_str() == text(&row["restriction_level"]);
            let restriction = *RestrictionLevel::ALL.iter().find(is_it).unwrap();
            let (operator, created_at) = (row["operator"] == true, instant(&row["created_at"]));
            with(&DirectoryRow::User { user_id, operator, restriction, created_at })
        }
        "key" => {
            let scope = |name: &Value| *Scope::ALL.iter().find(|scope| scope.as_str() == text(name)).unwrap();
            let scopes: Option<Vec<Scope>> = optional(&row["scopes"], |names| items(names).iter().map(scope).collect());
            with(&DirectoryRow::Key {
                key_id: &KeyId::new(text(&row["key_id"])).unwrap(),
                sha256: hash(&row["key_sha256"]),
                user_id,
                timeline_id: &TimelineId::new(text(&row["timeline_id"])).unwrap(),
                label: text(&row["label"]),
                scopes: scopes.as_deref(),
                horizon,
                created_at: instant(&row["created_at"]),
                expires_at: optional(&row["expires_at"], instant),
            })
        }
        "password" => {
            let (sha256, set_at) = (hash(&row["password_sha256"]), instant(&row["set_at"]));
            with(&DirectoryRow::Password { user_id, sha256, set_at })
        }
        "session" => with(&DirectoryRow::Session {
            session_id: &SessionId::new(text(&row["session_id"])).unwrap(),
            sha256: hash(&row["session_sha256"]),
            user_id,
            horizon,
            created_at: instant(&row["created_at"]),
            renewed_at: instant(&row["renewed_at"]),
            expires_at: instant(&row["expires_at"]),
        }),
        kind => panic!("no row is a {kind}"),
    }
}

#[test]
fn directory_has_the_published_root() {
    let vectors = &published()["directory"];
    let mut tree = DirectoryTree::default();
    assert_eq!(tree.root(), hash(&vectors["empty_root"]));
    for vector in items(&vectors["rows"]) {
        with_row(vector, |row| {
            assert_eq!(std::str::from_utf8(&row.encode()).unwrap(), text(&vector["row"]));
            assert_eq!(row.name().digest(), hash(&vector["name_digest"]));
            assert_eq!(row.digest(), hash(&vector["row_digest"]));
            tree.put(row);
        });
    }
    assert_eq!(tree.root(), hash(&vectors["root"]));
    assert!(tree.remove(RowName::Key(&KeyId::new("key_2").unwrap())));
    assert_eq!(tree.root(), hash(&vectors["root_without_key_2"]));

    let ids: Vec<UserId> = (0..10_000).map(|number| UserId::new(&format!("user-{number}")).unwrap()).collect();
    let restriction = RestrictionLevel::FullAccess;
    let row = |user_id| DirectoryRow::User { user_id, operator: false, restriction, created_at: Instant::EPOCH };
    let mut tree: DirectoryTree = ids.iter().map(row).collect();
    assert_eq!(tree.root(), hash(&vectors["root_of_10000_users"]));
}

#[test]
fn directory_with_an_ended_timeline_has_the_published_root() {
    let vectors = published();
    let mut tree = DirectoryTree::default();
    for vector in items(&vectors["directory"]["rows"]) {
        with_row(vector, |row| tree.put(row));
    }
    let vectors = &vectors["directory_with_ended"];
    let vector = &vectors["row"];
    let expected_row: Value = serde_json::from_str(text(&vector["row"])).unwrap();
    let timeline_id = TimelineId::new(text(&expected_row["timeline_id"])).unwrap();
    let row = DirectoryRow::Ended {
        timeline_id: &timeline_id,
        size: number(&expected_row["size"]),
        root: hash(&expected_row["root"]),
    };
    assert_eq!(std::str::from_utf8(&row.encode()).unwrap(), text(&vector["row"]));
    assert_eq!((row.name().digest(), row.digest()), (hash(&vector["name_digest"]), hash(&vector["row_digest"])));
    tree.put(&row);
    assert_eq!(tree.root(), hash(&vectors["root"]));
}

#[test]
fn states_have_the_published_hashes() {
    for vector in items(&published()["states"]) {
        let state: Value = serde_json::from_str(text(&vector["state"])).unwrap();
        let (at, since) = (instant(&state["clock"]["origin_virtual"]), instant(&state["clock"]["origin_host"]));
        let rate = Rate::from_micros(number(&state["clock"]["rate_micros"])).unwrap();
        let clock = Clock {
            state: if state["clock"]["running"] == true {
                ClockState::Running { origin_host: since, origin_virtual: at, rate }
            } else {
                ClockState::Paused { since, at, rate }
            },
            location: optional(&state["clock"]["location"], |place| text(place).to_owned()),
            generation: number(&state["clock"]["generation"]),
        };
        let list = |name: &str| {
            let users = items(&state["permissions"][name]).iter();
            users.map(|user| UserId::new(text(user)).unwrap()).collect()
        };
        let permissions =
            Permissions { read: list("read"), write: list("write"), admin: list("admin"), ..Permissions::default() };
        let count = |name: &str| number(&state["counts"][name]);
        let fork = &state["fork"];
        let parent = optional(fork, |fork| TimelineId::new(text(&fork["fork_of"])).unwrap());
        let facts = TimelineFacts {
            clock: &clock,
            counts: TimelineCounts {
                anchors: count("anchors"),
                data: count("data"),
                events: count("events"),
                overrides: count("overrides"),
            },
            directory_root: optional(&state["directory_root"], hash),
            fork: parent.as_ref().map(|timeline_id| ForkedFrom {
                timeline_id,
                size: number(&fork["size"]),
                root: hash(&fork["root"]),
            }),
            held: Held::NOTHING,
            permissions: &permissions,
            timers: "",
        };
        assert_eq!(std::str::from_utf8(&facts.encode()).unwrap(), text(&vector["state"]));
        assert_eq!(facts.hash(), hash(&vector["state_hash"]));
    }
}

#[test]
fn head_statements_are_signed_as_published() {
    let vectors = published();
    let seed = bytes(&vectors["key"]["seed"]);
    let key = VerifierKey::parse(text(&vectors["key"]["verifier_key"])).unwrap();
    for vector in items(&vectors["heads"]) {
        let head = HeadStatement {
            origin: key.name().to_owned(),
            size: number(&vector["size"]),
            root: hash(&vector["root"]),
            state_hash: hash(&vector["state_hash"]),
            index_root: optional(&vector["index_root"], hash),
        };
        assert_eq!(head.to_text(), text(&vector["text"]));
        assert_eq!(HeadStatement::parse(text(&vector["text"])).as_ref(), Ok(&head));
        let signature = head.sign(&key, ed25519_sign(&seed)).unwrap();
        assert_eq!(signature, bytes::<64>(&vector["signature"]));
        assert_eq!(head.verify(&signature, &key, ed25519_verify), Ok(()));
        assert_eq!(head.to_signed_text(&signature), text(&vector["handed_around"]));
        assert_eq!(HeadStatement::parse_signed(text(&vector["handed_around"])), Ok((head, signature)));
    }
    let head = HeadStatement::parse(text(&vectors["heads"][1]["text"])).unwrap();
    let note = head.checkpoint().sign(&key, ed25519_sign(&seed)).unwrap();
    assert_eq!(note.to_string(), text(&vectors["checkpoint"]["note"]));
}

fn check_record<'v, T>(
    vector: &'v Value,
    decode: impl Fn(&'v [u8]) -> Result<T, Malformed>,
    encode: impl Fn(&T) -> Vec<u8>,
) -> T {
    let record = decode(text(vector).as_bytes()).unwrap();
    assert_eq!(std::str::from_utf8(&encode(&record)).unwrap(), text(vector));
    record
}

#[test]
fn records_are_read_and_written_as_published() {
    let vectors = published();
    let records = &vectors["records"];
    let policy = check_record(&records["set_retention"], Retention::decode, Retention::encode);
    assert_eq!(policy, Retention { reads_seconds: Some(90 * 86_400), refusals_seconds: None });
    let sweep = check_record(&records["sweep"], Sweep::decode, Sweep::encode);
    assert_eq!((sweep.class, sweep.positions.count(), sweep.policy), (PruneClass::Reads, 3, 0));
    let leaves = items(&vectors["leaves"])[1..].iter().chain([&vectors["reads"]["entry"]]);
    let hashes: Vec<Hash> = leaves.map(|leaf| hash(&leaf["leaf_hash"])).collect();
    let bytes: Vec<&[u8]> = hashes.iter().map(|hash| &hash.as_bytes()[..]).collect();
    assert_eq!(sweep.leaf_hashes, sha256(&bytes));
    let erased = check_record(&records["erase_events"], EventsErased::decode, EventsErased::encode);
    assert_eq!((erased.by, erased.versions.count(), erased.outcomes.len()), (ErasedBy::Query, 3, 2));
    let erased = check_record(&records["erase_reads"], ReadsErased::decode, ReadsErased::encode);
    let opened = RemainingReads::parse(&[], text(&vectors["reads"]["without_read_1"]).as_bytes()).unwrap();
    assert!(ReadsErased::explain(&[erased], number(&vectors["reads"]["entry"]["seq"]), &opened));

    let key = VerifierKey::parse(text(&vectors["key"]["verifier_key"])).unwrap();
    let ended = check_record(&records["end_timeline"], TimelineEnded::decode, TimelineEnded::encode);
    let last = Checkpoint::open(ended.checkpoint.as_bytes(), &key, ed25519_verify).unwrap();
    assert_eq!(ended.fits(&last), Some(true));
    let handed_over = check_record(&records["handed_over"], HandedOver::decode, HandedOver::encode);
    assert_eq!((handed_over.size, handed_over.root), (last.size, last.root));
    let adopted = check_record(&records["adopt"], Adopted::decode, Adopted::encode);
    assert_eq!((adopted.size, adopted.root, adopted.map.len()), (last.size, last.root, 2));
}

#[test]
fn adopted_fork_has_the_published_bytes() {
    let (vectors, before) = (read_json("test-data/ledger-format-v2-forks.json").unwrap(), published());
    let leaf = &vectors["leaf"];
    check_leaf_v2(leaf);
    let adopted = check_record(&leaf["payload"], Adopted::decode, Adopted::encode);
    let key = VerifierKey::parse(text(&before["key"]["verifier_key"])).unwrap();
    let last = Checkpoint::open(adopted.checkpoint.as_bytes(), &key, ed25519_verify).unwrap();
    assert_eq!((adopted.size, adopted.root), (last.size, last.root));
    let published_roots: Vec<Hash> = hashes(&before["roots"]);
    let layers = adopted.layers.iter().map(|layer| (layer.timeline_id.as_str(), layer.size, layer.erased_later));
    assert_eq!(layers.collect::<Vec<_>>(), [("main", 2, 0), ("apollo-8", 3, 3)]);
    let leaves = items(&before["leaves"]).iter().chain([&before["reads"]["entry"], leaf]);
    let mut frontier = Frontier::default();
    leaves.for_each(|leaf| frontier.push(hash(&leaf["leaf_hash"])));
    assert_eq!((frontier.size(), frontier.root()), (number(&leaf["seq"]) + 1, hash(&vectors["root"])));
    let mut tree = DirectoryTree::default();
    for (layer, vector) in adopted.layers.iter().zip(items(&vectors["directory"]["rows"])) {
        assert_eq!(layer.root, published_roots[usize::try_from(layer.size).unwrap()]);
        let fork = TimelineId::new(text(&leaf["timeline_id"])).unwrap();
        let timeline_id = TimelineId::layer_of(&fork, &layer.timeline_id);
        let row = DirectoryRow::Ended { timeline_id: &timeline_id, size: layer.size, root: layer.root };
        assert_eq!(std::str::from_utf8(&row.encode()).unwrap(), text(&vector["row"]));
        assert_eq!((row.name().digest(), row.digest()), (hash(&vector["name_digest"]), hash(&vector["row_digest"])));
        tree.put(&row);
    }
    assert_eq!(tree.root(), hash(&vectors["directory"]["root"]));
}
