use std::net::SocketAddr;

/// Parses an IP address with a port. Host names are not resolved: they may point to other networks.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_address_requires_an_ip_and_a_port() {
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
