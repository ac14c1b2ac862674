//! Which PostgreSQL database everything is kept in.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// What an address begins with, one or the other.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The address of a PostgreSQL database. It may hold a password, which is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct StoreUrl(String);

impl StoreUrl {
    /// Returns the whole address, with its password.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    /// Writes host and database: passwords can be in everything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = SCHEMES.iter().find_map(|scheme| self.0.strip_prefix(scheme)).unwrap_or_default();
        let place = place.split(['?', '#']).next().unwrap_or_default();
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        write!(f, "postgres://{place}")
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return Err("write it like postgres://user:password@host/database?sslmode=verify-full".to_owned());
        }
        if authority(text).matches('@').count() > 1 {
            return Err(
                "there are several `@` before the database: write those in user name and password as `%40`".to_owned()
            );
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for StoreUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Returns the part that holds user name, password and host.
fn authority(text: &str) -> &str {
    let place = text.split_once("://").map_or(text, |(_, place)| place);
    place.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let check = |text: &str, expected: Option<&str>| {
            let url: Option<StoreUrl> = text.parse().ok();
            assert_eq!(url.as_ref().map(ToString::to_string).as_deref(), expected, "{text}");
            assert_eq!(url.as_ref().map(|url| format!("{url:?}")).as_deref(), expected, "{text}");
        };
        check("postgres://ada:secret@db.example.org:5433/time", Some("postgres://db.example.org:5433/time"));
        check("postgresql://ada:se%40cret@db/time?sslmode=require", Some("postgres://db/time"));
        check("postgresql://ada:se@cret@db/time?sslmode=require", None);
        check("postgres:///time?host=/run/pg&password=secret", Some("postgres:///time"));
        check("mysql://db/time", None);
        check("timenav.db", None);
        check("", None);
    }
}
