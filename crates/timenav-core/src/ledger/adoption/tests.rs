use proptest::prelude::*;

use super::super::sha256;
use super::*;

fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn adopted(names: &[(&str, &str)]) -> Adopted<'static> {
    Adopted {
        bundle_sha256: sha256(&[b"file"]),
        checkpoint: "other.example/apollo-11\n9\n…\n".into(),
        map: names.iter().map(|(theirs, ours)| (user(theirs), user(ours))).collect(),
        origin: "other.example/apollo-11".into(),
        root: sha256(&[b"root"]),
        size: 9,
    }
}

#[test]
fn only_what_is_named_and_signed_that_way_is_adopted() {
    let key = |name| VerifierKey::new(name, [1; 32]).unwrap();
    let id = |name| TimelineId::new(name).unwrap();
    let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000).unwrap();
    let decided = |name, origin: &str, timeline, recorded_at: i64| {
        decide_adoption(&key(name), origin, &id(timeline), at(recorded_at), at(0))
    };
    assert_eq!(decided("a.example/main", "a.example/main", "main", 300), Ok(()));
    assert_eq!(decided("a.example/b/main", "a.example/b/main", "main", -300), Ok(()));
    let origin = AdoptRefusal::Origin { expected: "b.example/main".to_owned(), found: "a.example/main".to_owned() };
    assert_eq!(decided("b.example/main", "a.example/main", "main", 0), Err(origin));
    let name = AdoptRefusal::Name { origin: "a.example/main".to_owned(), timeline_id: id("other") };
    assert_eq!(decided("a.example/main", "a.example/main", "other", 0), Err(name));
    assert_eq!(decided("a.example/system", "a.example/system", "system", 0), Err(AdoptRefusal::System));
    let future = AdoptRefusal::Future { recorded_at: at(301) };
    assert_eq!(decided("a.example/main", "a.example/main", "main", 301), Err(future));
}

#[test]
fn a_user_is_mapped_once() {
    let payload = String::from_utf8(adopted(&[("ada", "ada"), ("bob", "eve")]).encode()).unwrap();
    assert!(payload.contains(r#""map":{"ada":"ada","bob":"eve"}"#), "{payload}");
    for map in
        [r#"{"bob":"eve","ada":"ada"}"#, r#"{"ada":"ada","ada":"eve"}"#, r#"{"a b":"ada"}"#, r#"{"ada":""}"#, "{,}"]
    {
        let changed = payload.replace(r#"{"ada":"ada","bob":"eve"}"#, map);
        assert!(Adopted::decode(changed.as_bytes()).is_err(), "{changed}");
    }
    let many: Vec<String> = (0..=PERMISSION_USERS_MAX).map(|number| format!("user-{number:04}")).collect();
    let pairs: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "ada")).collect();
    assert!(Adopted::decode(&adopted(&pairs).encode()).is_err());
    assert!(Adopted::decode(&adopted(&pairs[1..]).encode()).is_ok());
}

proptest! {
    #[test]
    fn payloads_are_canonical_and_read_back(
        checkpoint in any::<String>(),
        names in prop::collection::btree_map("[a-z][a-z0-9@.:-]{0,6}", "[a-z]{1,6}", 0..6),
        size in 0..=super::super::SEQ_MAX,
    ) {
        let names: Vec<(&str, &str)> = names.iter().map(|(theirs, ours)| (theirs.as_str(), ours.as_str())).collect();
        let adopted = Adopted { checkpoint: checkpoint.into(), size, ..adopted(&names) };
        let payload = adopted.encode();
        let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        prop_assert_eq!(&payload, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(Adopted::decode(&payload), Ok(adopted));
    }
}
