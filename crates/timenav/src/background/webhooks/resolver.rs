use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::reach::Reach;

/// The name of this machine, whatever it resolves to.
const LOCALHOST: &str = "localhost";

/// Removes addresses that are not allowed. The connection uses one of the results, so no name is resolved twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver {
    pub(super) allows_private: bool,
}

impl Resolver {
    fn may_reach(self, name: &str, address: IpAddr) -> bool {
        match Reach::of(address) {
            Reach::Public => true,
            Reach::Private => self.allows_private,
            Reach::Loopback => name == LOCALHOST,
            Reach::Never => false,
        }
    }

    fn permitted(self, name: &str, found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, String> {
        let permitted: Vec<SocketAddr> = found.filter(|found| self.may_reach(name, found.ip())).collect();
        if permitted.is_empty() {
            return Err(format!("`{name}` has no address that webhooks may be sent to"));
        }
        Ok(permitted)
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = *self;
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, 0)).await;
            // The system's message may name servers of the network.
            let found = found.map_err(|_| format!("`{name}` has no address"))?;
            let permitted: Addrs = Box::new(resolver.permitted(name, found)?.into_iter());
            Ok(permitted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_resolved_addresses_are_filtered() {
        let permitted = |allows_private: bool, name: &str, found: &[&str]| {
            let found = found.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0));
            let permitted = Resolver { allows_private }.permitted(name, found.collect::<Vec<_>>().into_iter());
            permitted.map(|permitted| permitted.iter().map(|permitted| permitted.ip().to_string()).collect::<Vec<_>>())
        };
        let rebound = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "1.1.1.1"];
        assert_eq!(permitted(false, "hooks.example", &rebound), Ok(vec!["1.1.1.1".to_owned()]));
        assert_eq!(permitted(true, "hooks.example", &rebound), Ok(vec!["10.0.0.1".to_owned(), "1.1.1.1".to_owned()]));
        let refused = permitted(false, "hooks.example", &rebound[..3]).unwrap_err();
        assert_eq!(refused, "`hooks.example` has no address that webhooks may be sent to");
        assert_eq!(permitted(false, "localhost", &["::1"]), Ok(vec!["::1".to_owned()]));
        assert!(permitted(false, "localhost", &["10.0.0.1"]).is_err());
    }
}
