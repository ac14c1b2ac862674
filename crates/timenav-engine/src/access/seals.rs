//! Authentication codes of single session and password rows, used before the head statement of `system` signed all
//! rows. An old database is trusted by them until it has a statement.

use timenav_core::directory::{Directory, Session, StoredPassword};

use crate::ports::all::Ports;
use crate::ports::signer::Signer;
use crate::ports::store::CarriedSeals;

fn session_seal(ports: &Ports, session: &Session) -> [u8; 32] {
    let Session { session_id, hash, user_id, created_at, renewed_at, expires_at } = session;
    let hash = data_encoding::HEXLOWER.encode(hash);
    let text = format!("{session_id} {hash} {user_id} {created_at} {renewed_at} {expires_at}");
    ports.signer.authenticate("session row", text.as_bytes())
}

fn password_seal(signer: &dyn Signer, password: &StoredPassword) -> [u8; 32] {
    let StoredPassword { user_id, phc, set_at } = password;
    signer.authenticate("password row", format!("{user_id} {set_at} {phc}").as_bytes())
}

/// Returns whether the service has written every row of passwords and sessions. During a rotation of the signing key,
/// the next key may have sealed passwords already.
pub(crate) fn are_ours(directory: &Directory, seals: &CarriedSeals, ports: &Ports) -> bool {
    let mut are_ours = true;
    for (user_id, password) in directory.passwords.iter() {
        let mut signers = std::iter::once(&ports.signer).chain(&ports.next_signer);
        let seal = seals.passwords.get(user_id);
        if !signers.any(|signer| seal == Some(&password_seal(&**signer, password))) {
            tracing::error!(%user_id, "the password of `{user_id}` in the database was not written by this service");
            are_ours = false;
        }
    }
    for session in directory.sessions.values() {
        if seals.sessions.get(&session.session_id) != Some(&session_seal(ports, session)) {
            let session_id = &session.session_id;
            tracing::error!(%session_id, "the session `{session_id}` in the database was not written by this service");
            are_ours = false;
        }
    }
    are_ours
}
