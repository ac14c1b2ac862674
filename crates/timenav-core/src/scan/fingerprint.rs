//! Fingerprints of multisets, in constant memory.
//!
//! Each fact is hashed to 128 bits with a key, and the fingerprint is their sum. It does not depend on the order of
//! facts, and distinguishes a repeated fact from a single one. This is MSet-Add-Hash (Clarke, Devadas, van Dijk,
//! Gassend, Suh: Incremental Multiset Hash Functions and Their Application to Memory Integrity Checking, ASIACRYPT
//! 2003) with `SipHash-2-4` of 128 bits (Aumasson, Bernstein: `SipHash`: a fast short-input PRF, INDOCRYPT 2012).

use std::fmt;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The key of fact hashes. It must be drawn at random after the compared data was written, used for a single
/// comparison, and kept secret: with it, other facts with the same sum can be constructed.
#[derive(Clone, Copy)]
pub struct FactKey([u8; Self::BYTES]);

/// The fingerprint of a multiset of facts. Fingerprints of equal multisets are equal; those of different ones are equal
/// with a probability of about 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    sum: u128,
    count: u64,
}

impl FactKey {
    pub const BYTES: usize = 16;

    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// All facts of one kind must have the same number of numbers and texts.
    #[must_use]
    pub fn fact<const NUMBERS: usize>(&self, kind: u8, numbers: [i64; NUMBERS], texts: &[&[u8]]) -> Fingerprint {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u8(kind);
        for number in numbers {
            hasher.write(&number.to_le_bytes());
        }
        for text in texts {
            hasher.write(&(text.len() as u64).to_le_bytes());
            hasher.write(text);
        }
        Fingerprint { sum: hasher.finish128().as_u128(), count: 1 }
    }
}

impl fmt::Debug for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FactKey(..)")
    }
}

impl Fingerprint {
    /// Adds facts, with their multiplicity.
    pub const fn add(&mut self, facts: Self) {
        self.sum = self.sum.wrapping_add(facts.sum);
        self.count += facts.count;
    }

    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: FactKey = FactKey::from_bytes([7; FactKey::BYTES]);

    fn of(facts: &[(i64, &str, &str)]) -> Fingerprint {
        of_under(&KEY, facts)
    }

    fn of_under(key: &FactKey, facts: &[(i64, &str, &str)]) -> Fingerprint {
        let mut all = Fingerprint::default();
        for (position, id, content) in facts {
            all.add(key.fact(1, [*position], &[id.as_bytes(), content.as_bytes()]));
        }
        all
    }

    #[test]
    fn fingerprint_ignores_order_but_no_other_difference() {
        let facts = [(1, "a", "x"), (2, "b", "y"), (3, "c", "z")];
        let whole = of(&facts);
        assert_eq!(whole.count(), 3);
        assert_eq!(of(&[facts[2], facts[0], facts[1]]), whole);
        let mut parts = of(&facts[..1]);
        parts.add(of(&facts[1..]));
        assert_eq!(parts, whole);
        for other in [
            // Swapped contents, then ids, then positions.
            &[(1, "a", "y"), (2, "b", "x"), (3, "c", "z")][..],
            &[(1, "b", "x"), (2, "a", "y"), (3, "c", "z")],
            &[(2, "a", "x"), (1, "b", "y"), (3, "c", "z")],
            // The sum of the numbers is unchanged.
            &[(2, "a", "x"), (2, "b", "y"), (2, "c", "z")],
            &[(1, "b", "x"), (2, "b", "y"), (3, "b", "z")],
            // A duplicate, and a duplicate in place of another fact.
            &[(1, "a", "x"), (2, "b", "y"), (3, "c", "z"), (3, "c", "z")],
            &[(1, "a", "x"), (2, "b", "y"), (2, "b", "y")],
            &[(1, "a", "x"), (2, "b", "y")],
            // A letter moved to the other text.
            &[(1, "ax", ""), (2, "b", "y"), (3, "c", "z")],
            &[(1, "", "ax"), (2, "b", "y"), (3, "c", "z")],
        ] {
            assert_ne!(of(other), whole, "{other:?}");
        }
    }

    /// If bits were added without carry, duplicates would cancel out.
    #[test]
    fn duplicate_facts_do_not_cancel_out() {
        let twice = of(&[(1, "a", "x"), (1, "a", "x")]);
        assert_ne!(twice.sum, 0);
        assert_ne!(twice, of(&[(1, "b", "x"), (1, "b", "x")]));
    }

    #[test]
    fn fact_kinds_and_keys_change_the_fingerprint() {
        let (one, other) = (KEY.fact(1, [5], &[b"a"]), KEY.fact(2, [5], &[b"a"]));
        assert_ne!(one, other);
        let facts = [(1, "a", "x"), (2, "b", "y")];
        assert_ne!(of_under(&FactKey::from_bytes([8; 16]), &facts), of(&facts));
        assert_eq!(format!("{KEY:?}"), "FactKey(..)");
    }

    /// The test vector of the authors of `SipHash` for 128 bits, with the bytes 00, 01, 02, ...
    #[test]
    fn fingerprint_matches_the_siphash_vector() {
        let key: Vec<u8> = (0..16).collect();
        let mut hasher = SipHasher24::new_with_key(key.as_slice().try_into().unwrap());
        hasher.write(&[0]);
        let expected = "da87c1d86b99af44347659119b22fc45";
        assert_eq!(data_encoding::HEXLOWER.encode(&hasher.finish128().as_bytes()), expected);
    }
}
