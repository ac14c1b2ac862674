use std::path::PathBuf;
use std::str::FromStr;

use reqwest::Url;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointSource {
    File(PathBuf),
    Url(Box<Url>),
}

impl FromStr for CheckpointSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty: name a file, or a URL".to_owned());
        }
        match text.split_once("://") {
            Some(("http" | "https", _)) => {}
            Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !scheme.is_empty() => {
                return Err(format!("`{scheme}://` is not supported: name a file, or a URL with http:// or https://"));
            }
            Some(_) | None => return Ok(Self::File(text.into())),
        }
        let url = Url::parse(text).map_err(|error| format!("it is not a URL: {error}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it must not contain a password: checkpoints are signed, and not secret".to_owned());
        }
        Ok(Self::Url(Box::new(url)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoint_source_is_an_address_or_a_file() {
        let check = |text: &str, is_url: bool| {
            assert_eq!(matches!(text.parse(), Ok(CheckpointSource::Url(_))), is_url, "{text}");
        };
        check("https://kept.example/checkpoints.log", true);
        check("http://127.0.0.1:1/x?newest", true);
        check("/mnt/kept/checkpoints.log", false);
        check("http", false);
        check("./a://b", false);
        for wrong in [
            "",
            "ftp://kept.example/checkpoints.log",
            "https://",
            "http://user:secret@kept.example/",
            "https://user@kept.example/",
        ] {
            assert!(wrong.parse::<CheckpointSource>().is_err(), "{wrong}");
        }
    }
}
