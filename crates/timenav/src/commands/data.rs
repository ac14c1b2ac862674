use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::arguments::insert;
use super::events::file_text;
use crate::client::{Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::wiring::surroundings::Surroundings;
use crate::{output, prompt};

/// Seals data with your key, opens it, and erases it.
///
/// The key is 32 random bytes, as 64 hexadecimal digits or in base64, or a passphrase. The service does not store it.
#[derive(Debug, clap::Args)]
pub(crate) struct DataCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Seals a JSON object and prints the id of the record.
    Encrypt {
        /// The file with the JSON object; `-` is standard input.
        file: PathBuf,
        #[command(flatten)]
        key: KeyOption,
        #[command(flatten)]
        create: CreateOption,
    },
    /// Opens a sealed record and prints its contents.
    Decrypt {
        /// The record id, from `encrypt`.
        data_id: String,
        #[command(flatten)]
        key: KeyOption,
    },
    /// Erases a sealed record, or the contents of an event. This cannot be undone.
    #[command(group(clap::ArgGroup::new("what").args(["data_id", "event"]).required(true)))]
    Erase {
        /// The record id.
        data_id: Option<String>,
        /// Erase the contents of this event, in all its versions, instead of a record.
        #[arg(long, value_name = "EVENT_ID")]
        event: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct KeyOption {
    /// A file with the key in its first line. Defaults to a prompt.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

pub(crate) fn run(command: DataCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Encrypt { file, key, create } => {
            let data = object_of(&file)?;
            let key = key.read(true)?;
            let mut body = command.timeline.required_body();
            body.insert("data".to_owned(), data.into());
            let body = with_key(body, &key);
            let answer = client.write(&["v1", "encrypt-data"], &[], &body, create)?;
            client.show(&answer, sealed_text)
        }
        Action::Decrypt { data_id, key } => {
            let key = key.read(false)?;
            let mut body = command.timeline.body();
            insert(&mut body, "data_id", Some(data_id));
            let answer = client.post_text(&["v1", "decrypt-data"], &[], &with_key(body, &key))?;
            client.show(&answer, |answer| output::pretty(&answer["data"].to_string()))
        }
        Action::Erase { data_id, event } => {
            let mut body = command.timeline.body();
            insert(&mut body, "data_id", data_id);
            insert(&mut body, "event_id", event);
            client.show(&client.post(&["v1", "erase-data"], body)?, output::status)
        }
    }
}

impl KeyOption {
    /// Reads the key from the file or a prompt. A new key is prompted for twice.
    fn read(&self, is_new: bool) -> anyhow::Result<Zeroizing<String>> {
        let Some(path) = &self.key_file else { return prompt::encryption_key(is_new) };
        let text = std::fs::read_to_string(path).map(Zeroizing::new);
        let text = text.with_context(|| format!("the key file {} cannot be read", path.display()))?;
        match text.lines().next().map(str::trim_end).filter(|line| !line.is_empty()) {
            Some(line) => Ok(Zeroizing::new(line.to_owned())),
            None => bail!("the first line of {} is empty; it should be the key", path.display()),
        }
    }
}

/// Returns a request body with the key. It is zeroed on drop.
fn with_key(mut body: Map<String, Value>, key: &str) -> Zeroizing<String> {
    body.insert("encryption_key".to_owned(), json!(key));
    Zeroizing::new(Value::Object(body).to_string())
}

fn object_of(path: &Path) -> anyhow::Result<Map<String, Value>> {
    let text = Zeroizing::new(file_text(path)?);
    serde_json::from_str(&text).with_context(|| format!("{}: expected a JSON object", path.display()))
}

fn sealed_text(answer: &Value) -> String {
    let layout = [("data", "data_id"), ("timeline", "timeline_id"), ("encryption", "encryption")];
    output::status(answer) + &output::fields(answer, &layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_key_is_the_first_line_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let option = KeyOption { key_file: Some(path.clone()) };
        for (text, expected) in [
            ("open sesame\nmore\n", Some("open sesame")),
            ("two words \r\n", Some("two words")),
            ("\nx", None),
            ("", None),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(option.read(true).ok().as_ref().map(|key| key.as_str()), expected, "{text:?}");
        }
    }
}
