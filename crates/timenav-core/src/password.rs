//! Passwords: what one may be. What is kept of one, and how it is compared, is behind a door of the engine.

use std::fmt;

use zeroize::Zeroizing;

use crate::ids::UserId;
use crate::limits::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};

/// The most common passwords of at least [`PASSWORD_CHARS_MIN`] characters, in small letters: 6 000 of the list that
/// zxcvbn 4 (MIT, Dan Wheeler and Dropbox) made of leaked ones, taken by how common they are and put in order.
const COMMON: &str = include_str!("../data/common-passwords.txt");

/// Why a text is no password at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a password has 1 to {PASSWORD_BYTES_MAX} bytes")]
pub struct PasswordLength;

/// Why a password is not taken as a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// It has too few characters.
    #[error("a password has at least {PASSWORD_CHARS_MIN} characters")]
    Short,
    /// It is the user's own name.
    #[error("a password is not the user's own name")]
    OwnName,
    /// It is among those that are tried first.
    #[error("this password is among the most common ones, which are tried first; take another, such as a sentence")]
    Common,
}

/// A password as its user writes it. It is never shown, and wiped when it is dropped.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes the text of a password.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn new(text: Zeroizing<String>) -> Result<Self, PasswordLength> {
        if (1..=PASSWORD_BYTES_MAX).contains(&text.len()) { Ok(Self(text)) } else { Err(PasswordLength) }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether it may be a user's new one: it is long enough, not the user's own name, and none of the most
    /// common ones, in large letters or small (ASVS 5.0, 6.2.4). Nothing is asked of its characters (6.2.5).
    ///
    /// # Errors
    /// The first reason against it.
    pub fn check(&self, user_id: &UserId) -> Result<(), WeakPassword> {
        if self.0.chars().count() < PASSWORD_CHARS_MIN {
            return Err(WeakPassword::Short);
        }
        if self.0.trim().eq_ignore_ascii_case(user_id.as_str()) {
            return Err(WeakPassword::OwnName);
        }
        let small = Zeroizing::new(self.0.to_ascii_lowercase());
        if COMMON.lines().any(|common| common == *small) { Err(WeakPassword::Common) } else { Ok(()) }
    }
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
    fn a_password_has_a_length() {
        for (bytes, expected) in [(0, Err(PasswordLength)), (1, Ok(())), (1_024, Ok(())), (1_025, Err(PasswordLength))]
        {
            assert_eq!(Password::new(Zeroizing::new("x".repeat(bytes))).map(|_| ()), expected, "{bytes}");
        }
    }

    #[test]
    fn a_new_password_is_long_enough_and_not_the_users_name() {
        let user = UserId::new("ada.lovelace").unwrap();
        let check = |text: &str, expected| assert_eq!(password(text).check(&user), expected, "{text}");
        check("seven77", Err(WeakPassword::Short));
        check("eight888", Ok(()));
        // Characters count, not bytes.
        check("éééééé7", Err(WeakPassword::Short));
        check("ééééééé8", Ok(()));
        check("Ada.Lovelace", Err(WeakPassword::OwnName));
        check("ada.lovelace!", Ok(()));
        for common in ["password", "12345678", "Password1", "QWERTYUIOP", "iloveyou", "trustno1", "11111111"] {
            check(common, Err(WeakPassword::Common));
        }
        check("correct horse battery staple", Ok(()));
        check("        ", Ok(()));
        check(&"x".repeat(64), Ok(()));
        check(&"x".repeat(1_024), Ok(()));
    }

    #[test]
    fn the_list_is_long_enough_and_has_nothing_that_is_refused_anyway() {
        assert!(COMMON.lines().count() >= 3_000);
        for line in COMMON.lines() {
            assert!(line.chars().count() >= PASSWORD_CHARS_MIN && line == line.to_ascii_lowercase(), "{line}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(format!("{:?}", password("hunter22")), "Password(..)");
    }
}
