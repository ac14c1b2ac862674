//! Seals of the rows of sessions and passwords: what another hand wrote lets nobody in.

use std::sync::Arc;

use crate::directory::{Directory, KeptPassword, Session};
use crate::doors::Doors;
use crate::signer::Signer;

/// Returns the seal of a session's row.
pub(crate) fn session_seal(doors: &Doors, session: &Session) -> [u8; 32] {
    let Session { session_id, hash, user_id, created_at, renewed_at, expires_at, seal: _ } = session;
    let hash = data_encoding::HEXLOWER.encode(hash);
    let text = format!("{session_id} {hash} {user_id} {created_at} {renewed_at} {expires_at}");
    doors.signer.authenticate("session row", text.as_bytes())
}

/// Returns the seal of a password's row, by that signer.
pub(crate) fn password_seal(signer: &dyn Signer, password: &KeptPassword) -> [u8; 32] {
    let KeptPassword { user_id, phc, set_at, seal: _ } = password;
    signer.authenticate("password row", format!("{user_id} {set_at} {phc}").as_bytes())
}

/// Leaves out rows that another hand has written: nobody is let in by them. They stay in the store, where a scan
/// finds them. Where a rotation of the signing key was begun, the next key may have sealed passwords already.
pub(crate) fn leave_out_unsealed(directory: &mut Directory, doors: &Doors) {
    Arc::make_mut(&mut directory.passwords).retain(|user_id, password| {
        let mut signers = std::iter::once(&doors.signer).chain(&doors.next_signer);
        let is_ours = signers.any(|signer| password.seal == password_seal(&**signer, password));
        if !is_ours {
            tracing::error!(%user_id, "the password of `{user_id}` in the database was not written by this service");
        }
        is_ours
    });
    Arc::make_mut(&mut directory.sessions).retain(|session| {
        let is_ours = session.seal == session_seal(doors, session);
        if !is_ours {
            let session_id = &session.session_id;
            tracing::error!(%session_id, "a session in the database was not written by this service");
        }
        is_ours
    });
}
