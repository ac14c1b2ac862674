use anyhow::anyhow;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};
use timenav_core::access::Scope;

use crate::client::{Client, ServiceOptions};
use crate::commands::arguments::insert;
use crate::commands::pages::show_pages;
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::wiring::surroundings::Surroundings;

const API_KEYS: Records = Records {
    member: "api_keys",
    fields: &["key_id", "user_id", "timeline_id", "label", "scopes", "created_at", "expires_at", "revoked_at"],
    columns: &[
        ("KEY", "key_id"),
        ("USER", "user_id"),
        ("TIMELINE", "timeline_id"),
        ("SCOPES", "scopes"),
        ("CREATED", "created_at"),
        ("EXPIRES", "expires_at"),
        ("REVOKED", "revoked_at"),
        ("LABEL", "label"),
    ],
};

/// Creates, lists and revokes API keys.
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
    /// Lists keys, newest first. Secrets are not stored and cannot be shown.
    List {
        /// The user. Defaults to you.
        #[arg(long, value_name = "USER_ID")]
        user: Option<String>,
    },
    /// Revokes a key, immediately and permanently.
    Revoke {
        /// The public id of the key, from `create` or `list`.
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
    default_timeline: Option<String>,
    /// A description.
    #[arg(long)]
    label: Option<String>,
    /// What the key can be used for. Repeatable. Defaults to everything.
    #[arg(long, value_parser = PossibleValuesParser::new(Scope::ALL.map(Scope::as_str)))]
    scope: Vec<String>,
    /// When it expires, in host time: RFC 3339 with a zone. Defaults to never.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

pub(crate) fn run(command: KeyCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Create(create) => {
            let answer = client.post(&["v1", "api-keys"], create_body(create))?;
            client.show(&answer, created_text).map_err(|failure| unread(&answer.value, failure))
        }
        Action::List { user } => {
            let query: Vec<_> = user.into_iter().map(|user| ("user_id", user)).collect();
            show_pages(&client, &["v1", "api-keys"], query, true, &API_KEYS)
        }
        Action::Revoke { key_id } => client.show(&client.delete(&["v1", "api-keys", &key_id], &[])?, output::status),
    }
}

/// A key is shown only once, so if it could not be printed, it is lost.
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
    insert(&mut body, "timeline_id", create.default_timeline);
    insert(&mut body, "label", create.label);
    insert(&mut body, "scopes", (!create.scope.is_empty()).then_some(create.scope));
    insert(&mut body, "expires_at", create.expires_at);
    body
}

fn created_text(answer: &Value) -> String {
    let layout = [("key", "key_id"), ("user", "user_id"), ("timeline", "timeline_id"), ("API key", "api_key")];
    output::status(answer) + &output::fields(answer, &layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_request_contains_only_given_options() {
        let create = Create { user: None, default_timeline: None, label: None, scope: Vec::new(), expires_at: None };
        assert!(create_body(create).is_empty());
        let create = Create {
            user: Some("bob".to_owned()),
            default_timeline: Some("t".to_owned()),
            label: Some("l".to_owned()),
            scope: vec!["timeline:read".to_owned()],
            expires_at: Some("2030-01-01T00:00:00Z".to_owned()),
        };
        let expected = serde_json::json!({"user_id": "bob", "timeline_id": "t", "label": "l",
            "scopes": ["timeline:read"], "expires_at": "2030-01-01T00:00:00Z"});
        assert_eq!(Value::Object(create_body(create)), expected);
    }

    #[test]
    fn new_api_key_is_shown() {
        let answer = serde_json::json!({"status": "Made.", "key_id": "key_1", "api_key": "tnk_x", "user_id": "bob",
            "timeline_id": "main"});
        assert_eq!(created_text(&answer), "Made.\nkey       key_1\nuser      bob\ntimeline  main\nAPI key   tnk_x\n");
    }
}
