use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use anyhow::bail;
use reqwest::Url;
use timenav_core::limits::WEBHOOK_HOSTS_MAX;

use crate::reach::Reach;

/// A host and port that webhooks may be sent to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WebhookTo {
    scheme: String,
    /// As in URLs: IPv6 addresses have brackets.
    host: String,
    port: u16,
}

impl WebhookTo {
    /// Returns the target of a URL; `None` if it has no host.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let is_web = matches!(url.scheme(), "http" | "https");
        let (host, port) = (url.host_str()?.to_owned(), url.port_or_known_default()?);
        is_web.then(|| Self { scheme: url.scheme().to_owned(), host, port })
    }

    pub(crate) fn host(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Returns whether requests are sent without TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.scheme == "http"
    }

    fn address(&self) -> Option<IpAddr> {
        self.host.trim_matches(['[', ']']).parse().ok()
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.address().is_some_and(|address| Reach::of(address) == Reach::Loopback)
    }
}

impl FromStr for WebhookTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write a host, with a port if it is not 443, such as hooks.example.com:8443; put http:// \
                            before it to send requests without TLS";
        let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let url = Url::parse(&url).map_err(|error| format!("{error}; {FORM}"))?;
        let is_bare = url.username().is_empty() && url.password().is_none() && url.path() == "/";
        let to = Self::of(&url).filter(|_| is_bare && url.query().is_none() && url.fragment().is_none()).ok_or(FORM)?;
        if to.address().is_some_and(|address| Reach::of(address) == Reach::Never) {
            return Err(format!("webhooks never go to {}, an address for special use", to.host));
        }
        Ok(to)
    }
}

impl fmt::Display for WebhookTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

/// Fails if there are too many, or one is this machine while the service is reachable from others.
pub(super) fn settled(allowed: Vec<WebhookTo>, listen: SocketAddr) -> anyhow::Result<Vec<WebhookTo>> {
    if allowed.len() > WEBHOOK_HOSTS_MAX {
        bail!("webhooks can go to at most {WEBHOOK_HOSTS_MAX} hosts, not {}", allowed.len());
    }
    if let Some(own) = allowed.iter().find(|to| to.is_loopback() && !listen.ip().is_loopback()) {
        bail!(
            "webhooks can go to {own}, which is this machine, only if no other machine can reach the service: it \
             listens on {listen}; leave it out of --webhook-allow-host, or listen on 127.0.0.1"
        );
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_host_gets_a_default_scheme_and_port() {
        for (text, expected) in [
            ("hooks.example.com", "https://hooks.example.com:443"),
            ("Hooks.Example.com:8443", "https://hooks.example.com:8443"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("http://localhost", "http://localhost:80"),
            ("10.0.0.7:3000", "https://10.0.0.7:3000"),
            ("[2a00:1450::1]:8443", "https://[2a00:1450::1]:8443"),
        ] {
            assert_eq!(text.parse::<WebhookTo>().map(|to| to.to_string()).as_deref(), Ok(expected), "{text}");
        }
        for wrong in ["", "https://", "hooks.example.com/in", "ftp://a", "a?b", "a#b", "ada:secret@a", "a b"] {
            let error = wrong.parse::<WebhookTo>().unwrap_err();
            assert!(error.contains("write a host") && !error.contains("secret"), "{wrong}: {error}");
        }
        for never in ["169.254.169.254", "http://0.0.0.0:80", "[fe80::1]", "[::ffff:169.254.169.254]", "0xa9fea9fe"] {
            let error = never.parse::<WebhookTo>().unwrap_err();
            assert!(error.contains("webhooks never go to"), "{never}: {error}");
        }
    }

    #[test]
    fn loopback_webhooks_require_a_loopback_service() {
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<WebhookTo>>();
        let (here, everywhere) = ("127.0.0.1:8080".parse().unwrap(), "0.0.0.0:8080".parse().unwrap());
        for own in ["http://localhost:3000", "http://127.0.0.9:3000", "[::1]"] {
            assert!(settled(of(&[own]), here).is_ok(), "{own}");
            let error = settled(of(&["a.example", own]), everywhere).unwrap_err().to_string();
            assert!(error.contains("which is this machine"), "{error}");
        }
        assert_eq!(settled(of(&["a.example"]), everywhere).unwrap(), of(&["a.example"]));
        let many: Vec<_> =
            (0..=WEBHOOK_HOSTS_MAX).map(|number| format!("a{number}.example").parse().unwrap()).collect();
        assert!(settled(many[1..].to_vec(), here).is_ok());
        assert!(settled(many, here).is_err());
    }
}
