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
        layers: Vec::new(),
        map: names.iter().map(|(theirs, ours)| (user(theirs), user(ours))).collect(),
        origin: "other.example/apollo-11".into(),
        root: sha256(&[b"root"]),
        size: 9,
    }
}

#[test]
fn adopted_users_are_mapped_once() {
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

fn layer(name: &str, size: u64) -> AdoptedLayer {
    let timeline_id = TimelineId::new(name).unwrap();
    AdoptedLayer { erased_later: size / 2, root: sha256(&[name.as_bytes()]), size, timeline_id }
}

#[test]
fn adopted_layers_appear_only_for_forks_and_are_limited() {
    let plain = adopted(&[]).encode();
    assert!(!String::from_utf8(plain).unwrap().contains("layers"));
    let with = |count: usize| Adopted { layers: (0..count).map(|_| layer("a", 7)).collect(), ..adopted(&[]) };
    let most = with(FORK_DEPTH_MAX);
    let payload = most.encode();
    assert_eq!(Adopted::decode(&payload), Ok(most));
    assert!(Adopted::decode(&with(FORK_DEPTH_MAX + 1).encode()).is_err());
    let text = String::from_utf8(with(1).encode()).unwrap();
    for (from, to) in [(r#""timeline_id":"a""#, r#""timeline_id":"a/b""#), (r#"{"erased_later":3,"#, "{")] {
        let changed = text.replace(from, to);
        assert!(changed != text && Adopted::decode(changed.as_bytes()).is_err(), "{changed}");
    }
    let none = text.replace(&text[text.find("{\"erased").unwrap()..text.find("],\"map").unwrap()], "");
    assert!(Adopted::decode(none.as_bytes()).is_err(), "{none}");
}

proptest! {
    #[test]
    fn payloads_are_canonical_and_read_back(
        checkpoint in any::<String>(),
        names in prop::collection::btree_map("[a-z][a-z0-9@.:-]{0,6}", "[a-z]{1,6}", 0..6),
        size in 0..=super::super::SEQ_MAX,
        layers in prop::collection::vec(("[a-z][a-z0-9@.:-]{0,6}", 0..=super::super::SEQ_MAX), 0..4),
    ) {
        let layers = layers.iter().map(|(name, size)| layer(name, *size)).collect();
        let names: Vec<(&str, &str)> = names.iter().map(|(theirs, ours)| (theirs.as_str(), ours.as_str())).collect();
        let adopted = Adopted { checkpoint: checkpoint.into(), layers, size, ..adopted(&names) };
        let payload = adopted.encode();
        let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        prop_assert_eq!(&payload, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(Adopted::decode(&payload), Ok(adopted));
    }
}
