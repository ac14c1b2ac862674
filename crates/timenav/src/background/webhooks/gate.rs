use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::BASE64;
use reqwest::Url;
use timenav_core::ids::TimelineId;
use timenav_engine::{Signer, Webhooks};
use zeroize::Zeroizing;

use crate::background::webhooks::standard_webhooks::secret_bytes;
use crate::config::WebhookTo;

const KEY_LABEL: &str = "secrets of webhooks";

/// The sealing key is derived from the signing key: not in the ledger, and the same for all services on a database.
pub(crate) struct Gate {
    allowed: Vec<WebhookTo>,
    signer: Arc<dyn Signer>,
}

impl Gate {
    pub(crate) fn new(allowed: Vec<WebhookTo>, signer: Arc<dyn Signer>) -> Self {
        Self { allowed, signer }
    }

    pub(super) fn allowed(&self) -> &[WebhookTo] {
        &self.allowed
    }

    /// Fails if the host is not allowed.
    pub(super) fn open(&self, url: &str) -> Result<(Url, WebhookTo), String> {
        const FORM: &str = "write an address like https://hooks.example.com/timenav";
        let url = Url::parse(url).map_err(|error| format!("{error}; {FORM}"))?;
        let to = WebhookTo::of(&url).ok_or(FORM)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("all readers could see a user name or password in the URL; use `secret`".to_owned());
        }
        if url.fragment().is_some() {
            return Err("the part after `#` is never sent; leave it out".to_owned());
        }
        if !self.allowed.contains(&to) {
            let detail =
                format!("this service sends no webhooks to {to}; its operator can allow it with --webhook-allow-host");
            return Err(detail);
        }
        Ok((url, to))
    }

    /// Decrypts a secret of a timeline; `None` if it was sealed with another key.
    pub(super) fn secret(&self, timeline: &TimelineId, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
        let mut bytes = Zeroizing::new(BASE64.decode(sealed.as_bytes()).ok()?);
        let opened = self.key(timeline).open_in_place(nonce(), Aad::from(timeline.as_str()), &mut bytes).ok()?;
        Some(Zeroizing::new(opened.to_vec()))
    }

    fn key(&self, timeline: &TimelineId) -> LessSafeKey {
        let bytes = Zeroizing::new(self.signer.authenticate(KEY_LABEL, timeline.as_str().as_bytes()));
        let key = UnboundKey::new(&AES_256_GCM_SIV, &*bytes);
        LessSafeKey::new(key.expect("a key of AES-256 has 32 bytes"))
    }
}

/// Constant: AES-GCM-SIV stays secure and only reveals which secrets of a timeline are equal (RFC 8452, section 9).
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

impl Webhooks for Gate {
    fn check(&self, url: &str) -> Result<String, String> {
        self.open(url).map(|(url, _)| url.into())
    }

    fn seal(&self, timeline: &TimelineId, secret: &str) -> Result<String, String> {
        let mut bytes = secret_bytes(secret)?;
        let sealed = self.key(timeline).seal_in_place_append_tag(nonce(), Aad::from(timeline.as_str()), &mut *bytes);
        sealed.map_err(|_| "it cannot be sealed".to_owned())?;
        Ok(BASE64.encode(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::ports::FileSigner;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn gate(seed: u8) -> Gate {
        let allowed = ["hooks.example.com", "http://10.0.0.7:3000"].map(|text| text.parse().unwrap());
        Gate::new(allowed.to_vec(), Arc::new(FileSigner::new(&[seed; 32]).unwrap()))
    }

    #[test]
    fn only_listed_webhook_hosts_are_allowed() {
        let gate = gate(1);
        for (url, expected) in [
            ("https://hooks.example.com/in?a=b", "https://hooks.example.com/in?a=b"),
            ("HTTPS://HOOKS.example.com:443", "https://hooks.example.com/"),
            ("http://10.0.0.7:3000/in", "http://10.0.0.7:3000/in"),
            ("http://0x0a.7:3000/in", "http://10.0.0.7:3000/in"),
        ] {
            assert_eq!(gate.check(url).as_deref(), Ok(expected));
        }
        for (url, expected) in [
            ("http://hooks.example.com/in", "no webhooks to http://hooks.example.com:80;"),
            ("https://hooks.example.com:8443", "no webhooks to https://hooks.example.com:8443;"),
            ("https://hooks.example.com.", "no webhooks to https://hooks.example.com.:443;"),
            ("https://hooks.example.com@evil.example/", "a user name or password"),
            ("https://evil.example/?hooks.example.com", "no webhooks to https://evil.example:443;"),
            ("https://hooks.example.com/#in", "leave it out"),
            ("ftp://hooks.example.com/", "write an address like"),
            ("hooks.example.com", "write an address like"),
        ] {
            let refused = gate.check(url).unwrap_err();
            assert!(refused.contains(expected), "{url}: {refused}");
        }
    }

    #[test]
    fn webhook_secret_opens_only_on_its_timeline_and_service() {
        let (one, other) = (gate(1), gate(2));
        let (main, elsewhere) = (TimelineId::new("main").unwrap(), TimelineId::new("elsewhere").unwrap());
        let sealed = one.seal(&main, SECRET).unwrap();
        assert_eq!(one.seal(&main, SECRET).as_ref(), Ok(&sealed), "the same timer may be set again");
        assert_ne!(one.seal(&elsewhere, SECRET).as_ref(), Ok(&sealed));
        let plain = SECRET.strip_prefix("whsec_").unwrap();
        assert!(!sealed.contains(plain), "{sealed}");
        let opened = one.secret(&main, &sealed).unwrap();
        assert_eq!(BASE64.encode(&opened), plain);
        assert!(one.secret(&elsewhere, &sealed).is_none() && other.secret(&main, &sealed).is_none());
        assert!(one.secret(&main, "no base64").is_none());
        for wrong in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjU", "whsec_?"] {
            let refused = one.seal(&main, wrong).unwrap_err();
            assert!(refused.contains("`whsec_` and the base64 of 24 to 64 bytes"), "{refused}");
            assert!(!refused.contains("MfKQ"), "{refused}");
        }
    }
}
