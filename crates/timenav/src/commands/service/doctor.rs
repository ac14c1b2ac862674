mod check;
mod database;
mod folder;
mod health;
mod network;
mod postgres;
mod settings;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use reqwest::Url;

use self::check::Outcome;
use crate::client::service_url;
use crate::config::{ServeOptions, Settings};
use crate::exit::Failure;
use crate::output::{self, Unshown};
use crate::wiring::surroundings::Surroundings;

/// The help heading of the options that are documented at `serve`.
pub(in crate::commands) const AS_FOR_SERVE: &str = "As for serve";

/// Checks the health or the security of a service, and suggests improvements.
///
/// By default it checks whether the service of the data folder runs, is ready, has this version, and could start. It
/// also checks file permissions, the database, the host clock, free space, checkpoints, and the methods of `timenav
/// exec`.
///
/// With `--security` it checks the data folder and the settings of `serve` with the same flags, environment and file.
/// With `--url` it also checks a running service.
///
/// It changes nothing. Run it as the user of the service. It prints one line per check: `ok`; `warn`, which may be
/// intended; or `fail`. The exit code is 1 if a check failed, otherwise 0.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorCommand {
    /// Check security instead of health.
    #[arg(long)]
    security: bool,
    /// With `--security`, also check the service at this address.
    #[arg(long, env = "TIMENAV_URL", hide_env_values = true, value_name = "URL", value_parser = service_url)]
    url: Option<Url>,
    /// Trust only the certificate authority in this file (PEM).
    #[arg(long, env = "TIMENAV_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = AS_FOR_SERVE)]
    options: ServeOptions,
}

pub(crate) fn run(command: DoctorCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let allowed = timenav_exec::ways::allowed();
    let settings = Settings::resolve(command.options)?;
    let mut checks = if command.security { settings::look_at(&settings) } else { Vec::new() };
    checks.extend(folder::look_at(&settings));
    checks.extend(match &settings.store {
        Some(url) => postgres::look_at(url, &settings),
        None => database::look_at(&settings),
    });
    if !command.security {
        checks.retain(|check| health::OF_HEALTH.contains(&check.name));
        checks.extend(health::look_at(&settings, command.ca.as_deref(), surroundings, allowed));
    } else if let Some(url) = &command.url {
        checks.extend(network::look_at(url, command.ca.as_deref(), surroundings)?);
    }
    let mut unshown = Unshown::default();
    unshown.after(output::write(&if command.json { check::json(&checks) } else { check::text(&checks) }));
    match checks.iter().filter(|check| check.outcome == Outcome::Fail).count() {
        0 => unshown.end(),
        1 => Err(anyhow::anyhow!("1 check failed").into()),
        count => Err(anyhow::anyhow!("{count} checks failed").into()),
    }
}
