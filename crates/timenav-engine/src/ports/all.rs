use std::sync::Arc;

use tokio::runtime::Handle;

use crate::ports::entropy::Entropy;
use crate::ports::gazetteer::Gazetteer;
use crate::ports::outside::Outside;
use crate::ports::passwords::Passwords;
use crate::ports::signer::Signer;
use crate::ports::vault::Vault;
use crate::ports::wall_clock::WallClock;
use crate::ports::webhooks::Webhooks;

/// The external dependencies of the engine, except the store.
#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn WallClock>,
    pub entropy: Arc<dyn Entropy>,
    pub signer: Arc<dyn Signer>,
    /// The signing key that replaces the current one when an ongoing rotation is finished.
    pub next_signer: Option<Arc<dyn Signer>>,
    pub outside: Arc<dyn Outside>,
    /// Seals and opens data; `None` if the operator disabled that.
    pub vault: Option<Arc<dyn Vault>>,
    /// Hashes and compares passwords; `None` if logins are disabled.
    pub passwords: Option<Arc<dyn Passwords>>,
    /// Resolves place names; `None` if there is no gazetteer.
    pub gazetteer: Option<Arc<dyn Gazetteer>>,
    /// Checks webhook URLs, and seals their secrets; `None` if the service sends none.
    pub webhooks: Option<Arc<dyn Webhooks>>,
    /// Threads for long-running work, which should have a lower priority than those that serve requests and write.
    pub long_work: Handle,
}

/// Returns 16 bytes of a new version 7 UUID: host time, then randomness (RFC 9562 §5.7).
pub(crate) fn uuid(ports: &Ports) -> [u8; 16] {
    let mut random = [0; 10];
    ports.entropy.fill(&mut random);
    let millis = u64::try_from(ports.clock.now().micros().div_euclid(1_000)).unwrap_or(0);
    *uuid::Builder::from_unix_timestamp_millis(millis, &random).as_uuid().as_bytes()
}
