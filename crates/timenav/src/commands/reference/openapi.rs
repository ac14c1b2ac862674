use crate::exit::Failure;
use crate::output;

/// Prints the OpenAPI document of the service, without a running service.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenapiCommand {}

pub(crate) fn run(_command: &OpenapiCommand) -> Result<(), Failure> {
    output::write(&(timenav_http::openapi_json().trim_end().to_owned() + "\n"))
}
