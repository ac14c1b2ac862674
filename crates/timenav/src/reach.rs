//! Classifies addresses, so that requests on behalf of users do not reach internal ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Public,
    Private,
    Loopback,
    /// Never a webhook target: link-local, multicast, cloud metadata, or an address embedded in another one.
    Never,
}

impl Reach {
    /// Classifies an address (RFC 6890 and the IANA registries of special-purpose addresses).
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, d] = address.octets();
        match (a, b, c, d) {
            (127, ..) => Self::Loopback,
            // Cloud metadata and configuration services.
            (100, 100, 100, 200)
            | (168, 63, 129, 16)
            // This network, link-local, protocol assignments, documentation, relays, multicast and reserved.
            | (0 | 224..=255, ..)
            | (169, 254, ..)
            | (192, 0, 0 | 2, _)
            | (192, 88, 99, _)
            | (198, 51, 100, _)
            | (203, 0, 113, _) => Self::Never,
            (10, ..) | (172, 16..=31, ..) | (192, 168, ..) | (100, 64..=127, ..) | (198, 18..=19, ..) => Self::Private,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let [a, b, ..] = address.segments();
        if address == Ipv6Addr::LOCALHOST {
            return Self::Loopback;
        }
        // Only allocated addresses are public (2000::/3), except those with an embedded IPv4 address, protocol
        // assignments and documentation.
        match (a, b) {
            // The first is a cloud metadata service.
            (0xfd00, 0x0ec2)
            | (0x2001, 0x0000..=0x01ff | 0x0db8)
            | (0x2002 | 0x3ffe, _)
            | (0x3fff, 0x0000..=0x0fff) => Self::Never,
            (0xfc00..=0xfdff, _) => Self::Private,
            (0x2000..=0x3fff, _) => Self::Public,
            _ => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_reach_follows_the_iana_registries() {
        for (reach, addresses) in [
            (
                Reach::Public,
                &["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"][..],
            ),
            (Reach::Private, &["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1"]),
            (Reach::Loopback, &["127.0.0.1", "127.255.255.254", "::1"]),
            (
                Reach::Never,
                &[
                    "0.0.0.0",
                    "169.254.169.254",
                    "100.100.100.200",
                    "168.63.129.16",
                    "192.0.0.192",
                    "192.0.2.1",
                    "224.0.0.1",
                    "255.255.255.255",
                    "::",
                    "::ffff:127.0.0.1",
                    "::ffff:10.0.0.1",
                    "::127.0.0.1",
                    "64:ff9b::7f00:1",
                    "64:ff9b:1::7f00:1",
                    "2001::1",
                    "2001:db8::1",
                    "2002:7f00:1::",
                    "fe80::1",
                    "fec0::1",
                    "fd00:ec2::254",
                    "ff02::1",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(Reach::of(address.parse().unwrap()), reach, "{address}");
            }
        }
    }
}
