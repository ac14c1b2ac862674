//! Options for locating a service, authenticating to it and printing its responses.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use reqwest::{Certificate, Client, ClientBuilder, Url};
use serde_json::{Map, Value};

use crate::output::OutputFormat;
use crate::profiles::profile_name;

/// How the service is found, and how its answers are shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The service")]
pub(crate) struct ServiceOptions {
    /// The address of the service. Defaults to the one in the data folder, else `http://127.0.0.1:8080`.
    #[arg(long, env = "TIMENAV_URL", hide_env_values = true, value_name = "URL", value_parser = service_url, global = true)]
    pub(super) url: Option<Url>,
    /// Use the service and key of this profile.
    #[arg(long, env = "TIMENAV_PROFILE", value_name = "NAME", value_parser = profile_name, global = true)]
    pub(super) profile: Option<String>,
    /// Trust only the certificate authority in this file (PEM). Defaults to those of this machine.
    #[arg(long, env = "TIMENAV_CA", value_name = "FILE", global = true)]
    pub(super) ca: Option<PathBuf>,
    /// The data folder of a service on this machine, with its address and the operator's key. Defaults
    /// to `./timenav-data` if no service is selected.
    #[arg(long, env = "TIMENAV_DATA", value_name = "DIR", global = true)]
    pub(super) data: Option<PathBuf>,
    /// The output format.
    ///
    /// `json` is the response of the service, `ndjson` a line of JSON per list item, and `csv` a row per item after a
    /// header. With `json` and `ndjson`, errors are JSON too.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, hide_possible_values = true, global = true)]
    output: OutputFormat,
    /// Print the response as JSON; short for `--output json`.
    #[arg(long, global = true, conflicts_with = "output")]
    json: bool,
}

impl ServiceOptions {
    pub(crate) fn at(url: Url, ca: Option<PathBuf>) -> Self {
        Self { url: Some(url), profile: None, ca, data: None, output: OutputFormat::Table, json: false }
    }

    pub(crate) fn of_folder(data: PathBuf) -> Self {
        Self { url: None, profile: None, ca: None, data: Some(data), output: OutputFormat::Table, json: false }
    }

    /// Returns the arguments with which another `timenav` process finds the same service. They contain no key.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.clone().into_os_string());
        let named = [
            ("--url", self.url.as_ref().map(|url| url.as_str().into())),
            ("--profile", self.profile.as_ref().map(OsString::from)),
            ("--ca", path(&self.ca)),
            ("--data", path(&self.data)),
        ];
        named.into_iter().filter_map(|(name, value)| value.map(|value| [name.into(), value])).flatten().collect()
    }

    pub(crate) const fn output(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { self.output }
    }
}

/// Which timeline is meant.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The service")]
pub(crate) struct TimelineOptions {
    /// The timeline. Defaults to the timeline of the API key.
    #[arg(long, env = "TIMENAV_TIMELINE", value_name = "TIMELINE_ID", global = true)]
    pub(crate) timeline: Option<String>,
}

impl TimelineOptions {
    /// Returns the timeline id for operations that require one; `main` by default.
    pub(crate) fn required(&self) -> &str {
        self.timeline.as_deref().unwrap_or("main")
    }

    pub(crate) fn query(&self) -> Vec<(&'static str, String)> {
        self.timeline.iter().map(|timeline| ("timeline_id", timeline.clone())).collect()
    }

    pub(crate) fn required_query(&self) -> Vec<(&'static str, String)> {
        vec![("timeline_id", self.required().to_owned())]
    }

    pub(crate) fn body(&self) -> Map<String, Value> {
        self.query().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    }

    pub(crate) fn required_body(&self) -> Map<String, Value> {
        self.required_query().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    }
}

/// Fails if the file contains no certificate.
pub(crate) fn authorities(path: &Path) -> anyhow::Result<Vec<Certificate>> {
    let certificates = Certificate::from_pem_bundle(&pem(path)?).ok().filter(|certificates| !certificates.is_empty());
    certificates.with_context(|| format!("{} contains no PEM certificate", path.display()))
}

pub(super) fn pem(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Machines without CA certificates, such as small containers, can still use plain HTTP.
pub(crate) fn built(url: &Url, made: impl Fn() -> ClientBuilder) -> anyhow::Result<Client> {
    match made().build() {
        Ok(http) => Ok(http),
        Err(_) if url.scheme() == "http" => Ok(made().tls_certs_only([]).build()?),
        Err(error) => Err(anyhow::Error::new(error).context(
            "TLS cannot be set up: install CA certificates (on Debian, the package \
             ca-certificates), or give the service's own with --ca",
        )),
    }
}

pub(crate) fn service_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{error}; write it like http://127.0.0.1:8080"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("it must start with http:// or https://".to_owned()),
    }
}

pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
