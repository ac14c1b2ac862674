use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use sha2::Sha256;

use super::super::tests::{hashes, items, read_json, text};
use super::*;

/// MTH of RFC 6962 §2.1, verbatim.
fn root_by_definition(entries: &[Vec<u8>]) -> Hash {
    match entries {
        [] => sha256(&[]),
        [entry] => sha256(&[&[0], entry]),
        entries => {
            let (left, right) = entries.split_at(entries.len().next_power_of_two() / 2);
            let (left, right) = (root_by_definition(left), root_by_definition(right));
            sha256(&[&[1], left.as_bytes(), right.as_bytes()])
        }
    }
}

fn check(entries: &[Vec<u8>], roots: &[Hash]) {
    let mut frontier = Frontier::default();
    for (size, root) in roots.iter().enumerate() {
        assert_eq!(frontier.root(), *root, "root of {size}");
        assert_eq!(root_by_definition(&entries[..size]), *root, "root of {size}");
        if let Some(entry) = entries.get(size) {
            frontier.push(leaf_hash(entry));
        }
    }
}

#[test]
fn roots_match_certificate_transparency_vectors() {
    let Some(vectors) = read_json("../shared/data/vectors/merkle_rfc6962.json") else {
        return;
    };
    let empty = Hash::from_hex(text(&vectors["empty_root"])).unwrap();
    assert_eq!(empty_root(), empty);

    let reference = &vectors["ct_reference"];
    let hex = |leaf: &serde_json::Value| data_encoding::HEXLOWER.decode(text(leaf).as_bytes());
    let entries: Vec<_> = items(&reference["leaves_hex"]).iter().map(|l| hex(l).unwrap()).collect();
    let mut roots = vec![empty];
    roots.extend(hashes(&reference["roots_size_1_to_8"]));
    check(&entries, &roots);

    let roots = hashes(&vectors["series"]["roots"]);
    assert_eq!(roots.len(), 41);
    let entries: Vec<_> = (0..40).map(|i| format!("entry-{i}").into_bytes()).collect();
    check(&entries, &roots);
}

#[test]
fn push_visits_every_completed_subtree() {
    let mut frontier = Frontier::default();
    let mut subtrees = Vec::new();
    let leaves: Vec<Hash> = (0..600_u32).map(|i| leaf_hash(&i.to_be_bytes())).collect();
    for leaf in &leaves {
        frontier.push_visiting(*leaf, |subtree, hash| subtrees.push((subtree, hash)));
    }
    let expected: usize = (0..10).map(|height| 600 >> height).sum();
    assert_eq!(subtrees.len(), expected);
    for (subtree, hash) in subtrees {
        let begin = usize::try_from(subtree.index << subtree.height).unwrap();
        assert_eq!(hash, tree_root(&leaves[begin..begin + (1 << subtree.height)]));
    }
}

#[test]
fn frontier_length_must_match_its_size() {
    let hash = [7; Hash::BYTES];
    let expected = FrontierError::Length { size: 3, expected: 64, found: 32 };
    assert_eq!(Frontier::from_bytes(3, &hash), Err(expected));
    let expected = FrontierError::Length { size: 1, expected: 32, found: 31 };
    assert_eq!(Frontier::from_bytes(1, &hash[1..]), Err(expected));
    assert_eq!(Frontier::from_bytes(0, &[]), Ok(Frontier::default()));
    let size = SEQ_MAX + 2;
    assert_eq!(Frontier::from_bytes(size, &hash), Err(FrontierError::Size { size }));
    assert!(Frontier::from_bytes(SEQ_MAX + 1, &hash).is_ok());
}

proptest! {
    #[test]
    fn roots_match_ct_merkle(
        entries in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..8), 1..300),
    ) {
        let mut other = MemoryBackedTree::<Sha256, Vec<u8>>::new();
        let mut frontier = Frontier::default();
        for entry in &entries {
            other.push(entry.clone());
            frontier.push(leaf_hash(entry));
        }
        let theirs = Hash::from_slice(other.root().as_bytes().as_slice());
        prop_assert_eq!(Some(frontier.root()), theirs);
        prop_assert_eq!(frontier.root(), root_by_definition(&entries));
        prop_assert_eq!(frontier.size(), entries.len() as u64);
        prop_assert_eq!(Frontier::from_bytes(frontier.size(), &frontier.to_bytes()), Ok(frontier));
    }
}
