use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, bail};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The URL of a PostgreSQL database. It may contain a password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreUrl(String);

impl StoreUrl {
    /// Returns the complete URL with its password.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    /// Writes only host and database: all other parts may contain passwords.
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

/// Returns the URL that is given directly or in a file. Errors show nothing of the file.
pub(crate) fn named(url: Option<&StoreUrl>, file: Option<&Path>) -> anyhow::Result<Option<StoreUrl>> {
    let Some(file) = file else { return Ok(url.cloned()) };
    if url.is_some() {
        bail!("the address of the database is given twice: leave out --store (TIMENAV_STORE) or --store-file");
    }
    let named = || format!("the file {} with the address of the database", file.display());
    let text = std::fs::read_to_string(file).with_context(named)?;
    text.trim().parse().map(Some).map_err(anyhow::Error::msg).with_context(named)
}

/// Returns the part with user name, password and host.
fn authority(text: &str) -> &str {
    let place = text.split_once("://").map_or(text, |(_, place)| place);
    place.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_address_is_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store");
        let url: StoreUrl = "postgres://ada:secret@db/time".parse().unwrap();
        std::fs::write(&file, "postgres://ada:secret@db/time\n").unwrap();
        assert_eq!(named(None, Some(&file)).unwrap(), Some(url.clone()));
        assert_eq!(named(Some(&url), None).unwrap(), Some(url.clone()));
        assert_eq!(named(None, None).unwrap(), None);
        assert!(named(Some(&url), Some(&file)).unwrap_err().to_string().contains("given twice"));
        std::fs::write(&file, "postgress://ada:secret@db/time").unwrap();
        let error = format!("{:#}", named(None, Some(&file)).unwrap_err());
        assert!(error.contains("write it like postgres://") && !error.contains("secret"), "{error}");
        let error = format!("{:#}", named(None, Some(&folder.path().join("none"))).unwrap_err());
        assert!(error.contains("none with the address of the database: No such file"), "{error}");
    }

    #[test]
    fn store_address_is_shown_without_its_password() {
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
