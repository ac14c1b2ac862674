//! Prints the OpenAPI document that the routes describe, or with `--3.2-patch` what OpenAPI 3.2 adds to it.

fn main() {
    let is_patch = std::env::args().nth(1).is_some_and(|argument| argument == "--3.2-patch");
    print!(
        "{}",
        if is_patch { timenav_http::generate::openapi_3_2_patch() } else { timenav_http::generate::openapi() }
    );
}
