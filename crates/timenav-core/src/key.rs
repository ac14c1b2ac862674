//! The text of an API key: `tnk_`, 30 random characters, 6 check characters.
//!
//! The check characters are CRC-32 of the random ones in base62, as in GitHub's tokens. They tell
//! a typo from a revoked key before anything is looked up, and let scanners find leaked keys with
//! few false alarms. They are no security.

/// Starts every API key.
pub const KEY_PREFIX: &str = "tnk_";
/// Random characters in a key: 62^30 is more than 178 bits.
pub const KEY_RANDOM_CHARS: usize = 30;
/// Check characters in a key.
pub const KEY_CHECK_CHARS: usize = 6;
/// Length of a key, in bytes.
pub const KEY_BYTES: usize = KEY_PREFIX.len() + KEY_RANDOM_CHARS + KEY_CHECK_CHARS;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the key made of those random bytes, or `None` if too few of them were usable.
///
/// Bytes of 248 and above are passed over, so that every character is equally likely; about one
/// byte in 32 is lost.
#[must_use]
pub fn key_text(random: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(KEY_BYTES);
    text.push_str(KEY_PREFIX);
    let usable = random.iter().filter(|byte| **byte < 248);
    text.extend(usable.take(KEY_RANDOM_CHARS).map(|byte| char::from(BASE62[usize::from(byte % 62)])));
    if text.len() < KEY_PREFIX.len() + KEY_RANDOM_CHARS {
        return None;
    }
    let check = check_chars(&text[KEY_PREFIX.len()..]);
    text.push_str(&check);
    Some(text)
}

/// Returns whether the text has the form of a key, check characters included.
#[must_use]
pub fn is_well_formed_key(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(KEY_PREFIX) else { return false };
    rest.len() == KEY_RANDOM_CHARS + KEY_CHECK_CHARS
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && check_chars(&rest[..KEY_RANDOM_CHARS]) == rest[KEY_RANDOM_CHARS..]
}

fn check_chars(random: &str) -> String {
    let mut rest = crc32fast::hash(random.as_bytes()) as usize;
    let mut digits = [b'0'; KEY_CHECK_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_characters_match_the_published_sample() {
        // Source: GitHub's blog, "Behind GitHub's new authentication token formats".
        assert_eq!(check_chars("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), "0mLq17");
    }

    #[test]
    fn a_made_key_is_well_formed_and_a_typo_is_not() {
        let random: Vec<u8> = (0..64).map(|i: u8| i.wrapping_mul(37)).collect();
        let key = key_text(&random).unwrap();
        assert_eq!(key.len(), KEY_BYTES);
        assert!(is_well_formed_key(&key));
        for at in KEY_PREFIX.len()..KEY_BYTES {
            let mut typo = key.clone().into_bytes();
            typo[at] = if typo[at] == b'a' { b'b' } else { b'a' };
            assert!(!is_well_formed_key(std::str::from_utf8(&typo).unwrap()), "{at}");
        }
        for bad in ["", "tnk_", "tnk", &key[1..], &key[..KEY_BYTES - 1], "tnk_é"] {
            assert!(!is_well_formed_key(bad), "{bad}");
        }
    }

    #[test]
    fn too_little_randomness_makes_no_key() {
        assert_eq!(key_text(&[255; 64]), None);
        assert_eq!(key_text(&[1; 29]), None);
        assert!(key_text(&[1; 30]).is_some());
    }
}
