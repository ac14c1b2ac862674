use std::fmt;
use std::str::FromStr;

use reqwest::Url;
use timenav_core::ledger::WitnessKey;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WitnessUrl {
    pub(crate) key: WitnessKey,
    /// The prefix of `/add-checkpoint`.
    pub(crate) url: Url,
}

impl FromStr for WitnessUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write it as <name>+<id>+<base64>=<URL>, with the key that `timenav witness` printed";
        // The base64 of a key is unpadded, so the first equals sign ends the key.
        let (key, url) = text.split_once('=').ok_or(FORM)?;
        let key = WitnessKey::parse(key).map_err(|error| format!("{error}; {FORM}"))?;
        let url = Url::parse(url).map_err(|error| format!("the URL of `{}`: {error}; {FORM}", key.name()))?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_web || url.query().is_some() || url.fragment().is_some() {
            return Err(format!("the URL of `{}` must be one of http or https, without a query", key.name()));
        }
        Ok(Self { key, url })
    }
}

impl WitnessUrl {
    pub(crate) fn below(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

impl fmt::Debug for WitnessUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
        f.debug_struct("WitnessUrl").field("name", &self.key.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";

    #[test]
    fn witness_is_parsed_as_key_and_address() {
        let read = |text: &str| text.parse::<WitnessUrl>();
        let witness = read(&format!("{KEY}=https://user:secret@w.example/one/")).unwrap();
        assert_eq!(witness.key.to_string(), KEY);
        assert_eq!(witness.below(&["add-checkpoint"]).path(), "/one/add-checkpoint");
        assert!(!format!("{witness:?}").contains("secret"));
        assert_eq!(
            read(&format!("{KEY}=http://127.0.0.1:1")).unwrap().below(&["x", "y"]).as_str(),
            "http://127.0.0.1:1/x/y"
        );
        for (wrong, expected) in [
            (KEY.to_owned(), "write it as"),
            (format!("{KEY}="), "the URL of `witness.example/w1`"),
            (format!("{KEY}=w.example"), "the URL of `witness.example/w1`"),
            (format!("{KEY}=ftp://w.example"), "must be one of http or https"),
            (format!("{KEY}=http://w.example/?x=1"), "without a query"),
            (format!("{}=http://w.example", KEY.replace("aa4a", "aa4b")), "has the id"),
            ("=http://w.example".to_owned(), "the key must be written as"),
        ] {
            let error = read(&wrong).unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }
}
