//! The ways out of the engine.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::entropy::Entropy;
use crate::gazetteer::Gazetteer;
use crate::outside::Outside;
use crate::passwords::Passwords;
use crate::signer::Signer;
use crate::vault::Vault;
use crate::wall_clock::WallClock;
use crate::webhook_door::Webhooks;

/// The ways out of the engine, except the store.
#[derive(Clone)]
pub struct Doors {
    /// Reads host time.
    pub clock: Arc<dyn WallClock>,
    /// Gives random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// Signs checkpoints.
    pub signer: Arc<dyn Signer>,
    /// Takes the place of the one that signs, once a rotation that was begun is finished.
    pub next_signer: Option<Arc<dyn Signer>>,
    /// Keeps checkpoints outside the database.
    pub outside: Arc<dyn Outside>,
    /// Seals and opens data; `None` where the operator switched that off.
    pub vault: Option<Arc<dyn Vault>>,
    /// Hashes passwords and compares them; `None` where nobody can log in.
    pub passwords: Option<Arc<dyn Passwords>>,
    /// Knows places by their names; `None` where none is known.
    pub gazetteer: Option<Arc<dyn Gazetteer>>,
    /// Knows where webhooks may go, and seals their secrets; `None` where the service sends none.
    pub webhooks: Option<Arc<dyn Webhooks>>,
    /// Threads for work that takes long. They should give way to those that answer requests and write.
    pub long_work: Handle,
}

/// Returns 16 bytes of a new version 7 UUID: host time, then randomness (RFC 9562 §5.7).
pub(crate) fn uuid(doors: &Doors) -> [u8; 16] {
    let mut random = [0; 10];
    doors.entropy.fill(&mut random);
    let millis = u64::try_from(doors.clock.now().micros().div_euclid(1_000)).unwrap_or(0);
    *uuid::Builder::from_unix_timestamp_millis(millis, &random).as_uuid().as_bytes()
}
