//! The format of API keys: `tnk_`, 30 random characters, 6 check characters; and of session secrets: `tnc_`, 43 and 6.
//!
//! The check characters are the CRC-32 of the random ones in base62, as in GitHub's tokens. They distinguish a typo
//! from a revoked key before any lookup, and let scanners find leaked keys with few false alarms. They provide no
//! security.

pub const KEY_PREFIX: &str = "tnk_";
/// Random characters in a key: 62^30 is more than 178 bits.
pub const KEY_RANDOM_CHARS: usize = 30;
pub const KEY_CHECK_CHARS: usize = 6;
pub const KEY_BYTES: usize = KEY_PREFIX.len() + KEY_RANDOM_CHARS + KEY_CHECK_CHARS;

pub const SESSION_PREFIX: &str = "tnc_";
/// Random characters in the secret of a session: 62^43 is more than 256 bits.
pub const SESSION_RANDOM_CHARS: usize = 43;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Generates a key from random bytes; `None` if too few of them are usable. Bytes of 248 and above are skipped, so that
/// all characters are equally likely. This loses about one byte in 32.
#[must_use]
pub fn key_text(random: &[u8]) -> Option<String> {
    secret_text(KEY_PREFIX, KEY_RANDOM_CHARS, random)
}

/// Returns whether the text has the form of a key, including correct check characters.
#[must_use]
pub fn is_well_formed_key(text: &str) -> bool {
    is_well_formed(KEY_PREFIX, KEY_RANDOM_CHARS, text)
}

/// Generates a session secret from random bytes, in the same way as [`key_text`].
#[must_use]
pub fn session_text(random: &[u8]) -> Option<String> {
    secret_text(SESSION_PREFIX, SESSION_RANDOM_CHARS, random)
}

/// Returns whether the text has the form of a session secret, including correct check characters.
#[must_use]
pub fn is_well_formed_session(text: &str) -> bool {
    is_well_formed(SESSION_PREFIX, SESSION_RANDOM_CHARS, text)
}

fn secret_text(prefix: &str, random_chars: usize, random: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(prefix.len() + random_chars + KEY_CHECK_CHARS);
    text.push_str(prefix);
    let usable = random.iter().filter(|byte| **byte < 248);
    text.extend(usable.take(random_chars).map(|byte| char::from(BASE62[usize::from(byte % 62)])));
    if text.len() < prefix.len() + random_chars {
        return None;
    }
    let check = check_chars(&text[prefix.len()..]);
    text.push_str(&check);
    Some(text)
}

fn is_well_formed(prefix: &str, random_chars: usize, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(prefix) else { return false };
    rest.len() == random_chars + KEY_CHECK_CHARS
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && check_chars(&rest[..random_chars]) == rest[random_chars..]
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
    fn generated_key_is_well_formed_and_typos_are_detected() {
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
    fn session_and_key_texts_are_distinguished() {
        let random: Vec<u8> = (0..96).map(|i: u8| i.wrapping_mul(41)).collect();
        let (key, session) = (key_text(&random).unwrap(), session_text(&random).unwrap());
        assert_eq!(session.len(), SESSION_PREFIX.len() + SESSION_RANDOM_CHARS + KEY_CHECK_CHARS);
        assert!(is_well_formed_session(&session) && !is_well_formed_key(&session));
        assert!(is_well_formed_key(&key) && !is_well_formed_session(&key));
        assert!(!is_well_formed_session(&session.replace("tnc_", "tnk_")));
        assert_eq!(session_text(&random[..42]), None);
    }

    #[test]
    fn key_text_requires_enough_randomness() {
        assert_eq!(key_text(&[255; 64]), None);
        assert_eq!(key_text(&[1; 29]), None);
        assert!(key_text(&[1; 30]).is_some());
    }
}
