//! What each user can read.

use super::{Accounts, GivenKey, Member, own_key};
use crate::engine::*;

impl Accounts {
    /// Reads everything, and has all users read every live timeline.
    pub(in crate::engine::timelines::whole_lives) async fn check(
        &self,
        home: &Home<'_>,
        caller_access: &[&TimelineId],
    ) {
        let (engine, admin) = (&home.engine, &home.admin);
        let (users, _) = engine.users(admin, 100, None).await.unwrap();
        let others = users.into_iter().filter(|user| user.user_id != admin.user_id);
        let members: BTreeMap<UserId, Member> =
            others.map(|user| (user.user_id, Member { operator: user.operator, level: user.restriction })).collect();
        assert_eq!(members, self.members);
        for timeline in caller_access {
            let (lists, _) = engine.access_control(admin, timeline).await.unwrap();
            assert_eq!(lists, self.lists[*timeline], "{timeline}");
        }
        for key in &self.keys {
            self.check_key(home, key, caller_access).await;
        }
        for session in &self.sessions {
            let authenticated = engine.authenticate_session(&session.secret);
            assert_eq!(authenticated.is_ok(), session.is_live, "{} of {}", session.session_id, session.user);
            if let Ok(caller) = authenticated {
                self.check_looks(home, (&session.user, &caller), caller_access).await;
            }
        }
        for sealed in &self.sealed {
            let opened = engine.decrypt_data(admin, None, sealed.data_id.clone(), own_key()).await;
            if !caller_access.contains(&&sealed.on) {
                // It was deleted with its timeline, and without the timeline's name it is unknown.
                assert!(matches!(opened, Err(Refusal::NotFound { .. })), "{} of {}", sealed.data_id, sealed.on);
                let on = Some(sealed.on.clone());
                let named = engine.decrypt_data(admin, on, sealed.data_id.clone(), own_key()).await;
                assert!(matches!(named, Err(Refusal::Ended { .. })), "{} of {}", sealed.data_id, sealed.on);
            } else if sealed.is_erased {
                assert!(matches!(opened, Err(Refusal::NotFound { .. })), "{}", sealed.data_id);
            } else {
                assert_eq!(opened.unwrap().as_str(), sealed.text, "{}", sealed.data_id);
            }
        }
    }

    async fn check_key(&self, home: &Home<'_>, key: &GivenKey, caller_access: &[&TimelineId]) {
        let (engine, admin) = (&home.engine, &home.admin);
        let (listed, _) = engine.api_keys(admin, Some(key.user.clone()), 1_000, None).await.unwrap();
        let listed = listed.iter().find(|listed| listed.key_id == key.key_id).expect("the key is listed");
        assert_eq!(listed.revoked_at.is_none(), key.is_live, "{} of {}", key.key_id, key.user);
        let Some(secret) = &key.secret else { return };
        let authenticated = engine.authenticate(secret);
        assert_eq!(authenticated.is_ok(), key.is_live, "{} of {}", key.key_id, key.user);
        if let Ok(caller) = authenticated {
            self.check_looks(home, (&key.user, &caller), caller_access).await;
        }
    }

    async fn check_looks(&self, home: &Home<'_>, (user, caller): (&UserId, &Caller), caller_access: &[&TimelineId]) {
        for timeline in caller_access {
            let may_look = self.may_look(user, timeline);
            let read = home.engine.read_clock(caller, Some((*timeline).clone())).await;
            assert_eq!(read.is_ok(), may_look, "{user} as {:?} on {timeline}", self.members.get(user));
        }
    }

    pub(super) fn may_look(&self, user: &UserId, on: &TimelineId) -> bool {
        timenav_core::access::decide(self.caller_access(user, on, None), Demand::Look).is_ok()
    }
}
