use serde_json::json;
use zeroize::Zeroizing;

use crate::client::{Client, ServiceOptions};
use crate::commands::pages::show_pages;
use crate::exit::Failure;
use crate::output::{self, Records};
use crate::prompt;
use crate::wiring::surroundings::Surroundings;

const USERS: Records = Records {
    member: "users",
    fields: &["user_id", "operator", "restriction_level", "created_at"],
    columns: &[
        ("USER", "user_id"),
        ("OPERATOR", "operator"),
        ("RESTRICTION", "restriction_level"),
        ("CREATED", "created_at"),
    ],
};

const RESTRICTIONS: Records = Records {
    member: "restrictions",
    fields: &["user_id", "restriction_level"],
    columns: &[("USER", "user_id"), ("RESTRICTION", "restriction_level")],
};

const SESSIONS: Records = Records {
    member: "sessions",
    fields: &["session_id", "created_at", "last_seen_at", "idle_expires_at", "expires_at", "is_current"],
    columns: &[
        ("SESSION", "session_id"),
        ("CREATED", "created_at"),
        ("LAST SEEN", "last_seen_at"),
        ("EXPIRES", "expires_at"),
        ("THIS ONE", "is_current"),
    ],
};

/// Creates, lists, restricts and removes users, and sets their passwords. For operators.
#[derive(Debug, clap::Args)]
pub(crate) struct UserCommand {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Creates a user. `timenav key create --user` creates a key for them.
    Add {
        /// The user id: letters, digits, `.`, `_`, `-`, `:`, `@`.
        user_id: String,
        /// Make the user an operator of the service.
        #[arg(long)]
        operator: bool,
    },
    /// Lists the users.
    List,
    /// Sets a user's password for the console and ends all sessions of the user.
    ///
    /// You type it twice; it is not shown.
    Password {
        /// The user id.
        user_id: String,
        /// Read the password from the first line of stdin.
        #[arg(long)]
        stdin: bool,
    },
    /// Restricts a user's time travel.
    Restrict {
        /// The user id.
        user_id: String,
        /// The level: unrestricted, within the service's window, reading clocks only, or none.
        #[arg(value_parser = ["full_access", "limited_access", "read_only", "no_access"])]
        level: String,
    },
    /// Lists the users whose time travel is restricted.
    Restrictions,
    /// Lists the console sessions of a user.
    Sessions {
        /// The user id. Defaults to yours.
        user_id: Option<String>,
    },
    /// Logs a user out of one session.
    EndSession {
        /// The session id, from `sessions`.
        session_id: String,
    },
    /// Removes a user and revokes their API keys. The ledgers keep what they did.
    Remove {
        /// The user id.
        user_id: String,
    },
}

pub(crate) fn run(command: UserCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    match command.action {
        Action::Add { user_id, operator } => {
            let body = json!({ "user_id": user_id, "operator": operator }).to_string();
            client.show(&client.post_text(&["v1", "users"], &[], &body)?, output::status)
        }
        Action::List => show_pages(&client, &["v1", "users"], Vec::new(), true, &USERS),
        Action::Password { user_id, stdin } => {
            let password = if stdin { prompt::line_of_stdin() } else { prompt::new_password(&user_id) }?;
            let body = Zeroizing::new(json!({ "user_id": user_id, "password": *password }).to_string());
            client.show(&client.post_text(&["v1", "set-password"], &[], &body)?, output::status)
        }
        Action::Restrict { user_id, level } => {
            let body = json!({ "user_id": user_id, "restriction_level": level }).to_string();
            client.show(&client.post_text(&["v1", "restrict-time-travel"], &[], &body)?, output::status)
        }
        Action::Restrictions => show_pages(&client, &["v1", "restrictions"], Vec::new(), true, &RESTRICTIONS),
        Action::Sessions { user_id } => {
            let query: Vec<_> = user_id.into_iter().map(|user| ("user_id", user)).collect();
            show_pages(&client, &["v1", "sessions"], query, true, &SESSIONS)
        }
        Action::EndSession { session_id } => {
            client.show(&client.delete(&["v1", "sessions", &session_id], &[])?, output::status)
        }
        Action::Remove { user_id } => client.show(&client.delete(&["v1", "users", &user_id], &[])?, output::status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pages::page_text;

    #[test]
    fn users_are_listed_in_columns() {
        let user = serde_json::json!({"user_id": "admin", "operator": true, "restriction_level": "full_access",
            "created_at": "2026-01-01T00:00:00Z"});
        assert_eq!(
            page_text(&serde_json::json!({"users": [user]}), "users", USERS.columns, true),
            "USER   OPERATOR  RESTRICTION  CREATED\nadmin  true      full_access  2026-01-01T00:00:00Z\n"
        );
    }
}
