use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args as _, Command};

use super::ServeOptions;
use super::unknown_key::unknown_key;
use crate::telemetry::redaction::may_hold_password;

/// Options that the file cannot set: its own path, short forms, and options for a single start.
pub(super) const FLAGS_ALONE: [&str; 6] =
    ["config", "no_timelines_by_first_write", "no_encryption", "accept_rollback", "join", "trusted_checkpoint"];

impl ServeOptions {
    /// Returns the keys of the file: all flags except those that are only flags.
    pub(crate) fn keys() -> Vec<String> {
        let command = Self::augment_args(Command::new("serve"));
        let ids = command.get_arguments().map(|argument| argument.get_id().as_str());
        ids.filter(|id| !FLAGS_ALONE.contains(id)).map(str::to_owned).collect()
    }

    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let named = || format!("the configuration file {}", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        Self::parse(&text).with_context(named)
    }

    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let table: toml::Table = toml::from_str(text).map_err(|error| without_password(&error, text))?;
        let keys = Self::keys();
        if let Some(key) = table.keys().find(|key| !keys.contains(key)) {
            bail!("{}", unknown_key(key, &keys));
        }
        toml::from_str(text).map_err(|error| without_password(&error, text))
    }
}

/// Returns a file error, without the offending line if that may contain a password.
fn without_password(error: &toml::de::Error, text: &str) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let number = before.matches('\n').count();
    let line = text.lines().nth(number).unwrap_or_default();
    // A malformed URL may contain a password anywhere.
    if line.trim_start().starts_with("store") || may_hold_password(line) {
        return anyhow!("line {}: {}", number + 1, error.message());
    }
    anyhow!("{error}")
}
