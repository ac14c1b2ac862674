//! Every call of the client, made with all that it takes, and once more to be sent.
//!
//! Written by `cargo xtask rust-client` from docs/api/openapi.json. Do not edit it.

use serde_json::{Map, Value, json};
use timenav_client::{Client, Error, Instant, Length, Request, Sent, Timer, schemas};

/// A call, made in two ways.
pub(super) struct Every {
    /// The name of the operation.
    pub(super) name: &'static str,
    /// The call with all that it takes.
    pub(super) whole: fn(&Client) -> Result<Request, Error>,
    /// The call with its filters, and as little as it needs in its body, sent.
    pub(super) sent: for<'a> fn(&'a Client) -> Sent<'a, ()>,
    /// Reads an answer as the call does, if that is one in JSON.
    pub(super) reads: Option<fn(Value) -> Result<(), serde_json::Error>>,
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn object() -> Map<String, Value> {
    Map::from_iter([("a".to_owned(), json!(1))])
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<(), serde_json::Error> {
    serde_json::from_value::<T>(value).map(drop)
}

/// Every call.
pub(super) const EVERY: [Every; 86] = [
    Every {
        name: "end_timeline",
        whole: |client| client.end_timeline("what-if").idempotency_key("a-key").request(),
        sent: |client| Box::pin(async move { client.end_timeline("what-if").await.map(drop) }),
        reads: Some(read::<schemas::TimelineEndedBody>),
    },
    Every {
        name: "timeline",
        whole: |client| client.timeline("what-if").request(),
        sent: |client| Box::pin(async move { client.timeline("what-if").await.map(drop) }),
        reads: Some(read::<schemas::TimelineReadBody>),
    },
    Every {
        name: "bundle",
        whole: |client| client.bundle("what-if").request(),
        sent: |client| Box::pin(async move { client.bundle("what-if").await.map(drop) }),
        reads: None,
    },
    Every {
        name: "checkpoint",
        whole: |client| client.checkpoint("what-if").newest(true).request(),
        sent: |client| Box::pin(async move { client.checkpoint("what-if").newest(true).await.map(drop) }),
        reads: Some(read::<schemas::CheckpointBody>),
    },
    Every {
        name: "entries",
        whole: |client| client.entries("what-if").from(0).limit(1).request(),
        sent: |client| Box::pin(async move { client.entries("what-if").from(0).limit(1).await.map(drop) }),
        reads: Some(read::<schemas::EntriesBody>),
    },
    Every {
        name: "head_statement",
        whole: |client| client.head_statement("what-if").request(),
        sent: |client| Box::pin(async move { client.head_statement("what-if").await.map(drop) }),
        reads: Some(read::<schemas::HeadStatementBody>),
    },
    Every {
        name: "proof",
        whole: |client| {
            client.proof("what-if").format(schemas::ProofFormat::Json).from(0).position(0).witnessed(true).request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .proof("what-if")
                    .format(schemas::ProofFormat::Json)
                    .from(0)
                    .position(0)
                    .witnessed(true)
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::ProofBody>),
    },
    Every {
        name: "tile",
        whole: |client| client.tile("what-if", "entries/000.p/1").request(),
        sent: |client| Box::pin(async move { client.tile("what-if", "entries/000.p/1").await.map(drop) }),
        reads: None,
    },
    Every {
        name: "timelines",
        whole: |client| client.timelines().cursor("an example").limit(1).request(),
        sent: |client| Box::pin(async move { client.timelines().limit(1).pages().next().await.map(drop) }),
        reads: Some(read::<schemas::TimelinesBody>),
    },
    Every {
        name: "create_timeline",
        whole: |client| {
            client
                .create_timeline("billing-2027")
                .idempotency_key("a-key")
                .at(7)
                .deliver_webhooks(true)
                .expires_in("2h")
                .fork_of("main")
                .request()
        },
        sent: |client| Box::pin(async move { client.create_timeline("billing-2027").await.map(drop) }),
        reads: Some(read::<schemas::TimelineMadeBody>),
    },
    Every {
        name: "adopt_timeline",
        whole: |client| {
            client
                .adopt_timeline("timenav.local/main+31d8a2e1+AQ…", "")
                .map("alice=alice,bob=robert")
                .rotations("an example")
                .content_type("application/x-ndjson")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .adopt_timeline("timenav.local/main+31d8a2e1+AQ…", "")
                    .map("alice=alice,bob=robert")
                    .rotations("an example")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::AdoptedBody>),
    },
    Every {
        name: "timelines_diff",
        whole: |client| {
            client.timelines_diff("main", "main").cursor("an example").limit(1).of(schemas::DiffWord::Events).request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .timelines_diff("main", "main")
                    .limit(1)
                    .of(schemas::DiffWord::Events)
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::DiffBody>),
    },
    Every {
        name: "access_control",
        whole: |client| client.access_control("main").request(),
        sent: |client| Box::pin(async move { client.access_control("main").await.map(drop) }),
        reads: Some(read::<schemas::AccessControlBody>),
    },
    Every {
        name: "access_logs",
        whole: |client| {
            client
                .access_logs("main", "../..")
                .action("unauthorized_access_attempt")
                .cursor("an example")
                .limit(1)
                .order(schemas::OrderBody::Oldest)
                .user_id("alice")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .access_logs("main", "../..")
                    .action("unauthorized_access_attempt")
                    .limit(1)
                    .order(schemas::OrderBody::Oldest)
                    .user_id("alice")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::AccessLogsBody>),
    },
    Every {
        name: "advance_to_next",
        whole: |client| {
            client
                .advance_to_next()
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .timeline_id("main")
                .until(at("2005-08-29T11:10:00Z"))
                .wait("30s")
                .request()
        },
        sent: |client| Box::pin(async move { client.advance_to_next().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "receipt",
        whole: |client| client.receipt("advance_01m7vsgh52ewg8wycc4r8s9czz").timeline_id("main").wait("30s").request(),
        sent: |client| {
            Box::pin(async move {
                client.receipt("advance_01m7vsgh52ewg8wycc4r8s9czz").timeline_id("main").wait("30s").await.map(drop)
            })
        },
        reads: Some(read::<schemas::ReceiptBody>),
    },
    Every {
        name: "aggregate_events",
        whole: |client| {
            client
                .aggregate_events("time")
                .actor("Katrina")
                .as_of(7)
                .attribute("category", "5")
                .bucket("PT6H")
                .cursor("an example")
                .limit(1)
                .location("bbox:-98,18,-81,31")
                .resolution(0.001)
                .source("https://www.nhc.noaa.gov")
                .text("hurricane")
                .time_range("2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .aggregate_events("time")
                    .actor("Katrina")
                    .as_of(7)
                    .attribute("category", "5")
                    .bucket("PT6H")
                    .limit(1)
                    .location("bbox:-98,18,-81,31")
                    .resolution(0.001)
                    .source("https://www.nhc.noaa.gov")
                    .text("hurricane")
                    .time_range("2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                    .timeline_id("main")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::AggregatedBody>),
    },
    Every {
        name: "anchors",
        whole: |client| client.anchors().cursor("an example").limit(1).timeline_id("main").request(),
        sent: |client| {
            Box::pin(async move { client.anchors().limit(1).timeline_id("main").pages().next().await.map(drop) })
        },
        reads: Some(read::<schemas::AnchorsBody>),
    },
    Every {
        name: "api_keys",
        whole: |client| client.api_keys().cursor("an example").limit(1).user_id("alice").request(),
        sent: |client| {
            Box::pin(async move { client.api_keys().limit(1).user_id("alice").pages().next().await.map(drop) })
        },
        reads: Some(read::<schemas::KeysBody>),
    },
    Every {
        name: "create_api_key",
        whole: |client| {
            client
                .create_api_key()
                .idempotency_key("a-key")
                .expires_at(at("2127-01-01T00:00:00Z"))
                .horizon(schemas::HorizonWord::Clock)
                .known_at(7)
                .label("billing tests")
                .scopes([schemas::KeyScope::TimelineRead])
                .timeline_id("main")
                .user_id("alice")
                .request()
        },
        sent: |client| Box::pin(async move { client.create_api_key().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::KeyMadeBody>),
    },
    Every {
        name: "revoke_api_key",
        whole: |client| client.revoke_api_key("key_01m7vsgh52ewg8wycc4r8s9czz").request(),
        sent: |client| Box::pin(async move { client.revoke_api_key("key_01m7vsgh52ewg8wycc4r8s9czz").await.map(drop) }),
        reads: Some(read::<schemas::KeyStoppedBody>),
    },
    Every {
        name: "certificate",
        whole: |client| client.certificate("key_01h455vb4pex5vsknk084sn02q").from(0).to(1000).request(),
        sent: |client| {
            Box::pin(
                async move { client.certificate("key_01h455vb4pex5vsknk084sn02q").from(0).to(1000).await.map(drop) },
            )
        },
        reads: Some(read::<schemas::CertificateBody>),
    },
    Every {
        name: "check_timeline",
        whole: |client| client.check_timeline("main", "moon-landing").as_of(7).request(),
        sent: |client| Box::pin(async move { client.check_timeline("main", "moon-landing").as_of(7).await.map(drop) }),
        reads: Some(read::<schemas::CheckBody>),
    },
    Every {
        name: "clock",
        whole: |client| client.clock().timeline_id("main").request(),
        sent: |client| Box::pin(async move { client.clock().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "clock_stream",
        whole: |client| {
            client
                .clock_stream()
                .faults(true)
                .follow("web-1")
                .steps(true)
                .timeline_id("main")
                .after("7")
                .timenav_host("7")
                .timenav_process("7")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.clock_stream().faults(true).follow("web-1").steps(true).timeline_id("main").await.map(drop)
            })
        },
        reads: None,
    },
    Every {
        name: "correct_event",
        whole: |client| {
            client
                .correct_event(schemas::CorrectedRecord::new(at("1969-07-20T20:17:40Z"), "moon-landing"))
                .idempotency_key("a-key")
                .if_match(7)
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .correct_event(schemas::CorrectedRecord::new(at("1969-07-20T20:17:40Z"), "moon-landing"))
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::CorrectedBody>),
    },
    Every {
        name: "decrypt_data",
        whole: |client| {
            client
                .decrypt_data("data_01m7vsgh52ewg8wycc4r8s9czz", "a passphrase")
                .idempotency_key("a-key")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .decrypt_data("data_01m7vsgh52ewg8wycc4r8s9czz", "a passphrase")
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::DecryptedBody>),
    },
    Every {
        name: "detect_tampering",
        whole: |client| client.detect_tampering("main").idempotency_key("a-key").scan_depth("full").request(),
        sent: |client| Box::pin(async move { client.detect_tampering("main").await.map(drop) }),
        reads: Some(read::<schemas::TamperingBody>),
    },
    Every {
        name: "encrypt_data",
        whole: |client| {
            client.encrypt_data("main", object(), "a passphrase").idempotency_key("a-key").if_match(7).request()
        },
        sent: |client| Box::pin(async move { client.encrypt_data("main", object(), "a passphrase").await.map(drop) }),
        reads: Some(read::<schemas::EncryptedBody>),
    },
    Every {
        name: "erase_data",
        whole: |client| {
            client
                .erase_data()
                .idempotency_key("a-key")
                .data_id("data_01m7vsgh52ewg8wycc4r8s9czz")
                .event_id("no-such-event")
                .timeline_id("main")
                .request()
        },
        sent: |client| Box::pin(async move { client.erase_data().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ErasedBody>),
    },
    Every {
        name: "erase_events",
        whole: |client| {
            client
                .erase_events()
                .idempotency_key("a-key")
                .dry_run(true)
                .evaluated_at(1)
                .event_ids(["an example"])
                .include_forks(true)
                .location("*")
                .older_than("1h")
                .time_range("../1969-12-31T23:59:59Z")
                .timeline_id("main")
                .request()
        },
        sent: |client| Box::pin(async move { client.erase_events().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ErasedEventsBody>),
    },
    Every {
        name: "erase_reads",
        whole: |client| {
            client
                .erase_reads(0)
                .idempotency_key("a-key")
                .reads([0])
                .timeline_id("main")
                .user_id("nobody-at-all")
                .request()
        },
        sent: |client| Box::pin(async move { client.erase_reads(0).timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ErasedReadsBody>),
    },
    Every {
        name: "record_events",
        whole: |client| {
            client
                .record_events(schemas::EventToRecord::new(at("1969-07-20T20:17:40Z")))
                .timeline_id("main")
                .idempotency_key("a-key")
                .if_match(7)
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .record_events(schemas::EventToRecord::new(at("1969-07-20T20:17:40Z")))
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::RecordedBody>),
    },
    Every {
        name: "event",
        whole: |client| client.event("no-such-event").as_of(7).timeline_id("main").request(),
        sent: |client| {
            Box::pin(async move { client.event("no-such-event").as_of(7).timeline_id("main").await.map(drop) })
        },
        reads: Some(read::<schemas::EventReadBody>),
    },
    Every {
        name: "export_events",
        whole: |client| {
            client
                .export_events()
                .actor("Katrina")
                .as_of(7)
                .attribute("category", "5")
                .columns("attribute.status,attribute.max_wind_kt")
                .format(schemas::ExportFormat::Ndjson)
                .location("bbox:-98,18,-81,31")
                .order(schemas::EventOrder::Oldest)
                .source("https://www.nhc.noaa.gov")
                .text("hurricane")
                .time_range("2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .export_events()
                    .actor("Katrina")
                    .as_of(7)
                    .attribute("category", "5")
                    .columns("attribute.status,attribute.max_wind_kt")
                    .format(schemas::ExportFormat::Ndjson)
                    .location("bbox:-98,18,-81,31")
                    .order(schemas::EventOrder::Oldest)
                    .source("https://www.nhc.noaa.gov")
                    .text("hurricane")
                    .time_range("2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: None,
    },
    Every {
        name: "fast_forward",
        whole: |client| {
            client
                .fast_forward("12h")
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .settle(true)
                .timeline_id("main")
                .wait("30s")
                .request()
        },
        sent: |client| Box::pin(async move { client.fast_forward("12h").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "firings",
        whole: |client| {
            client
                .firings()
                .advance_id("advance_01m7vsgh52ewg8wycc4r8s9czz")
                .cursor("an example")
                .limit(1)
                .queue("billing")
                .state(schemas::FiringStateWord::Pending)
                .timeline_id("main")
                .timer_id("renew-42")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .firings()
                    .advance_id("advance_01m7vsgh52ewg8wycc4r8s9czz")
                    .limit(1)
                    .queue("billing")
                    .state(schemas::FiringStateWord::Pending)
                    .timeline_id("main")
                    .timer_id("renew-42")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::FiringsBody>),
    },
    Every {
        name: "acknowledge_firings",
        whole: |client| {
            client
                .acknowledge_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"])
                .idempotency_key("a-key")
                .lease_ids(["an example"])
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.acknowledge_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"]).timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::FiringsSettledBody>),
    },
    Every {
        name: "extend_firings",
        whole: |client| {
            client
                .extend_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"])
                .idempotency_key("a-key")
                .lease_ids(["an example"])
                .timeline_id("main")
                .ttl("60s")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.extend_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"]).timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::ExtendedBody>),
    },
    Every {
        name: "fail_firings",
        whole: |client| {
            client
                .fail_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"])
                .idempotency_key("a-key")
                .lease_ids(["an example"])
                .reason("the card was declined")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.fail_firings(["firing_01m7vsgh52ewg8wycc4r8s9czz"]).timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::FiringsSettledBody>),
    },
    Every {
        name: "firings_stream",
        whole: |client| client.firings_stream().queue("billing").timeline_id("main").after("7").request(),
        sent: |client| {
            Box::pin(async move { client.firings_stream().queue("billing").timeline_id("main").await.map(drop) })
        },
        reads: None,
    },
    Every {
        name: "redeliver_firing",
        whole: |client| {
            client
                .redeliver_firing("firing_01m7vsgh52ewg8wycc4r8s9czz")
                .idempotency_key("a-key")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.redeliver_firing("firing_01m7vsgh52ewg8wycc4r8s9czz").timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::FiringsSettledBody>),
    },
    Every {
        name: "followers",
        whole: |client| client.followers().timeline_id("main").request(),
        sent: |client| Box::pin(async move { client.followers().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::FollowersBody>),
    },
    Every {
        name: "confirm_clock",
        whole: |client| {
            client
                .confirm_clock("follower_01kan5hcbje6e8xbnhpb5dvnfa", 7)
                .idempotency_key("a-key")
                .step(2)
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.confirm_clock("follower_01kan5hcbje6e8xbnhpb5dvnfa", 7).timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::ConfirmedBody>),
    },
    Every {
        name: "set_fault",
        whole: |client| {
            client
                .set_fault("follower_01m7vsgh52ewg8wycc4r8s9czz", schemas::FaultBody::new())
                .idempotency_key("a-key")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .set_fault("follower_01m7vsgh52ewg8wycc4r8s9czz", schemas::FaultBody::new())
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::FaultSetBody>),
    },
    Every {
        name: "hand_over",
        whole: |client| client.hand_over("billing-2027").idempotency_key("a-key").request(),
        sent: |client| Box::pin(async move { client.hand_over("billing-2027").await.map(drop) }),
        reads: Some(read::<schemas::HandedOverBody>),
    },
    Every {
        name: "import_events",
        whole: |client| {
            client
                .import_events("")
                .dry_run(true)
                .format(schemas::FileFormat::Ndjson)
                .map("time=time,lat=lat,lon=lon,description={status}")
                .timeline_id("main")
                .if_match(7)
                .content_type("application/cloudevents-batch+json")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .import_events("")
                    .dry_run(true)
                    .format(schemas::FileFormat::Ndjson)
                    .map("time=time,lat=lat,lon=lon,description={status}")
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::ImportedBody>),
    },
    Every {
        name: "leases",
        whole: |client| client.leases().timeline_id("main").request(),
        sent: |client| Box::pin(async move { client.leases().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::LeasesBody>),
    },
    Every {
        name: "hold_advances",
        whole: |client| {
            client
                .hold_advances("a person looks at the invoices")
                .idempotency_key("a-key")
                .lease_id("lease_01kan5hcbje6e8xbnhpb5dvnfa")
                .timeline_id("main")
                .ttl("2m")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.hold_advances("a person looks at the invoices").timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::HeldBody>),
    },
    Every {
        name: "release_lease",
        whole: |client| {
            client
                .release_lease("lease_01m7vsgh52ewg8wycc4r8s9czz")
                .idempotency_key("a-key")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.release_lease("lease_01m7vsgh52ewg8wycc4r8s9czz").timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::ReleasedBody>),
    },
    Every {
        name: "limits",
        whole: |client| client.limits().request(),
        sent: |client| Box::pin(async move { client.limits().await.map(drop) }),
        reads: Some(read::<schemas::LimitsBody>),
    },
    Every {
        name: "log_in",
        whole: |client| client.log_in("alice", "correct horse battery").idempotency_key("a-key").request(),
        sent: |client| Box::pin(async move { client.log_in("alice", "correct horse battery").await.map(drop) }),
        reads: Some(read::<schemas::SessionBody>),
    },
    Every {
        name: "log_out",
        whole: |client| client.log_out().idempotency_key("a-key").everywhere(true).request(),
        sent: |client| Box::pin(async move { client.log_out().await.map(drop) }),
        reads: Some(read::<schemas::StatusBody>),
    },
    Every {
        name: "manipulate_event",
        whole: |client| {
            client
                .manipulate_event("moon-landing", "delay by 2h", at("1969-07-16T13:00:00Z"))
                .idempotency_key("a-key")
                .causes(["no-such-event"])
                .dry_run(true)
                .effect(schemas::EffectRequest::Cancel)
                .on_paradox(schemas::OnParadoxWord::Tell)
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .manipulate_event("moon-landing", "delay by 2h", at("1969-07-16T13:00:00Z"))
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::ManipulatedBody>),
    },
    Every {
        name: "monitor_events",
        whole: |client| {
            client
                .monitor_events("bbox:-98,18,-81,31", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                .actor("Katrina")
                .as_of(7)
                .attribute("category", "5")
                .cursor("an example")
                .limit(1)
                .order(schemas::EventOrder::Oldest)
                .overlapping(true)
                .source("https://www.nhc.noaa.gov")
                .text("hurricane")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .monitor_events("bbox:-98,18,-81,31", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                    .actor("Katrina")
                    .as_of(7)
                    .attribute("category", "5")
                    .limit(1)
                    .order(schemas::EventOrder::Oldest)
                    .overlapping(true)
                    .source("https://www.nhc.noaa.gov")
                    .text("hurricane")
                    .timeline_id("main")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::EventsBody>),
    },
    Every {
        name: "monitor_paradox",
        whole: |client| {
            client
                .monitor_paradox("main", "../..")
                .as_of(7)
                .cursor("an example")
                .include(["an example"])
                .kinds(["an example"])
                .limit(1)
                .speed_kmh(900.0)
                .tolerance("90s")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .monitor_paradox("main", "../..")
                    .as_of(7)
                    .include(["an example"])
                    .kinds(["an example"])
                    .limit(1)
                    .speed_kmh(900.0)
                    .tolerance("90s")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::ParadoxesBody>),
    },
    Every {
        name: "pause_time",
        whole: |client| {
            client
                .pause_time()
                .idempotency_key("a-key")
                .if_match(7)
                .followers(["an example"])
                .timeline_id("main")
                .wait("5s")
                .request()
        },
        sent: |client| Box::pin(async move { client.pause_time().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "prune",
        whole: |client| client.prune("main").idempotency_key("a-key").accept_host_clock(true).dry_run(true).request(),
        sent: |client| Box::pin(async move { client.prune("main").await.map(drop) }),
        reads: Some(read::<schemas::PrunedBody>),
    },
    Every {
        name: "claim_firings",
        whole: |client| {
            client
                .claim_firings("default")
                .idempotency_key("a-key")
                .ack_timeout("30s")
                .max(10)
                .timeline_id("main")
                .wait("20s")
                .request()
        },
        sent: |client| Box::pin(async move { client.claim_firings("default").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClaimedBody>),
    },
    Every {
        name: "restrict_time_travel",
        whole: |client| {
            client
                .restrict_time_travel("alice", schemas::RestrictionLevel::FullAccess)
                .idempotency_key("a-key")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.restrict_time_travel("alice", schemas::RestrictionLevel::FullAccess).await.map(drop)
            })
        },
        reads: Some(read::<schemas::RestrictedBody>),
    },
    Every {
        name: "restrictions",
        whole: |client| client.restrictions().request(),
        sent: |client| Box::pin(async move { client.restrictions().await.map(drop) }),
        reads: Some(read::<schemas::RestrictionsBody>),
    },
    Every {
        name: "resume_time",
        whole: |client| {
            client
                .resume_time()
                .idempotency_key("a-key")
                .if_match(7)
                .followers(["an example"])
                .timeline_id("main")
                .wait("5s")
                .request()
        },
        sent: |client| Box::pin(async move { client.resume_time().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "return_to_anchor",
        whole: |client| {
            client
                .return_to_anchor("anchor_01m7vsgh52ewg8wycc4r8s9czz")
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .scope(schemas::Scope::Clock)
                .timeline_id("main")
                .wait("5s")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client.return_to_anchor("anchor_01m7vsgh52ewg8wycc4r8s9czz").timeline_id("main").await.map(drop)
            })
        },
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "rewind",
        whole: |client| {
            client
                .rewind("12h")
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .refire(true)
                .timeline_id("main")
                .wait("5s")
                .request()
        },
        sent: |client| Box::pin(async move { client.rewind("12h").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "scan_events",
        whole: |client| {
            client
                .scan_events("New Orleans", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                .idempotency_key("a-key")
                .actor("Katrina")
                .as_of(7)
                .attribute("category", "5")
                .cursor("an example")
                .limit(1)
                .order(schemas::EventOrder::Oldest)
                .source("https://www.nhc.noaa.gov")
                .text("hurricane")
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .scan_events("New Orleans", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")
                    .timeline_id("main")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::ScannedBody>),
    },
    Every {
        name: "session",
        whole: |client| client.session().request(),
        sent: |client| Box::pin(async move { client.session().await.map(drop) }),
        reads: Some(read::<schemas::SessionBody>),
    },
    Every {
        name: "sessions",
        whole: |client| client.sessions().user_id("alice").request(),
        sent: |client| Box::pin(async move { client.sessions().user_id("alice").await.map(drop) }),
        reads: Some(read::<schemas::SessionsBody>),
    },
    Every {
        name: "end_session",
        whole: |client| client.end_session("session_01m7vsgh52ewg8wycc4r8s9czz").request(),
        sent: |client| {
            Box::pin(async move { client.end_session("session_01m7vsgh52ewg8wycc4r8s9czz").await.map(drop) })
        },
        reads: Some(read::<schemas::StatusBody>),
    },
    Every {
        name: "set_access_control",
        whole: |client| {
            client
                .set_access_control("main", schemas::PermissionsRequest::new())
                .idempotency_key("a-key")
                .if_match(7)
                .request()
        },
        sent: |client| {
            Box::pin(
                async move { client.set_access_control("main", schemas::PermissionsRequest::new()).await.map(drop) },
            )
        },
        reads: Some(read::<schemas::AccessControlSetBody>),
    },
    Every {
        name: "set_anchor",
        whole: |client| {
            client
                .set_anchor()
                .idempotency_key("a-key")
                .if_match(7)
                .description("before the levees fail")
                .fixed(true)
                .timeline_id("main")
                .timestamp(at("2005-08-29T11:10:00Z"))
                .request()
        },
        sent: |client| Box::pin(async move { client.set_anchor().timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::AnchorSetBody>),
    },
    Every {
        name: "set_password",
        whole: |client| {
            client
                .set_password("correct horse battery")
                .idempotency_key("a-key")
                .current_password("an example")
                .user_id("alice")
                .request()
        },
        sent: |client| Box::pin(async move { client.set_password("correct horse battery").await.map(drop) }),
        reads: Some(read::<schemas::PasswordSetBody>),
    },
    Every {
        name: "set_rate",
        whole: |client| {
            client
                .set_rate(60.0)
                .idempotency_key("a-key")
                .if_match(7)
                .followers(["an example"])
                .timeline_id("main")
                .wait("5s")
                .request()
        },
        sent: |client| Box::pin(async move { client.set_rate(60.0).timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "set_retention",
        whole: |client| {
            client
                .set_retention("main")
                .idempotency_key("a-key")
                .reads(Length::from("P90D"))
                .refusals(Length::from("P365D"))
                .request()
        },
        sent: |client| Box::pin(async move { client.set_retention("main").await.map(drop) }),
        reads: Some(read::<schemas::RetentionSetBody>),
    },
    Every {
        name: "spend",
        whole: |client| {
            client
                .spend("20m")
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .since(at("2005-08-29T11:10:00Z"))
                .timeline_id("main")
                .wait("30s")
                .request()
        },
        sent: |client| Box::pin(async move { client.spend("20m").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "stream",
        whole: |client| {
            client
                .stream()
                .actor("Katrina")
                .attribute("category", "5")
                .include(["an example"])
                .kinds(["an example"])
                .source("https://www.nhc.noaa.gov")
                .speed_kmh(900.0)
                .text("hurricane")
                .timeline_id("main")
                .tolerance("90s")
                .topics(["an example"])
                .after("7")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .stream()
                    .actor("Katrina")
                    .attribute("category", "5")
                    .include(["an example"])
                    .kinds(["an example"])
                    .source("https://www.nhc.noaa.gov")
                    .speed_kmh(900.0)
                    .text("hurricane")
                    .timeline_id("main")
                    .tolerance("90s")
                    .topics(["an example"])
                    .await
                    .map(drop)
            })
        },
        reads: None,
    },
    Every {
        name: "timer_moments",
        whole: |client| {
            client
                .timer_moments("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD")
                .after(at("2027-01-31T09:00:00Z"))
                .limit(1)
                .starts(at("2027-01-31T09:00:00Z"))
                .timeline_id("main")
                .zone("Europe/Paris")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .timer_moments("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD")
                    .after(at("2027-01-31T09:00:00Z"))
                    .limit(1)
                    .starts(at("2027-01-31T09:00:00Z"))
                    .timeline_id("main")
                    .zone("Europe/Paris")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::TimerMomentsBody>),
    },
    Every {
        name: "timers",
        whole: |client| {
            client
                .timers()
                .cursor("an example")
                .limit(1)
                .state(schemas::StandingWord::Armed)
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .timers()
                    .limit(1)
                    .state(schemas::StandingWord::Armed)
                    .timeline_id("main")
                    .pages()
                    .next()
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::TimersBody>),
    },
    Every {
        name: "set_timer",
        whole: |client| {
            client
                .set_timer(&Timer::at(at("2028-02-29T09:00:00Z")).id("no-such-timer"))
                .idempotency_key("a-key")
                .if_match(7)
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move {
                client
                    .set_timer(&Timer::at(at("2028-02-29T09:00:00Z")).id("no-such-timer"))
                    .timeline_id("main")
                    .await
                    .map(drop)
            })
        },
        reads: Some(read::<schemas::TimerSetBody>),
    },
    Every {
        name: "cancel_timer",
        whole: |client| client.cancel_timer("no-such-timer").idempotency_key("a-key").timeline_id("main").request(),
        sent: |client| {
            Box::pin(async move { client.cancel_timer("no-such-timer").timeline_id("main").await.map(drop) })
        },
        reads: Some(read::<schemas::TimerSetBody>),
    },
    Every {
        name: "timer",
        whole: |client| client.timer("no-such-timer").timeline_id("main").request(),
        sent: |client| Box::pin(async move { client.timer("no-such-timer").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::TimerShownBody>),
    },
    Every {
        name: "change_timer",
        whole: |client| {
            client
                .change_timer("no-such-timer")
                .idempotency_key("a-key")
                .at(at("2027-02-28T09:00:00Z"))
                .cron(schemas::CronRequest::new("0 9 * * MON-FRI"))
                .deliver(schemas::DeliverRequest::new(schemas::DeliverTo::Queue))
                .every(schemas::EveryRequest::new("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD"))
                .misfire(schemas::MisfireWord::All)
                .order_key("customer-7".to_owned())
                .payload(json!({ "a": 1 }))
                .timeline_id("main")
                .request()
        },
        sent: |client| {
            Box::pin(async move { client.change_timer("no-such-timer").timeline_id("main").await.map(drop) })
        },
        reads: Some(read::<schemas::TimerSetBody>),
    },
    Every {
        name: "travel",
        whole: |client| {
            client
                .travel(at("2005-08-29T11:10:00Z"))
                .idempotency_key("a-key")
                .if_match(7)
                .dry_run(true)
                .followers(["an example"])
                .location("New Orleans")
                .refire(true)
                .settle(true)
                .timeline_id("main")
                .wait("30s")
                .request()
        },
        sent: |client| {
            Box::pin(async move { client.travel(at("2005-08-29T11:10:00Z")).timeline_id("main").await.map(drop) })
        },
        reads: Some(read::<schemas::ClockBody>),
    },
    Every {
        name: "undo_import",
        whole: |client| client.undo_import("17-420-403").idempotency_key("a-key").timeline_id("main").request(),
        sent: |client| Box::pin(async move { client.undo_import("17-420-403").timeline_id("main").await.map(drop) }),
        reads: Some(read::<schemas::ImportUndoneBody>),
    },
    Every {
        name: "users",
        whole: |client| client.users().cursor("an example").limit(1).request(),
        sent: |client| Box::pin(async move { client.users().limit(1).pages().next().await.map(drop) }),
        reads: Some(read::<schemas::UsersBody>),
    },
    Every {
        name: "create_user",
        whole: |client| client.create_user("alice").idempotency_key("a-key").operator(true).request(),
        sent: |client| Box::pin(async move { client.create_user("alice").await.map(drop) }),
        reads: Some(read::<schemas::UserChangedBody>),
    },
    Every {
        name: "delete_user",
        whole: |client| client.delete_user("nobody-at-all").request(),
        sent: |client| Box::pin(async move { client.delete_user("nobody-at-all").await.map(drop) }),
        reads: Some(read::<schemas::UserChangedBody>),
    },
];
