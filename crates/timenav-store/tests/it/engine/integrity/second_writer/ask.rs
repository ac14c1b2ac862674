//! Sending of requests.

use std::pin::Pin;

use timenav_engine::{Answer, OnParadox};

use super::request::Request;
use super::scene::{About, Scene, drive, held, key_of, later, named, sealing_key};
use crate::engine::*;

/// The position in a response, if it has one, and whether it is a repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Given {
    pub(super) ledger: Option<LedgerPosition>,
    pub(super) replayed: bool,
}

pub(super) type Outcome = Result<Given, Refusal>;
pub(super) type Asking = Pin<Box<dyn Future<Output = Outcome> + Send>>;

const fn given(ledger: LedgerPosition, replayed: bool) -> Given {
    Given { ledger: Some(ledger), replayed }
}

/// The response of a request without an idempotency key.
const fn done() -> Given {
    Given { ledger: None, replayed: false }
}

fn of<C>(Answer { ledger, replayed, .. }: Answer<C>) -> Given {
    given(ledger, replayed)
}

/// One request for an engine.
struct Sending {
    engine: Engine,
    scene: Scene,
    key: Option<Idempotency>,
}

impl Request {
    pub(super) fn ask(self, engine: Engine, scene: Scene) -> Asking {
        let key = idempotent(&scene.name, "the request");
        let sending = Sending { engine, scene, key };
        Box::pin(sending.steer(self))
    }

    pub(super) fn erasure(self, scene: &Scene) -> EventErasure {
        let which = match self {
            Self::EraseFound => WhichEvents::Found {
                location_text: "*".to_owned(),
                location: LocationQuery::Anywhere,
                range: TimeRange::everything(),
            },
            Self::EraseUnchanged => {
                WhichEvents::Unchanged { text: "PT0.000001S".to_owned(), span: Span::from_micros(1) }
            }
            _ => WhichEvents::Ids(["a", "b"].map(|one| event_id(&format!("{one}-{}", scene.name))).into()),
        };
        let evaluated_at = (!matches!(which, WhichEvents::Ids(_))).then_some(scene.position);
        EventErasure { timeline: Some(scene.on.clone()), which, include_forks: false, evaluated_at }
    }
}

impl Sending {
    fn on(&self) -> TimelineId {
        self.scene.on.clone()
    }

    fn caller(&self) -> &Caller {
        &self.scene.caller
    }

    async fn steer(self, request: Request) -> Outcome {
        let (engine, caller, key) = (&self.engine, self.caller(), self.key);
        let step = match request {
            Request::Anchor => {
                let request = AnchorRequest { timestamp: None, description: self.scene.name.clone(), fixed: false };
                return engine.set_anchor(caller, Some(self.on()), request, key).await.map(of);
            }
            Request::Return => {
                let anchors = engine.anchors(caller, Some(self.on()), 1, None).await?.anchors;
                let to = &anchors.first().unwrap().1.anchor_id;
                engine.return_to_anchor(caller, Some(self.on()), to, ReturnScope::All, key).await?
            }
            Request::Clock | Request::FireTimers | Request::EndAdvance => {
                engine.change_clock(caller, Some(self.on()), hour(), key).await?
            }
            other => return self.change_events(other).await,
        };
        Ok(given(step.ledger, step.replayed))
    }

    async fn change_events(self, request: Request) -> Outcome {
        let (engine, caller, key, name) = (&self.engine, self.caller(), self.key, &self.scene.name);
        let event = format!("event-of-{name}");
        match request {
            Request::Record => {
                let drafts = ["new", "newer"].map(|new| named_event(&format!("{new}-{name}"), 1, "")).into();
                let recorded = engine.record_events(caller, Some(self.on()), drafts, key).await?;
                Ok(given(recorded.ledger, recorded.replayed))
            }
            Request::Correct => {
                engine.correct_event(caller, Some(self.on()), named_event(&event, 9, ""), None, key).await.map(of)
            }
            Request::UndoImport => {
                let About::Import(import) = self.scene.about else { panic!("an import") };
                let undone = engine.undo_import(caller, Some(self.on()), import, key).await?;
                Ok(given(undone.ledger, undone.replayed))
            }
            Request::Cancel | Request::CancelWithoutParadox => {
                let is_careful = request == Request::CancelWithoutParadox;
                let on_paradox = if is_careful { OnParadox::Refuse } else { OnParadox::Report };
                let cancel = intervention(&event, Effect::Cancel);
                engine.intervene(caller, Some(self.on()), cancel, on_paradox, key).await.map(|(done, _)| of(done))
            }
            other => self.change_contents(other).await,
        }
    }

    async fn change_contents(self, request: Request) -> Outcome {
        let (engine, caller, key, name) = (&self.engine, self.caller(), self.key, &self.scene.name);
        match request {
            Request::EraseReads => {
                let which = WhichReads::Of("admin".to_owned());
                let erasure = ReadErasure { timeline: Some(self.on()), position: self.scene.position, which };
                engine.erase_reads(caller, erasure, key).await.map(of)
            }
            Request::EraseIds | Request::EraseFound | Request::EraseUnchanged => {
                engine.erase_events(caller, request.erasure(&self.scene), key).await.map(of)
            }
            Request::Seal => {
                let data = Plaintext::new(Zeroizing::new("{}".to_owned()));
                engine.encrypt_data(caller, self.scene.on.clone(), data, sealing_key(), key).await.map(of)
            }
            Request::Unseal => {
                let About::Data(data_id) = &self.scene.about else { panic!("a sealed record") };
                engine.decrypt_data(caller, Some(self.on()), data_id.clone(), sealing_key()).await?;
                Ok(done())
            }
            Request::Erase | Request::EraseRecord => {
                let erasure = match &self.scene.about {
                    About::Data(data_id) => ErasureRequest::Data(Some(self.on()), data_id.clone()),
                    _ => ErasureRequest::Event(Some(self.on()), event_id(&format!("event-of-{name}"))),
                };
                engine.erase_data(caller, erasure, key).await.map(of)
            }
            other => self.change_timelines(other).await,
        }
    }

    async fn change_timelines(self, request: Request) -> Outcome {
        let (engine, caller, key) = (&self.engine, self.caller(), self.key);
        let new = timeline_id(&self.scene.name);
        match request {
            Request::Create => engine.create_timeline(caller, new, key).await.map(of),
            Request::Fork => engine.fork_timeline(caller, new, &self.scene.on, None, key).await.map(of),
            Request::End => {
                let end = engine.end_timeline(caller, new, key).await?;
                Ok(given(end.ledger, end.replayed))
            }
            other => self.change_users(other).await,
        }
    }

    async fn change_users(self, request: Request) -> Outcome {
        let (engine, caller, key, name) = (&self.engine, self.caller(), self.key, &self.scene.name);
        match request {
            Request::Permissions => {
                engine.set_access_control(caller, self.scene.on.clone(), readers(["ada"]), key).await.map(of)
            }
            Request::User => engine.create_user(caller, user_id(name), false, key).await.map(of),
            Request::Restrict => {
                let level = RestrictionLevel::ReadOnly;
                engine.restrict_time_travel(caller, user_id(name), level, key).await.map(of)
            }
            Request::RemoveUser => engine.delete_user(caller, user_id(name)).await.map(of),
            Request::Key => {
                let made = engine.create_api_key(caller, key_of("admin", name.clone()), key).await?;
                Ok(given(made.ledger, made.replayed))
            }
            Request::RevokeKey => {
                let About::Key(key_id) = &self.scene.about else { panic!("a key") };
                engine.revoke_api_key(caller, key_id.clone()).await.map(of)
            }
            Request::SetPassword => engine.set_password(caller, new_password(name, SECRET)).await.map(|_| done()),
            Request::LogIn => {
                let session = engine.log_in(user_id(name), password(SECRET), None).await?;
                assert!(session.is_some(), "user and password are right");
                Ok(done())
            }
            Request::Renew => engine.renew_session(caller).await.map(|()| done()),
            Request::LogOut => engine.log_out(caller, false).await.map(|()| done()),
            Request::EndSession => {
                let About::Session(session_id) = &self.scene.about else { panic!("a session") };
                engine.end_session(caller, session_id.clone()).await.map(|()| done())
            }
            other => self.change_timers(other).await,
        }
    }

    async fn change_timers(self, request: Request) -> Outcome {
        let (engine, caller, key) = (&self.engine, self.caller(), self.key);
        let timer_id = TimerId::new("timer").unwrap();
        let firings = || {
            let About::Firings(firings) = &self.scene.about else { panic!("firings") };
            firings.clone()
        };
        let step = match request {
            Request::SetTimer => engine.set_timer(caller, Some(self.on()), (Some(timer_id), timer_at(10)), key).await?,
            Request::ChangeTimer => engine.change_timer(caller, Some(self.on()), (timer_id, later(20)), key).await?,
            Request::CancelTimer => engine.cancel_timer(caller, Some(self.on()), timer_id, key).await?.0,
            Request::Advance => {
                drive(engine, &self.scene.on).await;
                return Ok(done());
            }
            Request::Hold => {
                let (_, _, replayed) = engine.hold_advances(caller, held(&self.on()), key).await?;
                return Ok(Given { ledger: None, replayed });
            }
            Request::Acknowledge => {
                let answer = engine.acknowledge(caller, named(&self.scene.on, firings()), key).await?;
                return Ok(given(answer.ledger.unwrap(), answer.replayed));
            }
            Request::Redeliver => {
                let answer = engine.redeliver(caller, Some(self.on()), firings().remove(0), key).await?;
                return Ok(given(answer.ledger.unwrap(), answer.replayed));
            }
            other => return self.look_after(other).await,
        };
        Ok(given(step.ledger, step.replayed))
    }

    async fn look_after(self, request: Request) -> Outcome {
        let (engine, caller, key, on) = (&self.engine, self.caller(), self.key, &self.scene.on);
        match request {
            Request::Retention => {
                let request =
                    RetentionRequest { reads: RetentionPeriod::Seconds(86_400), refusals: RetentionPeriod::Ever };
                return engine.set_retention(caller, on.clone(), request, key).await.map(of);
            }
            Request::Fault => {
                let About::Stream(stream) = &self.scene.about else { panic!("a stream") };
                let follower_id = stream.follower.as_ref().unwrap().follower_id().clone();
                let fault = Some(Fault { drift_ppm: 200, ..Fault::default() });
                let request = FaultRequest { timeline: Some(on.clone()), follower_id, fault };
                return engine.set_fault(caller, request, key).await.map(of);
            }
            Request::Sweep => {
                let pruned = engine.prune(caller, on.clone(), false, key).await?;
                return Ok(Given { ledger: pruned.ledger, replayed: pruned.replayed });
            }
            Request::AcceptHostClock => {
                let pruned = engine.prune(caller, on.clone(), true, None).await?;
                assert!(pruned.waits.is_none(), "{pruned:?}");
            }
            Request::Read => _ = engine.read_clock(caller, Some(self.on())).await?,
            Request::Refused => match engine.read_clock(caller, Some(self.on())).await {
                Err(Refusal::Denied(_) | Refusal::NotFound { .. }) => {}
                Err(other) => return Err(other),
                Ok(read) => panic!("{read:?}"),
            },
            Request::CountedRefusals => {
                _ = engine.count_refusal("192.0.2.0/24".to_owned(), "read_clock", "unauthenticated");
                engine.log_counted_refusals().await?;
            }
            Request::Scan => {
                let found = engine.detect_tampering(caller, on, Depth::Full, &mut |_| {}).await?;
                assert!(!found.scan.tampering_detected(), "{}", found.scan.details);
            }
            Request::CommitHeads => assert!(engine.commit_heads().await? > 0),
            other => unreachable!("{other:?} is sent elsewhere"),
        }
        Ok(done())
    }
}
