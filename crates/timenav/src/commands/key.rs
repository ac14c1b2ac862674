//! `timenav key`: makes, lists, certifies and revokes API keys.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};
use timenav_core::access::Scope;
use timenav_core::horizon::Horizon;

use super::arguments::insert;
use super::pages::{page_text, show_pages};
use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::surroundings::Surroundings;

const API_KEYS: Records = Records {
    member: "api_keys",
    fields: &[
        "key_id",
        "user_id",
        "timeline_id",
        "label",
        "scopes",
        "horizon",
        "known_at",
        "created_at",
        "expires_at",
        "revoked_at",
    ],
};

/// Creates, lists, certifies and revokes API keys.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Creates an API key and shows it once.
    Create(Create),
    /// Lists keys, newest first. The secrets are not stored and cannot be shown.
    List {
        /// The user. Defaults to you.
        #[arg(long, value_name = "USER_ID")]
        user: Option<String>,
    },
    /// Certifies what a key with a horizon has seen.
    ///
    /// The owner of the key can ask, and whoever administers its timeline. The file of --save can be verified offline:
    /// `timenav verify FILE --verifier-key KEY`.
    Certify(Certify),
    /// Revokes a key, immediately and permanently.
    Revoke {
        /// The key's public id, from `create` or `list`.
        key_id: String,
    },
}

#[derive(Debug, clap::Args)]
struct Create {
    /// The user. Defaults to you.
    #[arg(long, value_name = "USER_ID")]
    user: Option<String>,
    /// The timeline for requests that name none. Default: main.
    #[arg(long, value_name = "TIMELINE_ID")]
    timeline_bound: Option<String>,
    /// What it is for.
    #[arg(long)]
    label: Option<String>,
    /// What it can be used for. Can be given more than once. Defaults to everything its user can do.
    #[arg(long, value_parser = PossibleValuesParser::new(Scope::ALL.map(Scope::as_str)))]
    scope: Vec<String>,
    /// How far it sees: `clock` for no later than the timeline's clock shows. Such a key can only read.
    #[arg(long, value_parser = PossibleValuesParser::new([Horizon::CLOCK]))]
    horizon: Option<String>,
    /// What the ledger learned later does not exist for it: a position, an anchor id, or a host time. Such a key can
    /// only read.
    #[arg(long, value_name = "MOMENT")]
    known_at: Option<String>,
    /// When it expires, in host time: RFC 3339 with a zone. Defaults to never.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Certify {
    /// The key's public id, from `create` or `list`.
    key_id: String,
    /// The position of the first entry. Defaults to 0.
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// The position of the last entry. Defaults to the newest.
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    /// Where to save the certificate, with the proof of each read.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Does one thing with keys.
///
/// # Errors
/// The service does not answer, or says no.
pub(crate) fn run(command: KeyCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Create(create) => {
            let answer = client.post(&["v1", "api-keys"], create_body(create))?;
            client.show(&answer, created_text).map_err(|failure| unread(&answer.value, failure))
        }
        Action::List { user } => {
            let query: Vec<_> = user.into_iter().map(|user| ("user_id", user)).collect();
            show_pages(&client, &["v1", "api-keys"], query, (true, &API_KEYS), list_text)
        }
        Action::Certify(certify) => run_certify(&client, certify),
        Action::Revoke { key_id } => client.show(&client.delete(&["v1", "api-keys", &key_id], &[])?, output::status),
    }
}

fn run_certify(client: &Client, certify: Certify) -> Result<(), Failure> {
    let Certify { key_id, from, to, save } = certify;
    let mut query = vec![("key_id", key_id)];
    query.extend(from.map(|from| ("from", from.to_string())));
    query.extend(to.map(|to| ("to", to.to_string())));
    let answer = client.get(&["v1", "certificates"], &query)?;
    if let Some(file) = save {
        std::fs::write(&file, output::pretty(&answer.text))
            .with_context(|| format!("{} cannot be written", file.display()))?;
    }
    client.show(&answer, certified_text)
}

/// A key is told once, so nobody has one that was not read.
fn unread(answer: &Value, failure: Failure) -> Failure {
    let Failure::OutputClosed = failure else { return failure };
    let key_id = output::member(answer, "key_id");
    anyhow!(
        "the key `{key_id}` was created but could not be shown; revoke it (`timenav key revoke {key_id}`) and create another"
    )
    .into()
}

fn create_body(create: Create) -> Map<String, Value> {
    let mut body = Map::new();
    insert(&mut body, "user_id", create.user);
    insert(&mut body, "timeline_id", create.timeline_bound);
    insert(&mut body, "label", create.label);
    insert(&mut body, "scopes", (!create.scope.is_empty()).then_some(create.scope));
    insert(&mut body, "horizon", create.horizon);
    insert(&mut body, "known_at", create.known_at);
    insert(&mut body, "expires_at", create.expires_at);
    body
}

fn created_text(answer: &Value) -> String {
    let shown = [
        ("key", "key_id"),
        ("user", "user_id"),
        ("timeline", "timeline_id"),
        ("horizon", "horizon"),
        ("known at", "known_at"),
        ("API key", "api_key"),
    ];
    output::status(answer) + &output::fields(answer, &shown)
}

fn certified_text(answer: &Value) -> String {
    let shown = [
        ("key", "key_id"),
        ("user", "user_id"),
        ("timeline", "timeline_id"),
        ("horizon", "horizon"),
        ("known at", "known_at"),
        ("first entry", "from"),
        ("last entry", "to"),
        ("reads", "reads"),
        ("streams", "streams"),
        ("refusals", "refusals"),
        ("gone", "gone"),
        ("latest time", "latest_time"),
        ("latest position", "latest_position"),
    ];
    let mut text = output::status(answer) + &output::fields(answer, &shown);
    for what in answer["not_certified"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "not certified: {}", output::printable(what));
    }
    text
}

fn list_text(page: &Value, is_first: bool) -> String {
    let columns = [
        ("KEY", "key_id"),
        ("USER", "user_id"),
        ("TIMELINE", "timeline_id"),
        ("SCOPES", "scopes"),
        ("CREATED", "created_at"),
        ("EXPIRES", "expires_at"),
        ("REVOKED", "revoked_at"),
        ("LABEL", "label"),
    ];
    page_text(page, "api_keys", &columns, is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_only_what_was_said() {
        let create = Create {
            user: None,
            timeline_bound: None,
            label: None,
            scope: Vec::new(),
            horizon: None,
            known_at: None,
            expires_at: None,
        };
        assert!(create_body(create).is_empty());
        let create = Create {
            user: Some("bob".to_owned()),
            timeline_bound: Some("t".to_owned()),
            label: Some("l".to_owned()),
            scope: vec!["timeline:read".to_owned()],
            horizon: Some("clock".to_owned()),
            known_at: Some("1234".to_owned()),
            expires_at: Some("2030-01-01T00:00:00Z".to_owned()),
        };
        let expected = serde_json::json!({"user_id": "bob", "timeline_id": "t", "label": "l",
            "scopes": ["timeline:read"], "horizon": "clock", "known_at": "1234", "expires_at": "2030-01-01T00:00:00Z"});
        assert_eq!(Value::Object(create_body(create)), expected);
    }

    #[test]
    fn a_new_key_is_shown() {
        let answer = serde_json::json!({"status": "Made.", "key_id": "key_1", "api_key": "tnk_x", "user_id": "bob",
            "timeline_id": "main"});
        assert_eq!(created_text(&answer), "Made.\nkey       key_1\nuser      bob\ntimeline  main\nAPI key   tnk_x\n");
    }
}
