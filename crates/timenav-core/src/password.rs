//! Rules for passwords. Hashing and verification are behind an interface of the engine.

use std::fmt;

use zeroize::Zeroizing;

use crate::ids::UserId;
use crate::limits::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};

/// The most common passwords of at least [`PASSWORD_CHARS_MIN`] characters, in lower case: 6 000 entries of zxcvbn 4's
/// list of leaked passwords (MIT, Dan Wheeler and Dropbox), selected by frequency and then sorted.
const COMMON: &str = include_str!("../data/common-passwords.txt");

/// A user name with up to this many letters and digits added is not accepted: `alice`, `alice2026`, `xalicex`.
const OWN_NAME_DECORATION_CHARS_MAX: usize = 4;
/// Shorter user names are not searched for in passwords.
const OWN_NAME_CHARS_MIN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a password must have 1 to {PASSWORD_BYTES_MAX} bytes")]
pub struct PasswordLength;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("a password must have at least {PASSWORD_CHARS_MIN} characters")]
    Short,
    /// It contains control characters, which are invisible and hard to type.
    #[error("a password cannot contain control characters such as tabs and line ends")]
    Control,
    #[error("a password must be more than spaces or one repeated character")]
    Uniform,
    /// It is the user name, possibly repeated, or with a few characters added.
    #[error("a password must be more than the user name, repeated or with a few characters added")]
    OwnName,
    #[error(
        "this password is one of the most common ones, which attackers try first; choose another, such as a sentence"
    )]
    Common,
}

/// A password as its user writes it. Its `Debug` output is redacted, and its memory is wiped on drop.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Accepts the text of a password.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn new(text: Zeroizing<String>) -> Result<Self, PasswordLength> {
        if (1..=PASSWORD_BYTES_MAX).contains(&text.len()) { Ok(Self(text)) } else { Err(PasswordLength) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks a new password: it is long enough, has no control characters, is more than one repeated character, more
    /// than the user name, and not one of the most common passwords (ASVS 5.0, 6.2.4; NIST SP 800-63B-4, 3.1.1.2). Case
    /// and surrounding spaces are ignored for all but the first two checks. No character class is required (6.2.5).
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self, user_id: &UserId) -> Result<(), WeakPassword> {
        if self.0.chars().count() < PASSWORD_CHARS_MIN {
            return Err(WeakPassword::Short);
        }
        if self.0.chars().any(char::is_control) {
            return Err(WeakPassword::Control);
        }
        let folded = Zeroizing::new(self.0.trim().to_lowercase());
        let mut visible = folded.chars().filter(|character| !character.is_whitespace());
        let first = visible.next();
        if first.is_none_or(|first| visible.all(|character| character == first)) {
            return Err(WeakPassword::Uniform);
        }
        if is_name(&folded, &user_id.as_str().to_lowercase()) {
            return Err(WeakPassword::OwnName);
        }
        if COMMON.lines().any(|common| common == *folded) { Err(WeakPassword::Common) } else { Ok(()) }
    }
}

/// Returns whether a text consists of a name, forward or backward, possibly repeated, with separators and up to
/// [`OWN_NAME_DECORATION_CHARS_MAX`] other letters and digits.
fn is_name(text: &str, name: &str) -> bool {
    let backwards = Zeroizing::new(name.chars().rev().collect::<String>());
    let without = Zeroizing::new(text.replace(name, "").replace(&*backwards, ""));
    // A name of one or two letters occurs in many texts by chance.
    let is_there = without.len() < text.len() && name.chars().count() >= OWN_NAME_CHARS_MIN;
    let is_word = |character: &char| character.is_alphanumeric();
    is_there && without.chars().filter(is_word).count() <= OWN_NAME_DECORATION_CHARS_MAX
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    #[test]
    fn password_length_is_limited() {
        for (bytes, expected) in [(0, Err(PasswordLength)), (1, Ok(())), (1_024, Ok(())), (1_025, Err(PasswordLength))]
        {
            assert_eq!(Password::new(Zeroizing::new("x".repeat(bytes))).map(|_| ()), expected, "{bytes}");
        }
    }

    #[test]
    fn short_or_guessable_new_password_is_rejected() {
        let user = UserId::new("ada.lovelace").unwrap();
        let check = |text: &str, expected| assert_eq!(password(text).check(&user), expected, "{text:?}");
        check("seven77", Err(WeakPassword::Short));
        check("eight888", Ok(()));
        check("éééééé7", Err(WeakPassword::Short));
        check("ééééééé8", Ok(()));
        for control in ["\0\0\0\0\0\0\0\0", "open\tsesame", "open sesame\n", "open\u{7f}sesame", "open\u{85}sesame"] {
            check(control, Err(WeakPassword::Control));
        }
        let texts = "        |\u{a0}\u{a0}\u{a0}\u{a0}\u{2003}\u{2003}\u{2003}\u{2003}|11111111|aAaAaAaA|        a|\
                     z z z z z";
        for uniform in texts.split('|') {
            check(uniform, Err(WeakPassword::Uniform));
        }
        for common in
            ["password", "12345678", "Password1", "QWERTYUIOP", "iloveyou", "trustno1", " password  ", "PASSWORD1 "]
        {
            check(common, Err(WeakPassword::Common));
        }
        check("correct horse battery staple", Ok(()));
        check("correct  horse", Ok(()));
        check("пароль длинный", Ok(()));
        check(&"xy".repeat(32), Ok(()));
        check(&"xy".repeat(512), Ok(()));
    }

    #[test]
    fn new_password_based_on_the_user_name_is_rejected() {
        let check = |user: &str, text: &str, expected| {
            assert_eq!(password(text).check(&UserId::new(user).unwrap()), expected, "{user} {text:?}");
        };
        let texts = "alicealice|AliceAlice|alice alice|alice-alice-alice|alice123|alice2026|!!!alice!!!|xXalicexX|\
                     ecilaalice|ecila2026|  alice!  ";
        for text in texts.split('|') {
            check("alice", text, Err(WeakPassword::OwnName));
        }
        for text in ["ada.lovelace", "Ada.Lovelace", "ada.lovelace!", "ada.lovelace2026", "ada.lovelaceada.lovelace"] {
            check("ada.lovelace", text, Err(WeakPassword::OwnName));
        }
        for text in ["malice in chains", "alice in wonderland", "alice20261", "12345alice"] {
            check("alice", text, Ok(()));
        }
        check("bo", "bobobobo", Ok(()));
        check("a", "banana split", Ok(()));
    }

    #[test]
    fn common_password_list_is_long_and_has_no_short_entries() {
        assert!(COMMON.lines().count() >= 3_000);
        for line in COMMON.lines() {
            assert!(line.chars().count() >= PASSWORD_CHARS_MIN && line == line.to_ascii_lowercase(), "{line}");
        }
    }

    #[test]
    fn debug_output_hides_the_password() {
        assert_eq!(format!("{:?}", password("hunter22")), "Password(..)");
    }
}
