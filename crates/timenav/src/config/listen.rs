//! Where to listen, as it is written in settings.

use std::net::SocketAddr;

/// Reads an IP address and a port. Names are not looked up: one may stand for addresses of other networks.
///
/// # Errors
/// It is something else; the error says what would be right.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_no_name() {
        for (text, is_right) in [
            ("127.0.0.1:8080", true),
            ("[::]:0", true),
            ("localhost:8080", false),
            ("127.0.0.1", false),
            ("127.0.0.1:65536", false),
            ("::1:8080", false),
            ("", false),
        ] {
            assert_eq!(listen_address(text).is_ok(), is_right, "{text}");
        }
    }
}
