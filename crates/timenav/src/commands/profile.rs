use std::path::PathBuf;

use anyhow::{Context as _, bail};
use reqwest::Url;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::client::service_url;
use crate::exit::Failure;
use crate::output;
use crate::profiles::{Profile, Profiles, profile_name};
use crate::prompt;
use crate::wiring::surroundings::Surroundings;

/// Stores services by name, with their keys, for `--profile`.
///
/// Profiles are in `timenav/profiles.toml` in your configuration folder (`XDG_CONFIG_HOME`, else `~/.config`). A key is
/// sent only to its service.
#[derive(Debug, clap::Args)]
pub(crate) struct ProfileCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Adds or replaces a profile.
    Add(Add),
    /// Lists the profiles, without their keys.
    List {
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sets the default profile.
    Use {
        /// The profile.
        #[arg(value_parser = profile_name, required_unless_present = "none")]
        name: Option<String>,
        /// Use no default profile.
        #[arg(long, conflicts_with = "name")]
        none: bool,
    },
    /// Removes a profile. Its key stays valid until it is revoked.
    Remove {
        /// The profile.
        #[arg(value_parser = profile_name)]
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// The name: letters, digits, `.`, `_`, `-`.
    #[arg(value_parser = profile_name)]
    name: String,
    /// The address of the service.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    url: Url,
    /// The source of the API key: `-` for standard input, or `@FILE`. Defaults to a prompt.
    #[arg(long, value_name = "-|@FILE")]
    key: Option<String>,
    /// Store no key; use `TIMENAV_API_KEY`.
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
    /// Trust only the certificate authority in this file (PEM).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Make it the default profile.
    #[arg(long)]
    default: bool,
}

pub(crate) fn run(command: ProfileCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let folder = surroundings.config_folder.as_deref();
    let mut all = Profiles::read(folder)?;
    let message = match command.action {
        Action::List { json } => {
            let list = listed(&all);
            let text = if json { output::pretty(&list.to_string()) } else { list_text(&list) };
            return output::write(&text);
        }
        Action::Add(add) => added(&mut all, add)?,
        Action::Use { name: None, .. } => {
            all.default = None;
            "No profile is used unless you name one.".to_owned()
        }
        Action::Use { name: Some(name), .. } => {
            let url = all.get(&name)?.url.clone();
            let message = format!("The profile `{name}` is used unless you name another service: {url}");
            all.default = Some(name);
            message
        }
        Action::Remove { name } => {
            all.get(&name)?;
            all.profiles.remove(&name);
            all.default.take_if(|default| *default == name);
            format!("The profile `{name}` is removed. `timenav key revoke` ends its key.")
        }
    };
    all.write(folder)?;
    output::write(&format!("{}\n", output::printable(&message)))
}

fn added(all: &mut Profiles, add: Add) -> anyhow::Result<String> {
    let key = if add.no_key { None } else { Some(key_of(add.key.as_deref(), &add.name)?.to_string()) };
    let ca = add.ca.map(|path| std::path::absolute(&path)).transpose().context("the folder is gone")?;
    let profile = Profile { url: add.url.to_string(), key, ca };
    let name = add.name;
    let is_new = all.profiles.insert(name.clone(), profile).is_none();
    let done = if is_new { "is added" } else { "is replaced" };
    if !add.default {
        return Ok(format!("The profile `{name}` {done}. Use it with --profile {name}."));
    }
    all.default = Some(name.clone());
    Ok(format!("The profile `{name}` {done}, and is used unless you name another service."))
}

fn key_of(source: Option<&str>, name: &str) -> anyhow::Result<Zeroizing<String>> {
    let key = match source {
        None => prompt::api_key(name)?,
        Some("-") => prompt::line_of_stdin()?,
        Some(source) => match source.strip_prefix('@') {
            Some(path) => {
                Zeroizing::new(std::fs::read_to_string(path).with_context(|| format!("{path} cannot be read"))?)
            }
            None => bail!(
                "--key does not take the key itself, which other users of the machine could see: write --key - and \
                 give the key on standard input, or --key @FILE, or leave it out to be prompted"
            ),
        },
    };
    let key = Zeroizing::new(key.trim().to_owned());
    if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c.is_control()) {
        bail!("this is not an API key: a key is one word");
    }
    Ok(key)
}

fn listed(all: &Profiles) -> Value {
    let profiles = all.profiles.iter().map(|(name, profile)| {
        json!({ "profile_id": name, "url": profile.url, "has_key": profile.key.is_some(),
            "ca": profile.ca, "is_default": all.default.as_ref() == Some(name) })
    });
    json!({ "profiles": profiles.collect::<Vec<_>>() })
}

fn list_text(list: &Value) -> String {
    let profiles = list["profiles"].as_array().map_or(&[][..], Vec::as_slice);
    if profiles.is_empty() {
        return "No profiles. `timenav profile add NAME --url URL` adds one.\n".to_owned();
    }
    let yes_or_no = |value: &Value| json!(if *value == true { "yes" } else { "no" });
    let rows: Vec<Value> = profiles
        .iter()
        .map(|profile| {
            let mut row = profile.clone();
            row["key"] = yes_or_no(&profile["has_key"]);
            row["default"] = if profile["is_default"] == true { json!("yes") } else { Value::Null };
            row
        })
        .collect();
    let columns = [("PROFILE", "profile_id"), ("SERVICE", "url"), ("KEY", "key"), ("DEFAULT", "default")];
    output::table(&rows, &columns, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_key_is_read_only_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "tnk_abc\n").unwrap();
        let source = format!("@{}", path.display());
        assert_eq!(*key_of(Some(&source), "x").unwrap(), "tnk_abc");
        std::fs::write(&path, "two words\n").unwrap();
        assert!(key_of(Some(&source), "x").is_err());
        let refused = key_of(Some("tnk_abc"), "x").unwrap_err().to_string();
        assert!(refused.contains("--key @FILE") && !refused.contains("tnk_abc"), "{refused}");
    }
}
