use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// The address range of one customer: an IPv4 address, or an IPv6 /64 (RFC 6177), all of whose addresses the customer
/// controls. Every per-address limit uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(IpAddr);

impl Network {
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
            }
            address @ (IpAddr::V4(_) | IpAddr::V6(_)) => address,
        })
    }

    #[must_use]
    pub const fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V6(address) if !address.is_loopback() => write!(f, "{address}/64"),
            address => write!(f, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_are_one_network() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Network::of(text.parse().unwrap()).to_string(), expected, "{text}");
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("::1", "::1");
        check("::ffff:127.0.0.1", "127.0.0.1");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64");
        check("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64");
        check("2001:db8:1:3::1", "2001:db8:1:3::/64");
    }
}
