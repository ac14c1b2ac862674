use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::LazyLock;

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use sha2::Sha256;

use super::super::merkle::{Frontier, leaf_hash, tree_root};
use super::super::tests::{hashes, items, number, read_json};
use super::super::tile::{TILE_HEIGHT, TileId, tile_of};
use super::*;

fn leaf_hashes(size: u64) -> Vec<Hash> {
    (0..size).map(|i| leaf_hash(format!("entry-{i}").as_bytes())).collect()
}

/// A tree large enough for proofs of every smaller size.
static LEAVES: LazyLock<Vec<Hash>> = LazyLock::new(|| leaf_hashes(2_000));
static TILES: LazyLock<Tiles> = LazyLock::new(|| Tiles::of(&LEAVES));

fn root(leaves: &[Hash], size: u64) -> Hash {
    tree_root(&leaves[..usize::try_from(size).unwrap()])
}

/// Stores only tile-height hashes, as the real store does.
#[derive(Default)]
struct Tiles {
    hashes: HashMap<TileId, Vec<Hash>>,
    frontier: Frontier,
}

impl Tiles {
    fn of(leaves: &[Hash]) -> Self {
        let mut tiles = Self::default();
        for leaf in leaves {
            tiles.frontier.push_visiting(*leaf, |subtree, hash| {
                if subtree.height % TILE_HEIGHT == 0 {
                    let (tile, range) = tile_of(subtree);
                    let hashes_stored = tiles.hashes.entry(tile).or_default();
                    assert_eq!(hashes_stored.len()..hashes_stored.len() + 1, range, "hashes arrive in order");
                    hashes_stored.push(hash);
                }
            });
        }
        for (tile, hashes_stored) in &tiles.hashes {
            assert_eq!(hashes_stored.len(), usize::from(tile.width(tiles.frontier.size())));
        }
        tiles
    }

    fn prove(&self, nodes: &[ProofNode]) -> Vec<Hash> {
        let hash_of = |subtree| {
            let (tile, range) = tile_of(subtree);
            Ok::<_, Infallible>(tree_root(&self.hashes[&tile][range]))
        };
        nodes.iter().map(|node| node.hash(hash_of).unwrap()).collect()
    }

    fn inclusion(&self, index: u64, size: u64) -> Vec<Hash> {
        self.prove(&inclusion_nodes(index, size).unwrap())
    }

    fn consistency(&self, old: u64, new: u64) -> Vec<Hash> {
        self.prove(&consistency_nodes(old, new).unwrap())
    }
}

/// PATH of RFC 6962 §2.1.1, verbatim.
fn path_by_definition(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let middle = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(middle);
    let (mut path, sibling) = if index < middle {
        (path_by_definition(index, left), right)
    } else {
        (path_by_definition(index - middle, right), left)
    };
    path.push(tree_root(sibling));
    path
}

/// SUBPROOF of RFC 6962 §2.1.2, verbatim.
fn subproof_by_definition(old: usize, leaves: &[Hash], known: bool) -> Vec<Hash> {
    if old == leaves.len() {
        return if known { Vec::new() } else { vec![tree_root(leaves)] };
    }
    let middle = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(middle);
    let (mut proof, sibling) = if old <= middle {
        (subproof_by_definition(old, left, known), right)
    } else {
        (subproof_by_definition(old - middle, right, false), left)
    };
    proof.push(tree_root(sibling));
    proof
}

/// `proof` with each single bit flipped, and with one hash removed or inserted.
fn damaged(proof: &[Hash]) -> Vec<Vec<Hash>> {
    let mut all = Vec::new();
    for at in 0..proof.len() {
        for bit in [0, 100, 255] {
            let mut flipped = proof.to_vec();
            flipped[at].0[bit / 8] ^= 1 << (bit % 8);
            all.push(flipped);
        }
        let mut shorter = proof.to_vec();
        shorter.remove(at);
        all.push(shorter);
    }
    for at in 0..=proof.len() {
        for added in [empty_root(), *proof.get(at).unwrap_or(&empty_root())] {
            let mut longer = proof.to_vec();
            longer.insert(at, added);
            all.push(longer);
        }
    }
    all
}

fn check_inclusion(index: u64, size: u64, leaves: &[Hash], proof: &[Hash]) {
    let root = root(leaves, size);
    let leaf = leaves[usize::try_from(index).unwrap()];
    assert_eq!(verify_inclusion(index, size, &leaf, proof, &root), Ok(()), "{index} of {size}");
    let refused = |index: u64, size: u64, leaf: &Hash, proof: &[Hash], root: &Hash| {
        let found = verify_inclusion(index, size, leaf, proof, root);
        assert!(found.is_err(), "{index} of {size} with {proof:?}");
    };
    for proof in damaged(proof) {
        refused(index, size, &leaf, &proof, &root);
    }
    refused(index + 1, size, &leaf, proof, &root);
    refused(index.wrapping_sub(1), size, &leaf, proof, &root);
    refused(index, size, &empty_root(), proof, &root);
    refused(index, size, &leaf, proof, &empty_root());
    for other in [size - 1, size + 1] {
        // If the path has the same shape in both trees, only the root differs.
        if inclusion_shape(index, other) != inclusion_shape(index, size) {
            refused(index, other, &leaf, proof, &root);
        }
    }
}

/// The side of each sibling on a path, from the leaf upwards.
fn inclusion_shape(index: u64, size: u64) -> Option<Vec<bool>> {
    let nodes = inclusion_nodes(index, size).ok()?;
    Some(nodes.iter().map(|node| node.parts[0].index << node.parts[0].height > index).collect())
}

fn check_consistency(old: u64, new: u64, leaves: &[Hash], proof: &[Hash]) {
    let (old_root, new_root) = (root(leaves, old), root(leaves, new));
    let found = verify_consistency(old, &old_root, new, &new_root, proof);
    assert_eq!(found, Ok(()), "{old} to {new}");
    let refused = |old: u64, old_root: &Hash, new: u64, new_root: &Hash, proof: &[Hash]| {
        let found = verify_consistency(old, old_root, new, new_root, proof);
        assert!(found.is_err(), "{old} to {new} with {proof:?}");
    };
    for proof in damaged(proof) {
        refused(old, &old_root, new, &new_root, &proof);
    }
    let wrong = leaf_hash(b"wrong");
    refused(old, &wrong, new, &new_root, proof);
    if old > 0 {
        refused(old, &old_root, new, &wrong, proof);
        refused(new + 1, &old_root, new, &new_root, proof);
    }
    if 0 < old && old < new {
        refused(old, &old_root, new, &new_root, &[]);
        refused(old - 1, &old_root, new, &new_root, proof);
        refused(old + 1, &old_root, new, &new_root, proof);
    }
}

#[test]
fn reference_proofs_verify_and_altered_ones_fail() {
    let Some(vectors) = read_json("../shared/data/vectors/merkle_rfc6962.json") else {
        return;
    };
    for vector in items(&vectors["series"]["inclusion"]) {
        let (index, size) = (number(&vector["index"]), number(&vector["size"]));
        let proof = hashes(&vector["proof"]);
        assert_eq!(TILES.inclusion(index, size), proof, "{index} of {size}");
        check_inclusion(index, size, &LEAVES, &proof);
    }
    for vector in items(&vectors["series"]["consistency"]) {
        let (old, new) = (number(&vector["old"]), number(&vector["new"]));
        let proof = hashes(&vector["proof"]);
        assert_eq!(TILES.consistency(old, new), proof, "{old} to {new}");
        check_consistency(old, new, &LEAVES, &proof);
    }
}

#[test]
fn all_proofs_of_small_trees_verify() {
    for new in 0..=40 {
        for index in 0..new {
            check_inclusion(index, new, &LEAVES, &TILES.inclusion(index, new));
        }
        for old in 0..=new {
            check_consistency(old, new, &LEAVES, &TILES.consistency(old, new));
        }
    }
}

#[test]
fn tile_proofs_match_the_definition() {
    for size in (1..=2_000_usize).step_by(97).chain([255, 256, 257, 511, 512, 513, 2_000]) {
        let (leaves, size_u64) = (&LEAVES[..size], size as u64);
        assert_eq!(TILES.prove(&[root_node(size_u64)]), [tree_root(leaves)]);
        for index in (0..size).step_by(261).chain([size / 2, size - 1]) {
            let proof = TILES.inclusion(index as u64, size_u64);
            assert_eq!(proof, path_by_definition(index, leaves), "{index} of {size}");
        }
        for old in (1..=size).step_by(253).chain([size / 2 + 1, size]) {
            let proof = TILES.consistency(old as u64, size_u64);
            let expected = subproof_by_definition(old, leaves, true);
            assert_eq!(proof, expected, "{old} to {size}");
        }
    }
}

#[test]
fn invalid_proof_sizes_are_named() {
    let any = empty_root();
    let expected = ProofError::IndexOutOfRange { index: 3, size: 3 };
    assert_eq!(inclusion_nodes(3, 3), Err(expected));
    assert_eq!(verify_inclusion(3, 3, &any, &[], &any), Err(expected));
    let expected = ProofError::SizesReversed { old: 4, new: 3 };
    assert_eq!(consistency_nodes(4, 3), Err(expected));
    assert_eq!(verify_consistency(4, &any, 3, &any, &[]), Err(expected));
    assert_eq!(root_node(0).parts, []);
}

#[test]
fn wrong_proofs_are_rejected_with_the_reason() {
    let (old, new) = (root(&LEAVES, 3), root(&LEAVES, 5));
    let proof = TILES.consistency(3, 5);
    let longer = [proof.as_slice(), &[new]].concat();
    for (old_root, new_root, proof, expected) in [
        (&old, &new, &[][..], ProofError::TooShort),
        (&old, &new, &proof[..3], ProofError::TooShort),
        (&old, &new, &longer, ProofError::TooLong),
        (&new, &new, &proof, ProofError::OldRootMismatch),
        (&old, &old, &proof, ProofError::NewRootMismatch),
    ] {
        assert_eq!(verify_consistency(3, old_root, 5, new_root, proof), Err(expected));
    }
    assert_eq!(verify_consistency(5, &new, 5, &old, &[]), Err(ProofError::NewRootMismatch));
    assert_eq!(verify_consistency(0, &old, 5, &new, &[]), Err(ProofError::OldRootMismatch));
    assert_eq!(verify_consistency(4, &old, 5, &new, &[]), Err(ProofError::TooShort));
}

#[test]
fn proof_of_the_largest_tree_fits_the_limit() {
    let nodes = inclusion_nodes(0, u64::MAX).unwrap();
    assert_eq!(nodes.len(), PROOF_HASHES_MAX);
    assert_eq!(inclusion_nodes(u64::MAX - 1, u64::MAX).unwrap().len(), 63);
    let proof = vec![empty_root(); PROOF_HASHES_MAX];
    let found = verify_inclusion(0, u64::MAX, &empty_root(), &proof, &empty_root());
    assert_eq!(found, Err(ProofError::RootMismatch));
}

fn sample() -> TlogProof {
    let hashes = leaf_hashes(2);
    let checkpoint = "log.example/a\n3\n…\n\n— log.example/a …\n".to_owned();
    TlogProof { extra: b"salt".to_vec(), index: 2, hashes, checkpoint }
}

#[test]
fn tlog_proof_is_read_back() {
    for proof in [sample(), TlogProof { extra: Vec::new(), ..sample() }, TlogProof { hashes: Vec::new(), ..sample() }] {
        assert_eq!(TlogProof::parse(proof.to_text().as_bytes()), Ok(proof));
    }
    let hashes: String = leaf_hashes(2).iter().map(|hash| hash.to_base64() + "\n").collect();
    let expected = format!("c2sp.org/tlog-proof@v1\nextra c2FsdA==\nindex 2\n{hashes}\n{}", sample().checkpoint);
    assert_eq!(sample().to_text(), expected);
}

#[test]
fn malformed_tlog_proof_is_rejected() {
    let text = sample().to_text();
    let first = leaf_hashes(1)[0].to_base64();
    let many = format!("{first}\n").repeat(PROOF_HASHES_MAX);
    for (old, new, expected) in [
        ("@v1", "@v2", TlogProofError::Header),
        ("extra c2FsdA==", "extra ", TlogProofError::Extra),
        ("extra c2FsdA==", "extra c2FsdA", TlogProofError::Extra),
        ("extra c2FsdA==", "extra c2E=bHQ=", TlogProofError::Extra),
        ("extra", "Extra", TlogProofError::Index),
        ("index 2", "index 02", TlogProofError::Index),
        ("index 2", "index  2", TlogProofError::Index),
        ("index 2", "index 18446744073709551616", TlogProofError::Index),
        ("index 2\n", "", TlogProofError::Index),
        (&first, "AAAA", TlogProofError::Hash),
        (&format!("{first}\n"), &many, TlogProofError::TooManyHashes),
        ("\n\nlog", "\nlog", TlogProofError::Hash),
        (&sample().checkpoint, "", TlogProofError::Checkpoint),
        (&format!("\n{}", sample().checkpoint), "", TlogProofError::Checkpoint),
    ] {
        assert!(text.contains(old), "{old}");
        let changed = text.replace(old, new);
        assert_eq!(TlogProof::parse(changed.as_bytes()), Err(expected), "{changed}");
    }
    assert_eq!(TlogProof::parse(b"\xff"), Err(TlogProofError::NotUtf8));
}

proptest! {
    #[test]
    fn proofs_match_ct_merkle(size in 1..600_u64, at: u64, from: u64) {
        let mut other = MemoryBackedTree::<Sha256, String>::new();
        (0..size).for_each(|i| other.push(format!("entry-{i}")));
        let (index, old) = (at % size, from % size + 1);

        let proof = TILES.inclusion(index, size);
        let theirs = other.prove_inclusion(usize::try_from(index).unwrap());
        let ours: Vec<u8> = proof.iter().flat_map(Hash::as_bytes).copied().collect();
        prop_assert_eq!(theirs.as_bytes(), ours);

        let proof = TILES.consistency(old, size);
        let theirs = other.prove_consistency(usize::try_from(size - old).unwrap());
        let ours: Vec<u8> = proof.iter().flat_map(Hash::as_bytes).copied().collect();
        prop_assert_eq!(theirs.as_bytes(), ours);
    }

    #[test]
    fn proofs_between_random_sizes_verify(sizes in prop::array::uniform2(0..2_000_u64), at: u64) {
        let (old, new) = (sizes[0].min(sizes[1]), sizes[0].max(sizes[1]));
        check_consistency(old, new, &LEAVES, &TILES.consistency(old, new));
        if new > 0 {
            check_inclusion(at % new, new, &LEAVES, &TILES.inclusion(at % new, new));
        }
    }

    #[test]
    fn arbitrary_proof_numbers_do_not_panic(a: u64, b: u64, proof in prop::collection::vec(any::<[u8; 32]>(), 0..70)) {
        let proof: Vec<Hash> = proof.into_iter().map(Hash::from_bytes).collect();
        let any = empty_root();
        prop_assert!(verify_inclusion(a, b, &any, &proof, &any).is_err());
        let _ = (inclusion_nodes(a, b), consistency_nodes(a, b), root_node(a));
        let _ = verify_consistency(a, &any, b, &any, &proof);
    }

    #[test]
    fn parsing_arbitrary_proof_bytes_does_not_panic(
        bytes in any::<Vec<u8>>(),
        lines in "(c2sp.org/tlog-proof@v1\n)?(extra [a-zA-Z=]{0,8}\n)?(index [0-9]{0,3}\n)?\n?.{0,8}\n?",
    ) {
        for bytes in [bytes, lines.into_bytes()] {
            if let Ok(proof) = TlogProof::parse(&bytes) {
                prop_assert_eq!(proof.to_text().into_bytes(), bytes);
            }
        }
    }
}
