use std::io::Read as _;

use anyhow::{Context as _, bail};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::client::{Call, Client, ServiceOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Sends a request to any path of the service, and prints the response.
///
/// For example, `timenav api GET '/v1/monitor-events?location=*&time_range=../..'` or `timenav api POST /v1/travel -d
/// '{"destination_time": "2028-02-28T23:59:00Z"}'`. To repeat a POST safely, add `-H 'Idempotency-Key: …'`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApiCommand {
    /// The method, such as GET, POST, DELETE or QUERY.
    #[arg(value_parser = method)]
    method: Method,
    /// The path and query. `timenav openapi` prints all paths.
    path: String,
    /// The body: text, `@FILE`, or `-` for standard input. JSON unless a header says otherwise.
    #[arg(long, short = 'd', value_name = "JSON", allow_hyphen_values = true)]
    body: Option<String>,
    /// A header, such as `If-Match: "7"`. Repeatable.
    #[arg(long, short = 'H', value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(HeaderName, HeaderValue)>,
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: ApiCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let body = command.body.map(body_of).transpose()?;
    let mut headers = HeaderMap::new();
    for (name, value) in command.header {
        headers.append(name, value);
    }
    let call = Call { method: command.method, target: command.path, headers, body };
    match client.call(call, &mut output::write_bytes)? {
        Some(answer) => client.show(&answer, |_| output::pretty(&answer.text)),
        None => Ok(()),
    }
}

fn body_of(data: String) -> anyhow::Result<Vec<u8>> {
    let Some(file) = data.strip_prefix('@') else {
        if data != "-" {
            return Ok(data.into_bytes());
        }
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
        return Ok(bytes);
    };
    std::fs::read(file).with_context(|| format!("{file} cannot be read"))
}

fn method(text: &str) -> Result<Method, String> {
    if text.contains('/') {
        return Err("the method comes before the path, as in `timenav api GET /v1/clock`".to_owned());
    }
    Method::from_bytes(text.to_ascii_uppercase().as_bytes()).map_err(|error| error.to_string())
}

fn header(text: &str) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let Some((name, value)) = text.split_once(':') else { bail!("a header is a name, a colon and a value") };
    Ok((name.trim().parse()?, value.trim().parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_argument_rejects_a_path() {
        assert_eq!(method("get").unwrap(), Method::GET);
        assert_eq!(method("QUERY").unwrap().as_str(), "QUERY");
        assert!(method("/v1/clock").unwrap_err().contains("comes before the path"));
        assert!(method("").is_err());
    }

    #[test]
    fn header_argument_is_split_into_name_and_value() {
        let (name, value) = header("If-Match: \"7\"").unwrap();
        assert_eq!((name.as_str(), value.as_bytes()), ("if-match", &b"\"7\""[..]));
        assert!(header("If-Match").is_err() && header(": x").is_err() && header("a: b\nc").is_err());
    }
}
