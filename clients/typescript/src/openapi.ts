// Written by scripts/generate.mjs from docs/api/openapi.json. Do not edit it.

export interface paths {
    "/timeline/{timeline_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a timeline */
        get: operations["timeline"];
        put?: never;
        post?: never;
        /** Ends a timeline: it can no longer be read, and its name cannot be reused */
        delete: operations["end_timeline"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/bundle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Exports a timeline as one file that can be verified offline */
        get: operations["bundle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the latest signed checkpoint */
        get: operations["checkpoint"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads ledger entries with their salts and payloads */
        get: operations["entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/head": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the latest head statement */
        get: operations["head_statement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Proves that an entry is in the ledger, or that the ledger only grew */
        get: operations["proof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timeline/{timeline_id}/tile/{tile}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one tile of the tree, or one bundle of entries (`entries/…`) */
        get: operations["tile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timelines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the timelines that the caller can read */
        get: operations["timelines"];
        put?: never;
        /** Creates a timeline, with the caller as its admin */
        post: operations["create_timeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timelines/adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Adopts a timeline from another service */
        post: operations["adopt_timeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/timelines/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the events, timers or firings that differ between two related timelines: one forked from the other, or both from the same one */
        get: operations["timelines_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/access-control": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the permissions of a timeline */
        get: operations["access_control"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/access-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the access log of a timeline */
        get: operations["access_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/advance-to-next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves the clock to the next moment of a timer */
        post: operations["advance_to_next"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/advances/{advance_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells what fired while the clock moved, and what came of it */
        get: operations["receipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/aggregate-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts events by time, cell, actor, source or attribute */
        get: operations["aggregate_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/anchors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists anchors in the order they were set, inherited ones first */
        get: operations["anchors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the keys of a user, without their secrets */
        get: operations["api_keys"];
        put?: never;
        /** Creates an API key and shows it once */
        post: operations["create_api_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes an API key */
        delete: operations["revoke_api_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Certifies what a key with a horizon has seen */
        get: operations["certificate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Checks whether an event occurs */
        get: operations["check_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the clock */
        get: operations["clock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clock/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Watches the clock: one message for each change */
        get: operations["clock_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/correct-event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Corrects an event */
        post: operations["correct_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/decrypt-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decrypts stored data with its key */
        post: operations["decrypt_data"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/detect-tampering": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Scans a timeline for tampering */
        post: operations["detect_tampering"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/encrypt-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Encrypts and stores data that only its key opens */
        post: operations["encrypt_data"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erase-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erases sealed data, or the content of an event */
        post: operations["erase_data"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erase-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erases events with all their versions */
        post: operations["erase_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erase-reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erases single reads from the access log */
        post: operations["erase_reads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Records one or more events, all or none */
        post: operations["record_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads an event with its versions and interventions */
        get: operations["event"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/export-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Exports the events of a place and time as a file */
        get: operations["export_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fast-forward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves the clock forward by a duration */
        post: operations["fast_forward"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists firings in the order in which they fell due */
        get: operations["firings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that firings are done */
        post: operations["acknowledge_firings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keeps claimed firings for longer */
        post: operations["extend_firings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that an attempt at firings failed */
        post: operations["fail_firings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Observes firings: one message for each thing that happens to one. It claims none */
        get: operations["firings_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/firings/{firing_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delivers a firing again that has failed */
        post: operations["redeliver_firing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/followers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists who follows the clock under a name, and which change each has confirmed */
        get: operations["followers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/followers/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirms that a follower has applied a change of the clock */
        post: operations["confirm_clock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/followers/{follower_id}/fault": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Has a follower show the clock wrong, or right again */
        post: operations["set_fault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hand-over": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hands a timeline over to another service: it becomes read-only here */
        post: operations["hand_over"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/import-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Imports the events of a file, as many as possible */
        post: operations["import_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists leases that hold the clock */
        get: operations["leases"];
        put?: never;
        /** Holds the clock at its instant while it is moved past timers */
        post: operations["hold_advances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a lease that holds the clock */
        post: operations["release_lease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists every limit by name */
        get: operations["limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/log-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a session and sets its cookie */
        post: operations["log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/log-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the session, or all sessions of the user */
        post: operations["log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/manipulate-event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Intervenes in an event */
        post: operations["manipulate_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/monitor-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Finds events by place and time */
        get: operations["monitor_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/monitor-paradox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the paradoxes of a timeline */
        get: operations["monitor_paradox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pause-time": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses the clock */
        post: operations["pause_time"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Prunes contents whose retention has passed */
        post: operations["prune"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Claims firings of a queue, and waits for some */
        post: operations["claim_firings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restrict-time-travel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restricts a user's time travel */
        post: operations["restrict_time_travel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restrictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists users whose time travel is restricted */
        get: operations["restrictions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/resume-time": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes the clock from where it was paused */
        post: operations["resume_time"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/return-to-anchor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the clock, events and timers to an anchor */
        post: operations["return_to_anchor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rewind": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves the clock back by a duration */
        post: operations["rewind"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scan-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds events with their effects, interventions and paradoxes */
        post: operations["scan_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the caller and their session */
        get: operations["session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the sessions of a user */
        get: operations["sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends a session */
        delete: operations["end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/set-access-control": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets the permissions of a timeline */
        post: operations["set_access_control"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/set-anchor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets an anchor at a moment that you can return to */
        post: operations["set_anchor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/set-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets a password and ends the user's other sessions */
        post: operations["set_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/set-rate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes the rate of the clock without moving it */
        post: operations["set_rate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/set-retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets how long the contents of reads and refusals are kept */
        post: operations["set_retention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves a paused clock by what somebody's work cost */
        post: operations["spend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Watches a timeline: one message for each change in the chosen topics */
        get: operations["stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timer-moments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells when a timer would fire by a rule, without setting one */
        get: operations["timer_moments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists timers, the next ones first */
        get: operations["timers"];
        put?: never;
        /** Sets a timer that fires when the clock shows its moment */
        post: operations["set_timer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timers/{timer_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a timer and its latest firings */
        get: operations["timer"];
        put?: never;
        post?: never;
        /** Cancels a timer */
        delete: operations["cancel_timer"];
        options?: never;
        head?: never;
        /** Changes an armed timer */
        patch: operations["change_timer"];
        trace?: never;
    };
    "/v1/travel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves the clock to a date, time and place */
        post: operations["travel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/undo-import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels the events of an import and frees their ids */
        post: operations["undo_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists users */
        get: operations["users"];
        put?: never;
        /** Creates a user */
        post: operations["create_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes a user and revokes their API keys */
        delete: operations["delete_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The current permissions. Use their `ETag` for `If-Match`. */
        AccessControlBody: {
            /** @description The lists. */
            permissions: components["schemas"]["PermissionsBody"];
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description The new permissions. */
        AccessControlRequest: {
            /** @description The lists. A list you give replaces the current one; a list you leave out stays as it is. */
            permissions: components["schemas"]["PermissionsRequest"];
            /**
             * @description The timeline.
             * @example main
             */
            timeline_id: string;
        };
        /** @description Permissions that were set. */
        AccessControlSetBody: {
            /**
             * @description Users in a list you gave whose permission there has expired. Only if there are any; to let them in again, give
             *     another end, or `null` for none.
             */
            expired_users?: string[];
            /** @description Its place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description Listed users that do not exist yet. Only for operators, and only if there are any. */
            unknown_users?: string[];
        };
        /** @description One page of the access log, in the requested order. */
        AccessLogsBody: {
            /**
             * @description Reads among the entries that this page looked at which no longer say who read, in the same order. The filter by user
             *     does not apply to them; a filter by another action than `read` or `reads` leaves them out.
             */
            gone: components["schemas"]["GapBody"][];
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The entries. */
            logs: components["schemas"]["LogBody"][];
            /**
             * @description The cursor of the next page, if there is one. With filters, a page can be short or empty and still have a next
             *     one.
             */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Which firings are done. */
        AcknowledgeRequest: {
            /** @description The firings. */
            firing_ids: string[];
            /**
             * @description The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else has
             *     claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
             */
            lease_ids?: string[] | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description A timeline that was adopted. */
        AdoptedBody: {
            /** @description SHA-256 of the file: 64 hexadecimal digits. */
            bundle_sha256: string;
            /**
             * Format: int64
             * @description Entries signed by the other service.
             */
            entries: number;
            /**
             * Format: int64
             * @description Contents that were erased or pruned there, each listed by an entry.
             */
            erased: number;
            /**
             * @description If it is a fork, the timelines it descends from, oldest first, by the names that responses show. They came with
             *     it and cannot be queried themselves.
             */
            layers: string[];
            /** @description The adoption's place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /**
             * Format: int64
             * @description Of these, contents of reads and refusals that were pruned there, as the retention of the timeline allowed.
             */
            let_go: number;
            /** @description The name of its ledger at the other service. Users from there are shown with it. */
            origin: string;
            /**
             * Format: int64
             * @description How many key rotations were followed from the key that you gave.
             */
            rotations_followed: number;
            /**
             * Format: int64
             * @description Sealed records that came with it, including erased ones. Their keys remain with those who sealed them.
             */
            sealed: number;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description An advance that moves a clock, and stands still at each timer on its way. */
        AdvanceBody: {
            /** @description The id of the advance. */
            advance_id: string;
            /**
             * Format: int64
             * @description How many instants it has come to.
             */
            step: number;
            /** @description Where it goes. */
            to: string;
        };
        /** @description Counts of events. */
        AggregatedBody: {
            /**
             * Format: int64
             * @description The last position of the ledger that counts, the same in all answers of one count.
             */
            as_of?: number | null;
            /** @description What makes a group. */
            by: string;
            /** @description How many events were counted: of 1 000 000 at most, or of 100 000 where each has to be read. */
            count: number;
            /**
             * @description The time of the last event that was looked at, where there may be more after it. Those may happen at the same
             *     moment: to continue, ask with `next_cursor`, not from this time.
             */
            counted_to?: string | null;
            /** @description The groups that have events: those of `time` in their order, others with the largest first. */
            groups: components["schemas"]["GroupBody"][];
            /** @description How many groups have events. Where they are more than there are in `groups`, the others are left out. */
            groups_count: number;
            /** @description Whether there may be more to count, with `next_cursor`. */
            has_more: boolean;
            /** @description Whether there are groups that were not counted, as there were too many. */
            is_groups_cut: boolean;
            /** @description How the location was understood. */
            location_resolved: components["schemas"]["ResolvedBody"];
            /** @description The cursor that counts what comes after it, if there may be more. */
            next_cursor?: string | null;
            /** @description What was counted, in a sentence. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description How many of them have nothing to be grouped by, and are in no group. */
            without_count: number;
        };
        /** @description One anchor. */
        AnchorBody: {
            /** @description The id of the anchor. */
            anchor_id: string;
            /** @description What it is for. */
            description: string;
            /** @description Whether changing history before it is a paradox. */
            fixed: boolean;
            /**
             * Format: int64
             * @description Position of the ledger entry that set it.
             */
            position: number;
            /** @description Host time when it was set. */
            set_at: string;
            /** @description The timeline of that ledger: the requested one, or one it was forked from. */
            timeline_id: string;
            /** @description The moment it marks. */
            timestamp: string;
        };
        /** @description An anchor that was set. */
        AnchorSetBody: {
            /** @description The id of the anchor. */
            anchor_id: string;
            /** @description Its place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The moment it marks. */
            timestamp: string;
        };
        /** @description One page of anchors. */
        AnchorsBody: {
            /** @description The anchors. */
            anchors: components["schemas"]["AnchorBody"][];
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A state that holds while an event lasts. */
        AssertionRecord: {
            /**
             * @description The property. It has one value at a time.
             * @example state
             */
            predicate: string;
            /**
             * @description What it is about.
             * @example door-7
             */
            subject: string;
            /**
             * @description The value: any JSON except `null`, at most 1,024 bytes.
             * @example open
             */
            value: string | number | boolean | Record<string, unknown> | unknown[];
        };
        /** @description Who has confirmed a change, and who has not. */
        AwaitedBody: {
            /** @description Each of those who were waited for. */
            followers: components["schemas"]["AwaitedFollowerBody"][];
            /**
             * Format: int64
             * @description The generation of the clock that they were to confirm.
             */
            generation: number;
            /**
             * @description `true` while the services that share the database do not all know what followers of others confirm: those that are
             *     connected to them were not waited for. `timenav upgrade --finish` ends it.
             */
            only_here?: boolean;
            /** @description `confirmed` if everybody has who was waited for, `waiting` if somebody had not when the answer was sent. */
            state: string;
        };
        /** @description Whether a follower has confirmed a change. */
        AwaitedFollowerBody: {
            /** @description Host time at which it confirmed that. */
            confirmed_at?: string | null;
            /** @description The id of the follower, if there is or was one. */
            follower_id?: string | null;
            /**
             * Format: int64
             * @description The newest generation of the clock that it has confirmed.
             */
            generation?: number | null;
            /** @description What it is called. */
            name: string;
            /**
             * @description `confirmed`; `behind` if it is there and has not; `away` if it went away and has not come back; `absent` if nobody
             *     follows under that name.
             */
            state: string;
            /**
             * @description How long it took from the change until it confirmed it, as a duration of host time; from the opening of its stream
             *     if that was later. Absent if it has not, or if the clock has changed again.
             */
            took?: string | null;
            /** @description Who follows. */
            user_id?: string | null;
        };
        /** @description One stretch of a histogram. */
        BucketBody: {
            /** @description How many events occur in it. */
            count: number;
            /** @description When it starts. */
            from: string;
        };
        /** @description An event that may be meant. */
        CandidateBody: {
            /** @description Its id. */
            event_id: string;
            /** @description Its name, if it has one. */
            name?: string | null;
        };
        /** @description A cause of an event. */
        CauseBody: {
            /** @description 1 for a direct cause, more for causes of causes. */
            distance: number;
            /** @description The event or intervention. */
            event_id: string;
            /** @description Whether the event requires it through a chain of required causes. */
            required: boolean;
            /** @description `stands`, `cancelled`, or `unrecorded`. */
            standing: string;
        };
        /**
         * @description How strong a cause is.
         * @enum {string}
         */
        CauseKindWord: "requires" | "contributes";
        /** @description A cause and how strong it was. */
        CauseObject: {
            /** @description The event that was the cause. */
            event_id: string;
            kind?: components["schemas"]["CauseKindWord"] | null;
        };
        /**
         * @description A cause: the id of a required event, or an object with more detail.
         * @example launch-of-apollo-11
         */
        CauseRecord: string | components["schemas"]["CauseObject"];
        /** @description What a key with a horizon has seen. */
        CertificateBody: {
            /** @description The signed note that says all this. */
            certificate: string;
            /** @description The signed note over the tree that the proofs lead to. */
            checkpoint: string;
            /** @description The entries with reads of the key. */
            entries: components["schemas"]["CertifiedEntryBody"][];
            /**
             * Format: int64
             * @description The position of the first entry.
             */
            from: number;
            /**
             * Format: int64
             * @description Entries and single reads that were let go or erased, so that they no longer tell whose they were. Nothing is
             *     certified of them.
             */
            gone: number;
            /** @description `clock` if the key sees no later than the clock shows. */
            horizon?: string | null;
            /** @description The key. */
            key_id: string;
            /**
             * Format: int64
             * @description The last position of the ledger that the key knows.
             */
            known_at?: number | null;
            /**
             * Format: int64
             * @description No read could see what the ledger learned after this position; absent where the key read nothing.
             */
            latest_position?: number | null;
            /**
             * @description No read could see anything later than this, on the timeline's clock; absent where the key sees past the clock, or
             *     read nothing.
             */
            latest_time?: string | null;
            /** @description What is not certified, in words. */
            not_certified: string[];
            /**
             * Format: int64
             * @description Other keys and sessions of the user that work now. What was read with them is not certified.
             */
            others: number;
            /**
             * Format: int64
             * @description How often the key read in these entries.
             */
            reads: number;
            /**
             * Format: int64
             * @description How often it was refused.
             */
            refusals: number;
            /** @description What is certified, in a sentence. */
            status: string;
            /**
             * Format: int64
             * @description How many of these reads were streams, which continued after their entry.
             */
            streams: number;
            /** @description The timeline that the key is bound to. */
            timeline_id: string;
            /**
             * Format: int64
             * @description The position of the last entry.
             */
            to: number;
            /** @description Its user. */
            user_id: string;
            /** @description The key that verifies both notes, as C2SP signed-note writes keys. */
            verifier_key: string;
        };
        /** @description An entry with reads of the key. */
        CertifiedEntryBody: {
            /** @description The hashes from the leaf to the root of the checkpoint: 64 hexadecimal digits each. */
            hashes: string[];
            /** @description The text whose hash is the leaf. */
            leaf: string;
            /**
             * Format: int64
             * @description Its position in the ledger.
             */
            position: number;
            /** @description Each read of the key, shown to be among those that the entry tells of, and no other. */
            reads: components["schemas"]["ReadProofBody"][];
        };
        /** @description What to change of a timer. */
        ChangeTimerRequest: {
            /**
             * Format: timestamp
             * @description The moment at which the timer fires.
             * @example 2027-02-28T09:00:00Z
             */
            at?: string | null;
            cron?: components["schemas"]["CronRequest"] | null;
            deliver?: components["schemas"]["DeliverRequest"] | null;
            every?: components["schemas"]["EveryRequest"] | null;
            misfire?: components["schemas"]["MisfireWord"] | null;
            /**
             * @description Firings with the same key are worked on one after the other; null removes it.
             * @example customer-7
             */
            order_key?: string | null;
            /** @description Any JSON, handed to whoever claims a firing: at most 65,536 bytes. */
            payload?: unknown;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description Whether an event occurs, with its causes and consequences. */
        CheckBody: {
            /** @description Events with similar ids or names: a few. */
            candidates: components["schemas"]["CandidateBody"][];
            /** @description Its direct and indirect causes, nearest first: at most 100. */
            causes: components["schemas"]["CauseBody"][];
            /** @description Whether every cause it requires, directly or indirectly, occurs. */
            causes_intact: boolean;
            /** @description What depends on it. */
            consequences: components["schemas"]["ConsequencesBody"];
            /** @description What the clock shows. */
            current_time: string;
            event?: components["schemas"]["EventBody"] | null;
            /** @description The id of the event, if there is one. */
            event_id?: string | null;
            /** @description What was done to it, in order. */
            interventions: components["schemas"]["InterventionBody"][];
            /** @description Whether there is such an event and it is not cancelled. */
            occurs: boolean;
            /** @description Paradoxes that involve it, not counting observations: at most 100. */
            paradoxes: components["schemas"]["ParadoxBody"][];
            proof?: components["schemas"]["ProofBody"] | null;
            /** @description Its relation to the timeline's clock: `past`, `present` or `future`. */
            relation?: string | null;
            /** @description `true` if no event was found, but not all descriptions were searched. Absent otherwise. */
            search_cut_off?: boolean | null;
            /** @description What was searched for. */
            significant_event: string;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Something that was checked. */
        CheckedBody: {
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /**
             * @description What.
             * @example entries
             */
            what: string;
        };
        /** @description A signed checkpoint (C2SP tlog-checkpoint), and how to verify it. */
        CheckpointBody: {
            /** @description The signed note. */
            checkpoint: string;
            /** @description The name of the ledger and of the key. */
            origin: string;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the ledger.
             */
            size: number;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The key that verifies it, as C2SP signed-note writes keys. */
            verifier_key: string;
        };
        /** @description What to claim. */
        ClaimRequest: {
            /**
             * Format: length-of-time
             * @description For how long the firings are yours, in host time. Defaults to `30s`; after that others are given them.
             * @example 30s
             */
            ack_timeout?: string | null;
            /**
             * @description The maximum number of firings. Defaults to 1.
             * @example 10
             */
            max?: number | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long to wait if there is none, in host time. Defaults to `0s`; at most `60s`.
             * @example 20s
             */
            wait?: string | null;
        };
        /** @description Firings in your hands. */
        ClaimedBody: {
            /** @description The firings, in the order in which they fell due. */
            firings: components["schemas"]["ClaimedFiringBody"][];
            /** @description The queue. */
            queue: string;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A firing in your hands. */
        ClaimedFiringBody: {
            /**
             * Format: int32
             * @description Which attempt this is, from 1.
             */
            attempt: number;
            /** @description The moment at which it fell due. */
            due: string;
            /** @description The id of the firing: the same however often it is handed out. */
            firing_id: string;
            /**
             * Format: int64
             * @description The generation of the clock.
             */
            generation: number;
            /**
             * @description Which claim this is: whoever claims the firing after you has another one. Send it with what you say of the firing,
             *     in `lease_ids`.
             */
            lease_id: string;
            /** @description Host time until which it is yours. */
            leased_until: string;
            /** @description Firings with the same key are worked on one after the other. */
            order_key?: string | null;
            /** @description What the timer was set with. */
            payload: unknown;
            /**
             * Format: int32
             * @description The round of the timer.
             */
            round: number;
            /**
             * Format: int64
             * @description How many instants the advance has come to. Absent outside an advance.
             */
            step?: number | null;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The timer that fired. */
            timer_id: string;
        };
        /**
         * @description A clock, with everything needed to compute its time without another request: while it runs, `origin_virtual + (host
         *     time - origin_host) * rate`; while it is paused, `origin_virtual`.
         */
        ClockBody: {
            advance?: components["schemas"]["AdvanceBody"] | null;
            /** @description After a return: the anchor. */
            anchor_id?: string | null;
            /** @description With `origin_boot`: which start of which kernel that is, as a hash of its boot id. */
            boot_id?: string | null;
            /** @description What the clock shows. */
            current_time: string;
            fault?: components["schemas"]["FaultBody"] | null;
            /** @description In the messages of a stream with `follow`: the id of the follower, to confirm changes under. */
            follower_id?: string | null;
            followers?: components["schemas"]["AwaitedBody"] | null;
            /**
             * Format: int64
             * @description Counts changes of this clock.
             */
            generation: number;
            lag?: components["schemas"]["LagBody"] | null;
            ledger?: components["schemas"]["LedgerBody"] | null;
            /** @description The clock's time in the zone of its location, if that is known. */
            local_time?: string | null;
            /** @description The place last traveled to. */
            location: string | null;
            location_resolved?: components["schemas"]["ResolvedBody"] | null;
            /**
             * @description After a move by a duration or to the next moment: where it took the clock. `current_time` is another moment if the
             *     clock runs, or if somebody else has moved it while timers on the way were waited for.
             */
            new_time?: string | null;
            /**
             * @description When a clock is read or watched: what the boot clock (`CLOCK_BOOTTIME`) of the service's kernel showed at
             *     `origin_host`, in seconds with nine decimal places; negative if that was before the kernel started. Programs on the
             *     same kernel compute the clock from it to the nanosecond. Absent where the system has no such clock, for a key with a
             *     horizon, and while the host's clock is behind the last entry of the timeline.
             */
            origin_boot?: string | null;
            /** @description Host time since which the clock has been running or paused. */
            origin_host: string;
            /** @description Virtual time at `origin_host`. */
            origin_virtual: string;
            /** @description After a pause: the moment the clock was paused at. */
            paused_at?: string | null;
            /**
             * Format: double
             * @description Virtual seconds per host second.
             */
            rate: number;
            settled?: components["schemas"]["SettledBody"] | null;
            /** @description Whether the clock is `running` or `paused`. */
            state: string;
            /** @description A sentence that says what happened. Absent if the clock is part of a larger response. */
            status?: string | null;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The timeline of the clock. */
            timeline_id: string;
            would_change?: components["schemas"]["WouldChangeBody"] | null;
            would_disarm?: components["schemas"]["WouldDisarmBody"] | null;
            would_fire?: components["schemas"]["WouldFireBody"] | null;
            would_rearm?: components["schemas"]["WouldRearmBody"] | null;
            would_supersede?: components["schemas"]["WouldSupersedeBody"] | null;
        };
        /** @description What two timelines share: the beginning of a ledger, and everything before it. */
        CommonBody: {
            /**
             * Format: int64
             * @description How many of its entries both share.
             */
            size: number;
            /** @description The timeline whose ledger it is. */
            timeline_id: string;
        };
        /** @description Which change was applied. */
        ConfirmRequest: {
            /**
             * @description The follower, as the messages of its stream name it.
             * @example follower_01kan5hcbje6e8xbnhpb5dvnfa
             */
            follower_id: string;
            /**
             * Format: int64
             * @description The generation of the clock that was applied. It confirms all before.
             * @example 7
             */
            generation: number;
            /**
             * Format: int64
             * @description The step of the advance of that generation that was applied, as `advance` of the message names it. It confirms all
             *     before. Defaults to none.
             * @example 2
             */
            step?: number | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description What a follower has confirmed. */
        ConfirmedBody: {
            /** @description The follower. */
            follower_id: string;
            /**
             * Format: int64
             * @description The newest generation that it has confirmed.
             */
            generation: number;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description What depends on an event. */
        ConsequencesBody: {
            /** @description How many events require it, directly or indirectly, counted up to 10,000. */
            count: number;
            /** @description Some of them, nearest first: at most 100. */
            event_ids: string[];
        };
        /** @description An event that was corrected. */
        CorrectedBody: {
            /** @description Whether this created a new version. */
            changed: boolean;
            /** @description The event as it stands. */
            event: components["schemas"]["EventContentBody"];
            /** @description The event's id. */
            event_id: string;
            /** @description The correction's place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description The complete event, as it should have been recorded. */
        CorrectedRecord: {
            /**
             * @description Who took part.
             * @example [
             *       "Neil Armstrong",
             *       "Buzz Aldrin"
             *     ]
             */
            actors?: string[] | null;
            /**
             * @description States that hold while the event lasts. Two events that give the same predicate of the same subject different
             *     values at the same time contradict each other.
             */
            asserts?: components["schemas"]["AssertionRecord"][] | null;
            /** @description Anything else, at most 65,536 bytes of JSON. */
            attributes?: Record<string, unknown> | null;
            /** @description Its causes. A cause can be recorded later than its effect. */
            causes?: components["schemas"]["CauseRecord"][] | null;
            /**
             * @description What happened, in a sentence or two. Defaults to empty.
             * @example The lunar module Eagle lands on the moon.
             */
            description?: string | null;
            /**
             * Format: timestamp
             * @description When it ended: a timestamp like `time`.
             * @example 1969-07-21T17:54:01Z
             */
            end_time?: string | null;
            /**
             * @description The id of the event.
             * @example moon-landing
             */
            event_id: string;
            geo?: components["schemas"]["GeoRecord"] | null;
            kind?: components["schemas"]["EventKindWord"] | null;
            /**
             * @description Where, in words.
             * @example Sea of Tranquility
             */
            location?: string | null;
            /**
             * @description A short title.
             * @example Moon landing
             */
            name?: string | null;
            precision?: components["schemas"]["PrecisionWord"] | null;
            /**
             * Format: int64
             * @description The source's own sequence number for the record, without gaps.
             */
            sequence?: number | null;
            /** @description Where the record came from. */
            source?: string | null;
            /**
             * Format: timestamp
             * @description When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
             *     need a sign and six digits.
             * @example 1969-07-20T20:17:40Z
             */
            time: string;
        };
        /** @description An event as it should have been recorded. */
        CorrectionRequest: {
            /** @description The complete event: a field you leave out here is removed. Its `event_id` identifies it. */
            event: components["schemas"]["CorrectedRecord"];
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description A cron expression. */
        CronBody: {
            /** @description The expression. */
            expression: string;
            /** @description The time zone whose clocks it reads. */
            zone: string;
        };
        /** @description A cron expression. */
        CronRequest: {
            /**
             * @description Five fields: minute, hour, day of month, month, weekday.
             * @example 0 9 * * MON-FRI
             */
            expression: string;
            /**
             * @description The time zone whose clocks it reads. Defaults to `UTC`.
             * @example Europe/Paris
             */
            zone?: string | null;
        };
        /** @description What to open. */
        DecryptRequest: {
            /** @description The record. */
            data_id: string;
            /**
             * Format: password
             * @description The key it was sealed with.
             */
            encryption_key: string;
            /**
             * @description The timeline, as an extra check. Defaults to the record's own.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description What was opened. */
        DecryptedBody: {
            /** @description What was sealed. */
            data: Record<string, unknown>;
            /** @description A sentence that says what happened. */
            status: string;
        };
        /** @description Where firings go. */
        DeliverBody: {
            /** @description The event that each firing records, without an id and a time of its own. */
            event?: Record<string, unknown>;
            /** @description The queue that they wait in. */
            queue?: string | null;
            /** @description Whether these requests are signed. Only with `url`. */
            signed?: boolean | null;
            /** @description `queue`, `timeline` or `webhook`. */
            to: string;
            /** @description Where each firing is sent. */
            url?: string | null;
        };
        /** @description Where firings go. */
        DeliverRequest: {
            /**
             * @description The event that each firing records, with `to: timeline`. Its id is that of the firing, its time the moment, and its
             *     `source`, if none is given, `timer:` with the id of the timer. At most 8,192 bytes.
             */
            event?: components["schemas"]["TimerEvent"];
            /**
             * @description The queue, with `to: queue`. Defaults to `default`.
             * @example billing
             */
            queue?: string | null;
            /**
             * @description What these requests are signed under, as Standard Webhooks writes it: `whsec_` and the base64 of 24 to 64 bytes. It is
             *     never shown again. Without it, they are not signed.
             */
            secret?: string | null;
            /**
             * @description `queue`: they wait for whoever claims them. `timeline`: each is recorded as an event of the timeline at once.
             *     `webhook`: the service sends each to an address.
             */
            to: components["schemas"]["DeliverTo"];
            /**
             * @description Where each firing is sent in a POST, with `to: webhook`: an address that the operator allows.
             * @example https://hooks.example.com/timenav
             */
            url?: string | null;
        };
        /**
         * @description How firings are delivered.
         * @enum {string}
         */
        DeliverTo: "queue" | "timeline" | "webhook";
        /**
         * @description One page of what differs: events by id, timers by name, or firings by moment. A page can be short and still have a next
         *     one.
         */
        DiffBody: {
            /** @description One timeline. */
            a: components["schemas"]["DiffSideBody"];
            /** @description The other. */
            b: components["schemas"]["DiffSideBody"];
            /** @description What both share. */
            common: components["schemas"]["CommonBody"];
            /** @description The events. Empty if something else is compared. */
            differences: components["schemas"]["DifferenceBody"][];
            /**
             * @description The firings that came to other outcomes since the timelines went apart. Absent unless firings are compared. They are
             *     as they were when the page was read.
             */
            firings?: components["schemas"]["FiringDifferenceBody"][] | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /**
             * @description The timers that are armed on one of the timelines at least, and differ. Absent unless timers are compared. They are
             *     as they were when the page was read.
             */
            timers?: components["schemas"]["TimerDifferenceBody"][] | null;
        };
        /** @description A timeline being compared. */
        DiffSideBody: {
            /**
             * Format: int64
             * @description The last ledger position that all pages take into account.
             */
            as_of?: number | null;
            /** @description The timeline. */
            timeline_id: string;
        };
        /**
         * @description What of two timelines is compared.
         * @enum {string}
         */
        DiffWord: "events" | "timers" | "firings";
        /** @description An event that differs. */
        DifferenceBody: {
            a?: components["schemas"]["EventBody"] | null;
            b?: components["schemas"]["EventBody"] | null;
            /** @description `only_in_a`, `only_in_b`, or `differs`. */
            change: string;
            /** @description The event's id. */
            event_id: string;
        };
        /** @description A ledger in the database that does not continue what this service has seen of it. */
        DivergedBody: {
            /** @description `rollback` or `fork`. */
            code: string;
            /** @description What is in the database. */
            found: components["schemas"]["DivergedTreeBody"];
            /** @description What this service has seen. */
            seen: components["schemas"]["DivergedTreeBody"];
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description The tree of a ledger. */
        DivergedTreeBody: {
            /** @description The root, in hex. */
            root: string;
            /**
             * Format: int64
             * @description The number of entries.
             */
            size: number;
        };
        /** @description What an intervention does, as it was understood. */
        EffectBody: {
            /** @description The new description. */
            description?: string | null;
            /** @description How much later or earlier. */
            duration?: string | null;
            /** @description `cancel`, `restore`, `delay`, `advance`, `move`, `relocate`, `describe`, `rename` or `note`. */
            kind: string;
            /** @description The new place. */
            location?: string | null;
            /** @description The new name. */
            name?: string | null;
            /** @description The new moment. */
            time?: string | null;
        };
        /** @description Something caused by an event. */
        EffectOfBody: {
            /** @description The event or intervention. */
            event_id: string;
            /** @description `requires` or `contributes`. */
            kind: string;
        };
        /** @description What is done to an event. */
        EffectRequest: {
            /** @enum {string} */
            kind: "cancel";
        } | {
            /** @enum {string} */
            kind: "restore";
        } | {
            /**
             * Format: length-of-time
             * @description How much.
             * @example 2h
             */
            duration: string;
            /** @enum {string} */
            kind: "delay";
        } | {
            /**
             * Format: length-of-time
             * @description How much.
             * @example P1D
             */
            duration: string;
            /** @enum {string} */
            kind: "advance";
        } | {
            /** @enum {string} */
            kind: "move";
            /**
             * Format: timestamp
             * @description When.
             * @example 1969-07-20T20:17:40Z
             */
            time: string;
        } | {
            geo?: components["schemas"]["GeoRecord"] | null;
            /** @enum {string} */
            kind: "relocate";
            /** @description Where, in words. */
            location: string;
        } | {
            /** @description The new description. */
            description: string;
            /** @enum {string} */
            kind: "describe";
        } | {
            /** @enum {string} */
            kind: "rename";
            /** @description The new name. */
            name: string;
        } | {
            /** @enum {string} */
            kind: "note";
        };
        /** @description What to seal. */
        EncryptRequest: {
            /** @description What to seal: an object of at most 1,048,576 bytes. */
            data: Record<string, unknown>;
            /**
             * Format: password
             * @description The key: 32 random bytes as 64 hexadecimal digits or 44 characters of base64, or a passphrase. The service does
             *     not keep it.
             */
            encryption_key: string;
            /**
             * @description The timeline.
             * @example main
             */
            timeline_id: string;
        };
        /** @description A record that was created. */
        EncryptedBody: {
            /** @description The id of the record. */
            data_id: string;
            /** @description The algorithm. */
            encryption: string;
            /** @description Its place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description One page of entries in order of position, and the checkpoint to verify them against. */
        EntriesBody: {
            /** @description The signed note over size and root. */
            checkpoint: string;
            /** @description The entries. */
            entries: components["schemas"]["LedgerEntryBody"][];
            fork?: components["schemas"]["ForkBody"] | null;
            /** @description Whether there is another page. */
            has_more: boolean;
            /**
             * Format: int64
             * @description The position to continue `from`; absent at the end of the ledger. Each page you read adds a ledger entry, so
             *     stop at the size you verify against.
             */
            next?: number | null;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the ledger.
             */
            size: number;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The key that verifies it, as C2SP signed-note writes keys. */
            verifier_key: string;
        };
        /** @description What to erase: events by `event_ids`, by `location` and `time_range`, or by `older_than`. */
        EraseEventsRequest: {
            /** @description Whether to report what would be erased without erasing it. */
            dry_run?: boolean | null;
            /**
             * Format: int64
             * @description The `evaluated_at` from a dry run. Required to erase by `location` or `older_than`.
             */
            evaluated_at?: number | null;
            /** @description The events: at most 1,000, fewer if there are forks. As a list, or separated by commas. */
            event_ids?: string[] | string | null;
            /** @description Whether to erase the events from forks of this timeline too. You must be an admin of each. */
            include_forks?: boolean | null;
            /**
             * @description Where the events to erase are, as in `monitor-events`. Inherited events are not included.
             * @example *
             */
            location?: string | null;
            /**
             * Format: whole-seconds
             * @description Events that have not changed for this long in host time, including cancelled ones. No months or years.
             */
            older_than?: string | null;
            /**
             * Format: time-range
             * @description When they occur, in virtual time: `<start>/<end>`, both ends included.
             * @example ../1969-12-31T23:59:59Z
             */
            time_range?: string | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        } | {
            evaluated_at?: null;
            event_ids: unknown[] | string;
            location?: null;
            older_than?: null;
        } | {
            event_ids?: null;
            location: string;
            older_than?: null;
            time_range: string;
        } | {
            event_ids?: null;
            location?: null;
            older_than: string;
            time_range?: null;
        };
        /** @description Which reads to erase: by `reads` or by `user_id`. */
        EraseReadsRequest: {
            /**
             * Format: int64
             * @description The `position` of the reads in the access log.
             */
            position: number;
            /** @description The `index` of each read in the access log. */
            reads?: number[] | null;
            /**
             * @description The timeline; can be `system`. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /** @description Whose reads to erase. */
            user_id?: string | null;
        } | {
            reads: unknown[];
            user_id?: null;
        } | {
            reads?: null;
            user_id: string;
        };
        /** @description What to erase: a record, or an event. */
        EraseRequest: {
            /** @description The record. */
            data_id?: string | null;
            /** @description The event. */
            event_id?: string | null;
            /**
             * @description The event's timeline. Defaults to the API key's. Not needed for a record.
             * @example main
             */
            timeline_id?: string | null;
        } | {
            data_id: string;
            event_id?: null;
        } | {
            data_id?: null;
            event_id: string;
        };
        /** @description What was erased. */
        ErasedBody: {
            /** @description The erasure's place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /**
             * Format: int64
             * @description Position of the entry whose content is gone. Its leaf and all proofs remain.
             */
            position: number;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description What was erased, or would be. */
        ErasedEventsBody: {
            /** @description Whether nothing was erased. */
            dry_run: boolean;
            /**
             * Format: int64
             * @description After a dry run: the size of the ledger it looked at.
             */
            evaluated_at?: number | null;
            /** @description After a dry run: the ids of the first events. */
            event_ids?: string[] | null;
            /**
             * Format: int64
             * @description How many events were erased by this request, or would be in total.
             */
            events_count: number;
            /** @description After a dry run: the forks of this timeline, and their forks. */
            forks?: components["schemas"]["ErasureForkBody"][] | null;
            /**
             * Format: int64
             * @description How many forks had changes of their own erased.
             */
            forks_count?: number | null;
            ledger?: components["schemas"]["LedgerBody"] | null;
            /**
             * Format: int64
             * @description How many selected events are left: send the same request again.
             */
            left: number;
            /**
             * Format: int64
             * @description How many responses kept for an `Idempotency-Key` were deleted.
             */
            outcomes_count?: number | null;
            /**
             * Format: int64
             * @description How many payloads were erased, including those of forks.
             */
            payloads_count?: number | null;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Reads that were erased. */
        ErasedReadsBody: {
            /**
             * Format: int64
             * @description How many reads were erased.
             */
            erased: number;
            /** @description The erasure's place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /**
             * Format: int64
             * @description How many of that entry are left.
             */
            left: number;
            /**
             * Format: int64
             * @description The position of their entry. Its leaf and all proofs remain.
             */
            position: number;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A timeline that goes on from the one that is erased on. */
        ErasureForkBody: {
            /** @description Whether you may erase there. */
            may_erase: boolean;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description One event as it was recorded, and where. */
        EventBody: components["schemas"]["EventContentBody"] & {
            /**
             * Format: int64
             * @description Position of the ledger entry that created this version.
             */
            position: number;
            /** @description The timeline of that ledger, if this timeline was forked from it. */
            timeline_id?: string | null;
        };
        /** @description One event as it was recorded. */
        EventContentBody: {
            /** @description Who took part. */
            actors?: string[] | null;
            /** @description States that hold while it lasts. */
            asserts?: components["schemas"]["AssertionRecord"][] | null;
            /** @description Anything else. */
            attributes?: Record<string, unknown> | null;
            /** @description What it happened because of. */
            causes?: components["schemas"]["CauseObject"][] | null;
            /** @description What happened. */
            description: string;
            /** @description When it ended. */
            end_time?: string | null;
            /** @description The event's id. */
            event_id: string;
            geo?: components["schemas"]["GeoRecord"] | null;
            /** @description Whether it was `observed`, is `scheduled` or `predicted`. */
            kind?: string | null;
            /** @description Where, in words. */
            location?: string | null;
            /** @description A short title. */
            name?: string | null;
            /** @description How precisely the times are known. */
            precision?: string | null;
            /**
             * Format: int64
             * @description The source's own number for the record.
             */
            sequence?: number | null;
            /** @description Where the record came from. */
            source?: string | null;
            /** @description When it happened or started. */
            time: string;
        };
        /**
         * @description How the event is known.
         * @enum {string}
         */
        EventKindWord: "observed" | "scheduled" | "predicted";
        /**
         * @description Which events come first.
         * @enum {string}
         */
        EventOrder: "oldest" | "newest";
        /** @description One event with its history. */
        EventReadBody: {
            /**
             * Format: int64
             * @description The last position of the timeline's own ledger that is taken into account.
             */
            as_of?: number | null;
            event?: components["schemas"]["EventBody"] | null;
            /** @description The event's id. */
            event_id: string;
            /** @description What was done to it, in order. */
            interventions: components["schemas"]["InterventionBody"][];
            /** @description Whether it occurs, that is, is not cancelled. */
            stands: boolean;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description All its versions, oldest first. */
            versions: components["schemas"]["VersionBody"][];
        };
        /** @description An event to record. A field that is `null` counts as left out. */
        EventRecord: {
            /**
             * @description Who took part.
             * @example [
             *       "Neil Armstrong",
             *       "Buzz Aldrin"
             *     ]
             */
            actors?: string[] | null;
            /**
             * @description States that hold while the event lasts. Two events that give the same predicate of the same subject different
             *     values at the same time contradict each other.
             */
            asserts?: components["schemas"]["AssertionRecord"][] | null;
            /** @description Anything else, at most 65,536 bytes of JSON. */
            attributes?: Record<string, unknown> | null;
            /** @description Its causes. A cause can be recorded later than its effect. */
            causes?: components["schemas"]["CauseRecord"][] | null;
            /**
             * @description What happened, in a sentence or two. Defaults to empty.
             * @example The lunar module Eagle lands on the moon.
             */
            description?: string | null;
            /**
             * Format: timestamp
             * @description When it ended: a timestamp like `time`.
             * @example 1969-07-21T17:54:01Z
             */
            end_time?: string | null;
            /**
             * @description The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or
             *     digit. Defaults to a generated id.
             * @example moon-landing
             */
            event_id?: string | null;
            geo?: components["schemas"]["GeoRecord"] | null;
            kind?: components["schemas"]["EventKindWord"] | null;
            /**
             * @description Where, in words.
             * @example Sea of Tranquility
             */
            location?: string | null;
            /**
             * @description A short title.
             * @example Moon landing
             */
            name?: string | null;
            precision?: components["schemas"]["PrecisionWord"] | null;
            /**
             * Format: int64
             * @description The source's own sequence number for the record, without gaps.
             */
            sequence?: number | null;
            /** @description Where the record came from. */
            source?: string | null;
            /**
             * Format: timestamp
             * @description When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
             *     need a sign and six digits.
             * @example 1969-07-20T20:17:40Z
             */
            time: string;
        };
        /** @description An event to record. A field that is `null` counts as left out. */
        EventToRecord: {
            /**
             * @description Who took part.
             * @example [
             *       "Neil Armstrong",
             *       "Buzz Aldrin"
             *     ]
             */
            actors?: string[] | null;
            /**
             * @description States that hold while the event lasts. Two events that give the same predicate of the same subject different
             *     values at the same time contradict each other.
             */
            asserts?: components["schemas"]["AssertionRecord"][] | null;
            /** @description Anything else, at most 65,536 bytes of JSON. */
            attributes?: Record<string, unknown> | null;
            /** @description Its causes. A cause can be recorded later than its effect. */
            causes?: components["schemas"]["CauseRecord"][] | null;
            /**
             * @description What happened, in a sentence or two. Defaults to empty.
             * @example The lunar module Eagle lands on the moon.
             */
            description?: string | null;
            /**
             * Format: timestamp
             * @description When it ended: a timestamp like `time`.
             * @example 1969-07-21T17:54:01Z
             */
            end_time?: string | null;
            /**
             * @description The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or
             *     digit. Defaults to a generated id.
             * @example moon-landing
             */
            event_id?: string | null;
            geo?: components["schemas"]["GeoRecord"] | null;
            kind?: components["schemas"]["EventKindWord"] | null;
            /**
             * @description Where, in words.
             * @example Sea of Tranquility
             */
            location?: string | null;
            /**
             * @description A short title.
             * @example Moon landing
             */
            name?: string | null;
            precision?: components["schemas"]["PrecisionWord"] | null;
            /**
             * Format: int64
             * @description The source's own sequence number for the record, without gaps.
             */
            sequence?: number | null;
            /** @description Where the record came from. */
            source?: string | null;
            /**
             * Format: timestamp
             * @description When it happened or started: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
             *     need a sign and six digits.
             * @example 1969-07-20T20:17:40Z
             */
            time: string;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description One page of events, ordered by time, then position; or the other way round. */
        EventsBody: {
            /**
             * Format: int64
             * @description The last ledger position that all pages of this query take into account.
             */
            as_of?: number | null;
            /** @description The events. */
            events: components["schemas"]["EventBody"][];
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description How the location was resolved. */
            location_resolved: components["schemas"]["ResolvedBody"];
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /**
             * @description The time up to which events were looked through, where the page ends because these were many: there is more to look
             *     through, with `next_cursor`.
             */
            searched_to?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description One event, or several. */
        EventsRequest: components["schemas"]["EventToRecord"] | components["schemas"]["EventRecord"][];
        /** @description A rule of iCalendar. */
        EveryBody: {
            /** @description The rule. */
            rule: string;
            /** @description From when on it counts. */
            starts: string;
            /** @description The time zone on whose calendar it counts. */
            zone: string;
        };
        /** @description A rule of iCalendar. */
        EveryRequest: {
            /**
             * @description The rule: an RRULE of RFC 5545, with `SKIP` of RFC 7529.
             * @example FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD
             */
            rule: string;
            /**
             * Format: timestamp
             * @description From when on the rule counts. Defaults to what the clock shows.
             * @example 2027-01-31T09:00:00Z
             */
            starts?: string | null;
            /**
             * @description The time zone on whose calendar the rule counts. Defaults to `UTC`.
             * @example Europe/Paris
             */
            zone?: string | null;
        };
        /** @description Which firings take longer. */
        ExtendRequest: {
            /** @description The firings. */
            firing_ids: string[];
            /**
             * @description The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else has
             *     claimed since is `lost`. Without them it is lost if another user has claimed it.
             */
            lease_ids?: string[] | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description For how long they are yours from now on, in host time. Defaults to `30s`.
             * @example 60s
             */
            ttl?: string | null;
        };
        /** @description Firings that are kept for longer. */
        ExtendedBody: {
            /** @description The firings, in the order in which they were named. */
            firings: components["schemas"]["ExtendedFiringBody"][];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A firing that is kept for longer, or was lost. */
        ExtendedFiringBody: {
            /** @description The id of the firing. */
            firing_id: string;
            /** @description Host time until which it is yours. */
            leased_until?: string | null;
            /** @description `leased`, or `lost` if it is not yours any more. */
            state: string;
        };
        /** @description Which firings were tried in vain. */
        FailRequest: {
            /** @description The firings. */
            firing_ids: string[];
            /**
             * @description The leases that the firings were claimed under, as `claim` told them. With them, a firing that somebody else has
             *     claimed since is refused (`lease_lost`). Without them it is refused if another user has claimed it.
             */
            lease_ids?: string[] | null;
            /**
             * @description Why.
             * @example the card was declined
             */
            reason?: string | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description What is wrong with a clock. At least one of `offset`, `drift_ppm`, `jitter` and `leap` is. */
        FaultBody: {
            /**
             * Format: int64
             * @description By how many millionths it is too fast; too slow where it is negative. From -100000 to 100000.
             * @example 200
             */
            drift_ppm?: number | null;
            /**
             * @description How far it strays to each side in host time, as `offset`: each second to another value. At most `250ms`.
             * @example 5ms
             */
            jitter?: string | null;
            /**
             * Format: int64
             * @description What the jitter is drawn from: the same number strays in the same way. Needs `jitter`. Defaults to 0.
             * @example 7
             */
            jitter_seed?: number | null;
            /**
             * @description A leap second that nobody else knows of: after `insert@` a second that comes twice, after `delete@` one that does
             *     not come.
             * @example insert@2028-12-31T23:59:59Z
             */
            leap?: string | null;
            /**
             * @description Over how much virtual time the leap second is smeared: from `10s` to `10d`. Needs `leap`.
             * @example 24h
             */
            leap_smear?: string | null;
            /**
             * @description How far it is ahead, as a duration without months, or in `ms` or `us`; behind, with a `-` before it. It stays so
             *     through jumps and pauses.
             * @example 2s
             */
            offset?: string | null;
            /**
             * Format: int64
             * @description By how many it is slewed from the offset to the right time. In place of `slew_ppm`.
             */
            slew_back_ppm?: number | null;
            /**
             * Format: int64
             * @description By how many millionths of the virtual time that passes it is slewed to the offset, which it does not have when it
             *     begins. From 1 to 100000. Needs `offset`.
             * @example 500
             */
            slew_ppm?: number | null;
        };
        /** @description How followers of one name show the clock. */
        FaultSetBody: {
            fault?: components["schemas"]["FaultBody"] | null;
            /** @description The place of the change in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description What the followers are called. */
            name: string;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description Whose followers they are. */
            user_id: string;
        };
        /** @description What is wrong with one field. */
        FieldError: {
            /** @description A stable code for the error. */
            code: string;
            /** @description What would be right. */
            detail: string;
            /** @description The field, as a JSON pointer in a URI fragment. */
            pointer: string;
        };
        /** @description One thing that does not match what was signed. */
        FindingBody: {
            /** @description What was found, and what should have been there. */
            evidence: string;
            /**
             * @description What kind of difference, such as `leaf-mismatch`.
             * @example leaf-mismatch
             */
            kind: string;
            /**
             * Format: int64
             * @description Size of the largest earlier checkpoint known to be good.
             */
            last_good_checkpoint?: number | null;
            /**
             * Format: int64
             * @description The first entry affected, counted from 0; for a checkpoint, its size.
             */
            position?: number | null;
        };
        /** @description One moment of a timer that fell due. */
        FiringBody: {
            /** @description The moment at which it fell due. */
            due: string;
            /** @description The event that it recorded, if its timer records events. */
            event_id?: string | null;
            /** @description The id of the firing. */
            firing_id: string;
            /** @description The queue that it waits in: `timenav:webhook` if the service sends it. Absent if it is recorded as an event. */
            queue?: string | null;
            /** @description Why it failed. */
            reason?: string | null;
            /**
             * Format: int32
             * @description The round of the timer.
             */
            round: number;
            /** @description `pending`, `acknowledged`, `failed` or `superseded`. */
            state: string;
            /** @description The timer that fired. */
            timer_id: string;
        };
        /** @description A moment of a timer that came to another outcome. */
        FiringDifferenceBody: {
            a?: components["schemas"]["FiringBody"] | null;
            b?: components["schemas"]["FiringBody"] | null;
            /** @description `only_in_a`, `only_in_b`, or `differs`. */
            change: string;
            /** @description The moment. */
            due: string;
            /** @description The timer. */
            timer_id: string;
        };
        /** @description How a firing stands. */
        FiringStateBody: {
            /** @description The id of the firing. */
            firing_id: string;
            /** @description `pending`, `acknowledged`, `failed` or `superseded`. */
            state: string;
        };
        /**
         * @description What came of a firing.
         * @enum {string}
         */
        FiringStateWord: "pending" | "acknowledged" | "failed" | "superseded";
        /** @description One page of firings. */
        FiringsBody: {
            /** @description The firings, in the order in which they fell due. */
            firings: components["schemas"]["FiringBody"][];
            /** @description Whether there may be another page. One that looked through many firings may have fewer than `limit`, or none. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description How firings stand. */
        FiringsSettledBody: {
            /** @description The firings, in the order in which they were named. */
            firings: components["schemas"]["FiringStateBody"][];
            ledger?: components["schemas"]["LedgerBody"] | null;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Somebody who follows a clock under a name. */
        FollowerBody: {
            /** @description Host time at which it confirmed that. */
            confirmed_at?: string | null;
            fault?: components["schemas"]["FaultBody"] | null;
            /** @description The id of the follower. It has another one each time it connects. */
            follower_id: string;
            /**
             * Format: int64
             * @description The newest generation of the clock that it has confirmed. Absent if it has confirmed none.
             */
            generation?: number | null;
            /**
             * @description The name of its host, if it told one (`Timenav-Host`). Known where its stream is open: of several services that
             *     share a database, the others do not tell it.
             */
            host?: string | null;
            /** @description Host time at which its stream ended. */
            left_at?: string | null;
            /** @description What it is called. Several may have the same name. */
            name: string;
            /**
             * Format: int32
             * @description The id of its process on that host, or in its container, if it told one (`Timenav-Process`).
             */
            process?: number | null;
            /** @description Host time since which its stream is open. */
            since: string;
            /** @description `current` if it has confirmed the newest change, `behind` if it has not, `away` if its stream has ended. */
            state: string;
            /**
             * Format: int64
             * @description The newest step that it has confirmed of the advance of that generation.
             */
            step?: number | null;
            /** @description Whether it confirms the steps of advances. Firings of an instant wait for it then. */
            steps: boolean;
            /**
             * @description How long it took from the newest change of the clock, or the newest step of an advance, until it confirmed that, as
             *     a duration of host time; from the opening of its stream if that was later. Absent if it has not confirmed it.
             */
            took?: string | null;
            /** @description Who follows. */
            user_id: string;
        };
        /** @description The followers of a clock. */
        FollowersBody: {
            /**
             * @description The followers: those that are there in the order in which they came, then those that went away in the last minute.
             *     Users who may not write to the timeline see their own.
             */
            followers: components["schemas"]["FollowerBody"][];
            /**
             * Format: int64
             * @description The generation of the clock.
             */
            generation: number;
            /**
             * @description `true` while the services that share the database do not all know what followers of others confirm: those that are
             *     connected to them are not listed. `timenav upgrade --finish` ends it.
             */
            only_here?: boolean;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description What a fork was forked from. */
        ForkBody: {
            /** @description `true` if webhooks of timers that came along are sent. Absent otherwise. */
            deliver_webhooks?: boolean | null;
            /** @description The other timeline. */
            of: string;
            /**
             * Format: int64
             * @description How many of its entries are shared.
             */
            size: number;
        };
        /** @description How far to move forward. */
        ForwardRequest: {
            /** @description Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`. */
            dry_run?: boolean | null;
            /**
             * Format: length-of-time
             * @description One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
             * @example 12h
             */
            duration: string;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * @description Whether the clock stands still at each timer on its way until what fires is done. Otherwise it jumps, and they fire
             *     after that. Defaults to `true`.
             */
            settle?: boolean | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for timers on the way and then for followers, in host time. The clock goes on without it.
             *     Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
             * @example 30s
             */
            wait?: string | null;
        };
        /** @description Entries of reads, one after the other in the log, that no longer say who read. */
        GapBody: {
            /**
             * Format: int64
             * @description How many entries.
             */
            entries: number;
            /**
             * Format: int64
             * @description The lowest ledger position.
             */
            first_position: number;
            /** @description Host time when the first of them was recorded. */
            from: string;
            /**
             * Format: int64
             * @description The highest ledger position.
             */
            last_position: number;
            policy?: components["schemas"]["GapPolicyBody"] | null;
            /**
             * Format: int64
             * @description How many reads, if they were erased. What was pruned no longer says how many reads it was.
             */
            reads?: number | null;
            /** @description `pruned` if retention no longer kept them, `erased` if somebody erased single reads of them. */
            reason: string;
            /** @description Host time when the last of them was recorded. */
            to: string;
        };
        /** @description How long reads are kept, and since which entry. */
        GapPolicyBody: {
            /**
             * Format: int64
             * @description The ledger position of its `set_retention`.
             */
            position: number;
            /**
             * @description How long the contents of reads are kept; null keeps them forever, until a later policy applied to them.
             * @example P30D
             */
            reads?: string | null;
        };
        /** @description A point on the earth (WGS 84), and how far around it. */
        GeoRecord: {
            /**
             * Format: double
             * @description Degrees north, negative south.
             * @example 28.57
             */
            lat: number;
            /**
             * Format: double
             * @description Degrees east, negative west.
             * @example -80.65
             */
            lon: number;
            /**
             * Format: double
             * @description The radius of the circle in which it happened, in metres.
             */
            radius_m?: number | null;
        };
        /** @description Events that have something in common. */
        GroupBody: {
            /** @description How many events there are. */
            count: number;
            /** @description When the first one happens. */
            first: string;
            /** @description What that is: the time with which it begins, the box `west,south,east,north`, the actor, the source or the value. */
            key: string;
            /** @description When the last one happens. */
            last: string;
            /** @description Where the next group of `time` begins. */
            until?: string | null;
        };
        /** @description What is handed over. */
        HandOverRequest: {
            /**
             * @description The timeline.
             * @example billing-2027
             */
            timeline_id: string;
        };
        /** @description A timeline that was handed over. */
        HandedOverBody: {
            /** @description The place of its last entry. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A timeline's latest signed tree. */
        HeadBody: {
            /** @description The signed note over both. */
            checkpoint: string;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the ledger.
             */
            size: number;
        };
        /** @description The proof that `system` is committed to the tree of a timeline (docs/ledger-format-2.md §10). */
        HeadProofBody: {
            /**
             * Format: int64
             * @description How many heads the entry commits to.
             */
            count: number;
            /** @description The hashes from the timeline's checkpoint text to the root of the heads. */
            hashes: string[];
            /**
             * Format: int64
             * @description Which of the heads it is, counted from 0.
             */
            index: number;
            /** @description The text of that entry. */
            leaf: string;
            /**
             * Format: int64
             * @description The position of the entry `heads` on `system`.
             */
            position: number;
            /** @description The hashes from that entry to the root of the cosigned tree. */
            system_hashes: string[];
        };
        /**
         * @description A head statement (docs/ledger-format-2.md §4): the access-relevant state of a timeline, signed with its latest
         *     entries.
         */
        HeadStatementBody: {
            /** @description The signed statement. It is not a checkpoint: two of the same size prove nothing. */
            head_statement: string;
            /** @description The name of the ledger and of the key. */
            origin: string;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the ledger.
             */
            size: number;
            /**
             * @description The hash over clock, counts, permissions and fork, and on `system` over all users, keys, passwords and sessions:
             *     64 hexadecimal digits.
             */
            state_hash: string;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The key that verifies it, as C2SP signed-note writes keys. */
            verifier_key: string;
        };
        /** @description A lease of yours. */
        HeldBody: {
            /** @description The lease. */
            lease: components["schemas"]["LeaseBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description What to hold, and why. */
        HoldAdvancesRequest: {
            /**
             * @description A lease of yours that is to last longer. Without it, you get a new one.
             * @example lease_01kan5hcbje6e8xbnhpb5dvnfa
             */
            lease_id?: string | null;
            /**
             * @description Why: whoever waits for the advance is told.
             * @example a person looks at the invoices
             */
            reason: string;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description For how long from now on, in host time. Defaults to `30s`; at most `10m`.
             * @example 2m
             */
            ttl?: string | null;
        };
        /**
         * @description How far a key sees.
         * @enum {string}
         */
        HorizonWord: "clock";
        /** @description What became of the import's events. */
        ImportUndoneBody: {
            /**
             * Format: int64
             * @description How many events of these stay because they changed after the import.
             */
            kept: number;
            /** @description The place of the last cancellation in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description What is left of an import of more than 10,000 events: send it as `import_id`. Absent if nothing is left. */
            rest?: string | null;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /**
             * Format: int64
             * @description How many events this request cancelled.
             */
            undone: number;
        };
        /** @description The result of an import. */
        ImportedBody: {
            /** @description `true` where nothing was recorded, and the counts are of what would be. Absent otherwise. */
            dry_run?: boolean | null;
            /** @description What `undo-import` takes to undo this import. Absent if no event is new. */
            import_id?: string | null;
            /** @description The place of the last new event in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /**
             * Format: int64
             * @description How many of these there are, if any.
             */
            noted?: number | null;
            /** @description The first records that were imported, but not fully, and why. */
            notes?: components["schemas"]["NoteBody"][];
            /** @description The first of them, with the reason. */
            refusals: components["schemas"]["RefusalBody"][];
            /**
             * Format: int64
             * @description Records that were refused.
             */
            refused: number;
            /** @description A sentence that says what happened. */
            status: string;
            /**
             * Format: int64
             * @description Events that are new.
             */
            taken: number;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The timeline. */
            timeline_id: string;
            /**
             * Format: int64
             * @description Events that were already recorded with the same content.
             */
            unchanged: number;
        };
        /** @description Something that was done to an event. */
        InterventionBody: {
            /** @description What was done, in the words of whoever intervened. */
            action: string;
            /** @description Who intervened. */
            actor: string;
            /** @description The anchor that was returned to, if that caused it. */
            anchor_id?: string | null;
            /** @description What it happened because of. */
            causes?: components["schemas"]["CauseObject"][] | null;
            /** @description Whether it changed the event. */
            changed: boolean;
            /** @description What was done. */
            effect: components["schemas"]["EffectBody"];
            /** @description The event. */
            event_id: string;
            /** @description The import that was undone, if that caused it. */
            import_id?: string | null;
            /** @description The id of the intervention. */
            intervention_id: string;
            /**
             * Format: int64
             * @description Position of the ledger entry.
             */
            position: number;
            /** @description When, in host time. */
            recorded_at: string;
            /** @description Whether the event occurred before. */
            stood: boolean;
            /** @description The virtual moment of the intervention. */
            time: string;
            /** @description The timeline whose ledger this position refers to; absent in messages of `GET /v1/stream`, which name it. */
            timeline_id?: string | null;
        };
        /** @description One key, without its secret. */
        KeyBody: {
            /** @description Host time when it was created. */
            created_at: string;
            /** @description Host time when it expires. */
            expires_at?: string | null;
            /** @description `clock` if the key sees no later than the clock shows. */
            horizon?: string | null;
            /** @description The public id of the key. */
            key_id: string;
            /**
             * Format: int64
             * @description The last position of its timeline's ledger that the key knows.
             */
            known_at?: number | null;
            /** @description What it is for. */
            label: string;
            /** @description Host time when it was revoked. */
            revoked_at?: string | null;
            /** @description What it can be used for; absent for everything the user can do. */
            scopes?: string[] | null;
            /** @description The timeline it is bound to. */
            timeline_id: string;
            /** @description The user it belongs to. */
            user_id: string;
        };
        /** @description A key that was created. */
        KeyMadeBody: {
            /** @description The key. The service does not keep it, so it is never shown again; absent from the response to a repeated request. */
            api_key?: string | null;
            /** @description `clock` if the key sees no later than the clock shows. */
            horizon?: string | null;
            /** @description The public id of the key. */
            key_id: string;
            /**
             * Format: int64
             * @description The last position of its timeline's ledger that the key knows.
             */
            known_at?: number | null;
            /** @description Its place in the ledger of `system`. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline it is bound to. */
            timeline_id: string;
            /** @description The user it belongs to. */
            user_id: string;
        };
        /** @description A key to create. */
        KeyRequest: {
            /**
             * Format: expiry
             * @description When the key expires, in host time. Defaults to never.
             * @example 2127-01-01T00:00:00Z
             */
            expires_at?: string | null;
            horizon?: components["schemas"]["HorizonWord"] | null;
            /**
             * Format: moment
             * @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
             * @example 1234
             */
            known_at?: string | number | null;
            /**
             * @description What the key is for.
             * @example billing tests
             */
            label?: string | null;
            /**
             * @description What the key can be used for: `timeline:read`, `timeline:write`, `timeline:admin`, `operator`, each including
             *     the ones before. Defaults to everything the user can do.
             */
            scopes?: ("timeline:read" | "timeline:write" | "timeline:admin" | "operator")[] | null;
            /**
             * @description The timeline for requests that name none. Defaults to `main`.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * @description The user. Defaults to the caller; only operators can name others.
             * @example alice
             */
            user_id?: string | null;
        };
        /** @description A key that was revoked. */
        KeyStoppedBody: {
            /** @description The key. */
            key_id: string;
            /** @description Its place in the ledger of `system`. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
        };
        /** @description One page of keys, newest first. */
        KeysBody: {
            /** @description The keys. */
            api_keys: components["schemas"]["KeyBody"][];
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
        };
        /** @description How far deliveries are behind a clock. */
        LagBody: {
            /** @description How far the clock is past that moment, as a duration. */
            behind: string;
            /** @description The moment of the one that has waited longest. */
            oldest: string;
            /**
             * Format: int64
             * @description How many firings have no outcome.
             */
            pending: number;
        };
        /** @description A lease that holds the clock. */
        LeaseBody: {
            /** @description The id of the lease. */
            lease_id: string;
            /** @description The user whose lease it is. */
            owner: string;
            /** @description Why, in their words. */
            reason: string;
            /** @description Host time until which it lasts. */
            until: string;
        };
        /** @description What holds the clock. */
        LeasesBody: {
            /** @description The leases, the one that ends next first. */
            leases: components["schemas"]["LeaseBody"][];
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Which timeline's leases are meant. */
        LeasesRequest: {
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description The place of a write in its timeline's ledger, and the signed tree that contains it. */
        LedgerBody: {
            /**
             * Format: int64
             * @description Position of the last entry the request wrote, counted from 0.
             */
            position: number;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the signed tree.
             */
            size: number;
        };
        /** @description One entry. */
        LedgerEntryBody: {
            /**
             * @description Whether salt and payload are included (`shown`), are gone (`erased`), or are visible only to admins of the
             *     timeline (`admins_only`). Whether they were erased or pruned, a later entry shows: those of reads and refusals
             *     are pruned.
             * @example shown
             */
            contents: string;
            /** @description The text whose hash is the leaf. */
            leaf: string;
            /**
             * @description The JSON text that is hashed after the salt.
             * @example {"event_id":"eagle","time":"1969-07-20T20:17:40Z","description":""}
             */
            payload?: string | null;
            /**
             * Format: int64
             * @description Its position in the ledger, counted from 0.
             */
            position: number;
            /**
             * @description The salt in hexadecimal digits; empty if single reads were erased from the payload.
             * @example c3a6a8530dbb478fb70a6ca8c7263a94
             */
            salt?: string | null;
        };
        /** @description Every limit. */
        LimitsBody: {
            /** @description The limits by name. Names end in the unit and `max`, `min` or `default`. */
            limits: Record<string, unknown>;
            replica?: components["schemas"]["ReplicaBody"] | null;
            /** @description A sentence that sums up the result. */
            status: string;
        };
        /** @description One entry. */
        LogBody: {
            /** @description What was done. */
            action: string;
            /** @description What the timeline's clock showed, if you can read clocks. */
            clock_time?: string | null;
            /**
             * Format: int32
             * @description The number of the read within the entry, counted from 0. Reads at the same moment share an entry.
             */
            index?: number | null;
            /**
             * Format: int64
             * @description The ledger position of its entry.
             */
            position: number;
            /** @description What it was done to. */
            subject: string;
            /** @description Host time when it was done. */
            timestamp: string;
            /** @description The acting user; `unknown` if the caller could not be identified. */
            user_id: string;
        };
        /** @description Who logs in. */
        LogInRequest: {
            /**
             * Format: password
             * @description The user's password. It is not stored.
             */
            password: string;
            /**
             * @description The user.
             * @example alice
             */
            user_id: string;
        };
        /** @description What to end. */
        LogOutRequest: {
            /** @description Whether to end all sessions of the user. Defaults to only this one. */
            everywhere?: boolean | null;
        };
        /** @description What to do to an event. */
        ManipulateRequest: {
            /**
             * @description What to do, in words. Start with a verb: `prevent`, `cancel`, `stop` or `remove`; `restore`; `delay` or
             *     `advance` and a duration; `move` or `reschedule` and a timestamp; `relocate to` a place; `describe` or `rename`
             *     and a text. Anything else is saved as a note.
             * @example delay by 2h
             */
            action: string;
            /** @description Events that caused the intervention. */
            causes?: components["schemas"]["CauseRecord"][] | null;
            /** @description Whether to report what would happen without changing anything. */
            dry_run?: boolean | null;
            effect?: components["schemas"]["EffectRequest"] | null;
            /**
             * @description The event.
             * @example moon-landing
             */
            event_id: string;
            on_paradox?: components["schemas"]["OnParadoxWord"] | null;
            /**
             * Format: timestamp
             * @description The moment of the intervention, on the timeline's clock.
             * @example 1969-07-16T13:00:00Z
             */
            time: string;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description What was done to an event. */
        ManipulatedBody: {
            after?: components["schemas"]["EventContentBody"] | null;
            before?: components["schemas"]["EventContentBody"] | null;
            /** @description Events that require the event, directly or indirectly, nearest first: at most 100. */
            downstream: string[];
            /** @description How many there are, counted up to 10,000. */
            downstream_count: number;
            /** @description Whether this was a dry run, which changes nothing. */
            dry_run: boolean;
            /** @description What was done. */
            effect: components["schemas"]["EffectBody"];
            /** @description The event's id. */
            event_id: string;
            /** @description The id of the intervention; absent after a dry run. */
            intervention_id?: string | null;
            ledger?: components["schemas"]["LedgerBody"] | null;
            /** @description Paradoxes that this resolves. */
            paradoxes_healed: components["schemas"]["ParadoxBody"][];
            /** @description Paradoxes that this creates. */
            paradoxes_made: components["schemas"]["ParadoxBody"][];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /**
         * @description What becomes of moments of a rule that come together.
         * @enum {string}
         */
        MisfireWord: "all" | "once" | "skip";
        /** @description How far to move at most. */
        NextRequest: {
            /** @description Whether to tell only what would fire. Nothing moves. Defaults to `false`. */
            dry_run?: boolean | null;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: timestamp
             * @description The moment to go to if no timer fires before it. A clock that has come there already stays. Without it, the clock
             *     goes to the next timer, however far away, and the request is refused if none is armed.
             * @example 2005-08-29T11:10:00Z
             */
            until?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for timers and then for followers, in host time. The clock goes on without it. Defaults
             *     to `30s` if a timer fires, otherwise to `5s`; `0s` does not wait.
             * @example 30s
             */
            wait?: string | null;
        };
        /** @description A record that was imported, but not fully. */
        NoteBody: {
            /** @description A stable word for what was not done: `recurrence_kept`, `time_in_part` or `line_left_out`. */
            code: string;
            /** @description What was not done, and what was. */
            detail: string;
            /**
             * Format: int64
             * @description Its line.
             */
            line: number;
        };
        /**
         * @description What happens if an intervention creates a paradox.
         * @enum {string}
         */
        OnParadoxWord: "tell" | "refuse";
        /**
         * @description Which entries come first.
         * @enum {string}
         */
        OrderBody: "oldest" | "newest";
        /** @description A paradox, or an observation about the data. */
        ParadoxBody: {
            /** @description The code of the kind, such as `P01`. */
            code: string;
            /** @description The events, interventions and firings of timers involved, in order. */
            events: string[];
            /** @description An explanation in a sentence. */
            explanation: string;
            /**
             * Format: int64
             * @description Position of the first ledger entry involved.
             */
            first: number;
            /** @description `definite` or `possible`; for duplicates `exact` or `probable`, for jumps of clocks whether explained. */
            grade: string;
            /** @description Whether it is only an observation about the data. */
            is_observation: boolean;
            /** @description A key that stays the same while the paradox exists. */
            key: string;
            /** @description The name of the kind, such as `effect_before_cause`. */
            kind: string;
            /** @description `critical`, `high`, `medium` or `low`. */
            severity: string;
            /**
             * Format: int64
             * @description Position of the last ledger entry involved: the paradox exists since then.
             */
            since: number;
            /** @description The evidence. Its fields depend on the kind; if a cause is a firing, `timer` says of which timer. */
            witness: Record<string, unknown>;
        };
        /** @description One page of paradoxes, ordered by the first record that shows them, then by code. */
        ParadoxesBody: {
            /**
             * Format: int64
             * @description The last ledger position that all pages of this query take into account.
             */
            as_of?: number | null;
            /** @description How many of each kind there are on the whole timeline, by code, definite or possible. */
            counts: Record<string, unknown>;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description The same for observations about the data, which are not paradoxes. */
            observations: Record<string, unknown>;
            /** @description The paradoxes. */
            paradoxes: components["schemas"]["ParadoxBody"][];
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description How many there are on all pages. */
            total: number;
        };
        /** @description A password to set. */
        PasswordRequest: {
            /**
             * Format: password
             * @description The current password. Required to change your own password in a session.
             */
            current_password?: string | null;
            /**
             * Format: password
             * @description The new password: at least 8 characters, not one of the most common ones, and not the user's name.
             */
            password: string;
            /**
             * @description The user. Defaults to the caller; only operators can name others.
             * @example alice
             */
            user_id?: string | null;
        };
        /** @description A password that was set. */
        PasswordSetBody: {
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The user whose password it is. */
            user_id: string;
        };
        /** @description When permissions expire. Each user named must be in the list. */
        PermissionEnds: {
            /** @description When admin access expires, by user id; `null` for never. At least one admin must have no end. */
            admin?: {
                [key: string]: string | null;
            } | null;
            /** @description When read access expires, by user id; `null` for never. */
            read?: {
                [key: string]: string | null;
            } | null;
            /** @description When write access expires, by user id; `null` for never. */
            write?: {
                [key: string]: string | null;
            } | null;
        };
        /** @description When permissions expire, in host time. Whoever is in a list and not named here keeps the permission. */
        PermissionEndsBody: {
            /** @description When admin access expires, by user id. */
            admin?: {
                [key: string]: string;
            };
            /** @description When read access expires, by user id. */
            read?: {
                [key: string]: string;
            };
            /** @description When write access expires, by user id. */
            write?: {
                [key: string]: string;
            };
        };
        /** @description How long permissions last. Each user named must be in the list, and not in `expires_at`. */
        PermissionSpans: {
            /**
             * @description How long admin access lasts, by user id.
             * @example {
             *       "bob": "12h"
             *     }
             */
            admin?: {
                [key: string]: string;
            } | null;
            /**
             * @description How long read access lasts, by user id.
             * @example {
             *       "alice": "P7D"
             *     }
             */
            read?: {
                [key: string]: string;
            } | null;
            /**
             * @description How long write access lasts, by user id.
             * @example {
             *       "bob": "12h"
             *     }
             */
            write?: {
                [key: string]: string;
            } | null;
        };
        /** @description The three lists of a timeline. */
        PermissionsBody: {
            /** @description Users with admin access. */
            admin: string[];
            expires_at?: components["schemas"]["PermissionEndsBody"] | null;
            /** @description Users with read access. */
            read: string[];
            /** @description Users with write access. */
            write: string[];
        };
        /** @description Lists of user ids. */
        PermissionsRequest: {
            /**
             * @description Users with admin access, which includes the others. At least one.
             * @example [
             *       "admin"
             *     ]
             */
            admin?: string[] | null;
            /** @description When permissions expire, in host time. Whoever stays in a list and is not named here keeps the end they have. */
            expires_at?: components["schemas"]["PermissionEnds"];
            /** @description As `expires_at`, counted from now: how long permissions last, in host time. */
            expires_in?: components["schemas"]["PermissionSpans"];
            /**
             * @description Users with read access.
             * @example [
             *       "alice"
             *     ]
             */
            read?: string[] | null;
            /**
             * @description Users with write access, which includes read access.
             * @example [
             *       "bob"
             *     ]
             */
            write?: string[] | null;
        };
        /**
         * @description How precisely a time is known.
         * @enum {string}
         */
        PrecisionWord: "year" | "month" | "day" | "hour" | "minute" | "second";
        /** @description The body of every error. */
        Problem: {
            /** @description A stable code for the error. */
            code: string;
            /** @description What would be right. */
            detail: string;
            /** @description The fields it is about, if any. */
            errors: components["schemas"]["FieldError"][];
            /** @description The id of the request, for support. */
            request_id: string;
            /** @description A sentence that says what happened. */
            status: string;
        };
        /** @description Problem details for HTTP APIs (RFC 9457). */
        ProblemDetails: {
            /** @description A stable code for the error. */
            code: string;
            /** @description What would be right. */
            detail: string;
            /** @description The fields it is about, if any. */
            errors: components["schemas"]["FieldError"][];
            /** @description The id of the request, for support. */
            request_id: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description A sentence that says what happened. */
            title: string;
            /** @description The type of the problem: `urn:timenav:problem:` and the code. */
            type: string;
        };
        /** @description A proof against the latest checkpoint. */
        ProofBody: {
            /** @description The signed note over size and root. If witnessed: the cosigned note of `system`. */
            checkpoint: string;
            /**
             * Format: int64
             * @description For consistency: the size of the earlier tree.
             */
            from?: number | null;
            /** @description For consistency: its root. */
            from_root?: string | null;
            /** @description The hashes of the proof (RFC 9162 §2.1.3, §2.1.4), 64 hexadecimal digits each. */
            hashes: string[];
            head?: components["schemas"]["HeadProofBody"] | null;
            /** @description Whether the proof is of `inclusion` or `consistency`, or of inclusion that witnesses vouch for: `witnessed`. */
            kind: string;
            /** @description For inclusion: the text whose hash is the leaf. */
            leaf?: string | null;
            /** @description For inclusion: the hash of the leaf. */
            leaf_hash?: string | null;
            /** @description If witnessed: the name of the timeline's ledger. */
            origin?: string | null;
            /**
             * Format: int64
             * @description For inclusion: the position of the entry.
             */
            position?: number | null;
            /**
             * @description As `cose`: the COSE receipt (RFC 9942), in base64. Its header `timenav-leaf` holds the entry; for consistency,
             *     `timenav-from-root` holds the root of the earlier tree.
             */
            receipt?: string | null;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the ledger.
             */
            size: number;
            /** @description What the proof shows, in a sentence. */
            status: string;
            /** @description The key that verifies it, as C2SP signed-note writes keys. */
            verifier_key: string;
            /** @description If witnessed: when each witness cosigned the checkpoint, by name, in seconds since 1970. */
            witnesses?: {
                [key: string]: number;
            } | null;
        };
        /** @description What to prune. */
        PruneRequest: {
            /** @description Whether to confirm that the host's clock is right when it is in doubt. Operators only. */
            accept_host_clock?: boolean;
            /** @description Whether to report what would be pruned next without pruning it. */
            dry_run?: boolean;
            /**
             * @description The timeline; can be `system`.
             * @example main
             */
            timeline_id: string;
        };
        /** @description What was pruned, and why not more. */
        PrunedBody: {
            /** @description Whether this was a dry run, which prunes nothing. */
            dry_run: boolean;
            /** @description Whether there may be more: send the request again. */
            has_more: boolean;
            ledger?: components["schemas"]["LedgerBody"] | null;
            /**
             * Format: int64
             * @description How many payloads were pruned.
             */
            let_go: number;
            /** @description What is in force. */
            retention: components["schemas"]["RetentionBody"];
            /** @description A sentence that says what happened. */
            status: string;
            sweep?: components["schemas"]["SweepBody"] | null;
            /** @description The timeline. */
            timeline_id: string;
            /** @description Why nothing is pruned although it may be due; absent if nothing prevents it. */
            waits_for?: string | null;
            would_let_go?: components["schemas"]["WouldLetGoBody"] | null;
        };
        /** @description How fast to run. */
        RateRequest: {
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * Format: double
             * @description Virtual seconds per host second: more than 0, with up to six decimal places.
             * @example 60
             */
            rate: number;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
             * @example 5s
             */
            wait?: string | null;
        };
        /** @description Shows that one read is among those of an entry. */
        ReadProofBody: {
            /**
             * Format: int64
             * @description How many reads the entry has.
             */
            count: number;
            /** @description The hashes from the read to the entry's payload hash. */
            hashes: string[];
            /**
             * Format: int64
             * @description The number of the read, counted from 0.
             */
            index: number;
            /** @description The read, as it is hashed after the salt. */
            read: Record<string, unknown>;
            /** @description Its salt in hexadecimal digits. */
            salt: string;
        };
        /** @description What came of an advance. */
        ReceiptBody: {
            /** @description What fired, and what came of it. */
            settled: components["schemas"]["SettledBody"];
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Events that were recorded. */
        RecordedBody: {
            /** @description The ids, in the order given. */
            event_ids: string[];
            /** @description The place of the last one in the ledger; the others come right before it. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Where to deliver a firing again. */
        RedeliverRequest: {
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description One refused record. */
        RefusalBody: {
            /** @description A stable code for the error. */
            code: string;
            /** @description What would be right. */
            detail: string;
            /** @description The field it is about, if any. */
            field?: string | null;
            /**
             * Format: int64
             * @description Its line, or for `GeoJSON` the number of the feature, counted from 1.
             */
            line: number;
        };
        /** @description A lease that has ended. */
        ReleasedBody: {
            /** @description The id of the lease. */
            lease_id: string;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description How this service is among others on one PostgreSQL database. */
        ReplicaBody: {
            clock?: components["schemas"]["ReplicaClockBody"] | null;
            /**
             * Format: int64
             * @description How many commits lost their answer since the start, so that the service had to find out what became of them.
             */
            commits_unanswered: number;
            /** @description The connections to the database. */
            connections: components["schemas"]["ReplicaConnectionsBody"];
            diverged?: components["schemas"]["DivergedBody"] | null;
            /**
             * Format: int64
             * @description How many entries of other services were not known here when it was last compared. Left out without `--replicas`.
             */
            lag_positions?: number | null;
            /**
             * Format: double
             * @description Seconds since then. Left out without `--replicas`.
             */
            lag_seconds?: number | null;
            /**
             * @description The name of this replica.
             * @example timenav-1
             */
            name: string;
            /**
             * Format: int64
             * @description For how many groups of changes it could not find out, so that they were answered `outcome_unknown`.
             */
            outcomes_unknown: number;
            /**
             * Format: int64
             * @description How often something was decided again since the start because another service wrote first.
             */
            retries: number;
        };
        /** @description The clock of this host, compared with the database's. */
        ReplicaClockBody: {
            /**
             * Format: double
             * @description How far it is behind the newest entry of `system`, in seconds.
             */
            behind_newest_seconds: number;
            /**
             * Format: double
             * @description How far either may be before the service is not ready, in seconds.
             */
            max_seconds: number;
            /**
             * Format: double
             * @description How far it is ahead, in seconds; negative if it is behind.
             */
            offset_seconds: number;
            /**
             * Format: double
             * @description How far that may be off, in seconds.
             */
            uncertainty_seconds: number;
        };
        /** @description The connections to the database. */
        ReplicaConnectionsBody: {
            /**
             * Format: int64
             * @description How many are in use.
             */
            in_use: number;
            /**
             * Format: int64
             * @description How many were made since the start.
             */
            made: number;
            /**
             * Format: int64
             * @description How many there can be.
             */
            max: number;
            /**
             * Format: int64
             * @description How many are open.
             */
            open: number;
            /**
             * Format: int64
             * @description How many requests are waiting for one.
             */
            waiting: number;
        };
        /** @description How a location was resolved. */
        ResolvedBody: {
            /** @description West, south, east, north in degrees, for `box`. */
            bbox?: number[] | null;
            /** @description The event, for `event`. */
            event_id?: string | null;
            /** @description Whether the name may mean another place. */
            is_ambiguous?: boolean | null;
            /** @description `anywhere`, `near`, `box`, `area` or `text`; `event` for an event and what happened at its place. */
            kind: string;
            /**
             * Format: double
             * @description The middle, for `near`.
             */
            lat?: number | null;
            /**
             * Format: double
             * @description The middle, for `near`.
             */
            lon?: number | null;
            /** @description Known places with a similar spelling, if nothing was found. */
            near_spellings?: string[];
            /** @description Other places that the name may mean, most likely first. */
            others?: string[];
            /** @description The known place and its region. Events whose own location is the text are found too. */
            place?: string | null;
            /**
             * Format: double
             * @description The radius in metres, for `near`.
             */
            radius_m?: number | null;
            /** @description For `text`, the text of the events' own location; for `area`, the area, such as `country:FR`. */
            text?: string | null;
        };
        /** @description Whom to restrict, and how far. */
        RestrictRequest: {
            /**
             * @description `full_access` lifts a restriction; `limited_access` allows only moments near host time; `read_only` allows only
             *     reading; `no_access` not even that.
             * @example read_only
             * @enum {string}
             */
            restriction_level: "full_access" | "limited_access" | "read_only" | "no_access";
            /**
             * @description The user.
             * @example alice
             */
            user_id: string;
        };
        /** @description A restriction that was set or lifted. */
        RestrictedBody: {
            /** @description Its place in the ledger of `system`. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description The level in force. */
            restriction_level: string;
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The user. */
            user_id: string;
        };
        /** @description One restriction. */
        RestrictionBody: {
            /** @description The level in force. */
            restriction_level: string;
            /** @description The user. */
            user_id: string;
        };
        /** @description Every restriction. */
        RestrictionsBody: {
            /** @description The restrictions, by user. Users not listed have `full_access`. */
            restrictions: components["schemas"]["RestrictionBody"][];
            /** @description A sentence that sums up the result. */
            status: string;
        };
        /** @description How long the contents of reads and refusals are kept. */
        RetentionBody: {
            /**
             * @description For reads; null keeps them forever.
             * @example P90D
             */
            reads?: string | null;
            /**
             * @description For refused attempts; null keeps them forever.
             * @example P365D
             */
            refusals?: string | null;
        };
        /** @description A retention that was set. */
        RetentionSetBody: {
            /** @description Its place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description What applies now. A shorter time applies to what is recorded from now on. */
            retention: components["schemas"]["RetentionBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Which anchor to return to. */
        ReturnRequest: {
            /** @description The anchor. */
            anchor_id: string;
            /**
             * @description Whether to tell only which timers would be armed again or not any more, which firings would be superseded or handed
             *     out, and which events would be changed back. Nothing changes. Defaults to `false`.
             */
            dry_run?: boolean | null;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            scope?: components["schemas"]["Scope"] | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
             * @example 5s
             */
            wait?: string | null;
        };
        /** @description Which events to find. */
        ScanEventsRequest: {
            /**
             * @description Only events with exactly this actor.
             * @example Katrina
             */
            actor?: string | null;
            /**
             * Format: moment
             * @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
             * @example 1234
             */
            as_of?: string | number | null;
            /**
             * @description Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the numbers from one to the other, with `..` for an open end. Dots lead into objects.
             * @example {
             *       "category": "5"
             *     }
             */
            attribute?: {
                [key: string]: string | string[];
            } | null;
            /**
             * Format: cursor
             * @description The `next_cursor` of the previous page.
             */
            cursor?: string | null;
            /** @description The maximum number per page. */
            limit?: number | null;
            /**
             * @description Where, as in `monitor-events`.
             * @example New Orleans
             */
            location: string;
            order?: components["schemas"]["EventOrder"] | null;
            /**
             * @description Only events with exactly this source.
             * @example https://www.nhc.noaa.gov
             */
            source?: string | null;
            /**
             * Format: words
             * @description Only events whose name, description, location, id, actors or attributes contain these words, or words that start
             *     with them. Case and accents are ignored.
             * @example hurricane
             */
            text?: string | null;
            /**
             * Format: time-range
             * @description `<start>/<end>`, both ends included, as in `monitor-events`.
             * @example 2005-08-28T00:00:00Z/2005-08-29T06:00:00Z
             */
            time_range: string;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description One page of events, ordered by time or newest first, with what depends on each. */
        ScannedBody: {
            /**
             * Format: int64
             * @description The last ledger position that all pages of this query take into account.
             */
            as_of?: number | null;
            /** @description The events. */
            events: components["schemas"]["ScannedEventBody"][];
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description How the location was resolved. */
            location_resolved: components["schemas"]["ResolvedBody"];
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /**
             * @description The time up to which events were looked through, where the page ends because these were many: there is more to look
             *     through, with `next_cursor`.
             */
            searched_to?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            summary?: components["schemas"]["SummaryBody"] | null;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description The checkpoint of the tree that was scanned. */
        ScannedCheckpoint: {
            /** @description The signed note (C2SP tlog-checkpoint). */
            note: string;
            /** @description The root of the tree: 64 hexadecimal digits. */
            root: string;
            /**
             * Format: int64
             * @description Entries in the tree.
             */
            size: number;
        };
        /** @description An event and what depends on it. */
        ScannedEventBody: (components["schemas"]["EventContentBody"] & {
            /**
             * Format: int64
             * @description Position of the ledger entry that created this version.
             */
            position: number;
            /** @description The timeline of that ledger, if this timeline was forked from it. */
            timeline_id?: string | null;
        }) & {
            /** @description Its direct consequences: at most 100. */
            effects: components["schemas"]["EffectOfBody"][];
            /** @description What was done to it, in order. */
            interventions: string[];
            /** @description Codes of the kinds of paradoxes that involve it. */
            paradoxes: string[];
        };
        /**
         * @description What a return restores.
         * @enum {string}
         */
        Scope: "clock" | "all";
        /** @description Who asks. */
        SessionBody: {
            /** @description Host time when the session ends at the latest. */
            expires_at?: string | null;
            /** @description Host time when the session ends if it is not used. */
            idle_expires_at?: string | null;
            /** @description Whether no operator has a password yet: set one with the API key in `admin.key`. */
            is_first_run: boolean;
            /** @description Whether the user administers the service. */
            operator: boolean;
            /** @description The user's restriction level; null if not logged in. */
            restriction_level?: string | null;
            /** @description The name of the service, as in every checkpoint; absent if not logged in. */
            service_name?: string | null;
            /** @description The public id of the session; absent if the caller is not in one. */
            session_id?: string | null;
            /** @description Who the caller is, in a sentence. */
            status: string;
            /** @description The user; null if not logged in. */
            user_id?: string | null;
            /** @description The version of the service; absent if not logged in. */
            version?: string | null;
        };
        /** @description One session. */
        SessionItem: {
            /** @description Host time when the user logged in. */
            created_at: string;
            /** @description Host time when it ends at the latest. */
            expires_at: string;
            /** @description Host time when it ends if it is not used. */
            idle_expires_at: string;
            /** @description Whether it is the current session. */
            is_current: boolean;
            /** @description Host time of the last recorded activity. */
            last_seen_at: string;
            /** @description The public id of the session. */
            session_id: string;
        };
        /** @description Active sessions, newest first. */
        SessionsBody: {
            /** @description The sessions. */
            sessions: components["schemas"]["SessionItem"][];
            /** @description A sentence that sums up the result. */
            status: string;
        };
        /** @description What to mark. */
        SetAnchorRequest: {
            /**
             * @description What the anchor is for.
             * @example before the levees fail
             */
            description?: string | null;
            /** @description Whether changing history before the anchor is a paradox. Defaults to `true`. */
            fixed?: boolean | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: timestamp
             * @description The moment to mark. Defaults to the clock's current time.
             * @example 2005-08-29T11:10:00Z
             */
            timestamp?: string | null;
        };
        /** @description How a follower is to show the clock. */
        SetFaultRequest: {
            fault: components["schemas"]["FaultBody"] | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description How long to keep what. Give at least one; the other stays as it is. */
        SetRetentionRequest: {
            /**
             * Format: whole-seconds
             * @description How long to keep payloads of reads, in host time: whole seconds, no months. `null` keeps them forever.
             * @example P90D
             */
            reads?: string | null;
            /**
             * Format: whole-seconds
             * @description How long to keep payloads of refused attempts, in the same form.
             * @example P365D
             */
            refusals?: string | null;
            /**
             * @description The timeline; can be `system`.
             * @example main
             */
            timeline_id: string;
        };
        /** @description A timer to set. */
        SetTimerRequest: {
            /**
             * Format: timestamp
             * @description The moment at which the timer fires. One that the clock has passed fires at once, with its own moment.
             * @example 2027-01-31T09:00:00Z
             */
            at?: string | null;
            /** @description Whether moments of a rule fire that had passed when the timer was set: at most 10,000. Defaults to `false`. */
            catch_up?: boolean | null;
            cron?: components["schemas"]["CronRequest"] | null;
            deliver?: components["schemas"]["DeliverRequest"] | null;
            every?: components["schemas"]["EveryRequest"] | null;
            misfire?: components["schemas"]["MisfireWord"] | null;
            /**
             * @description Firings with the same key are worked on one after the other.
             * @example customer-7
             */
            order_key?: string | null;
            /** @description Any JSON, handed to whoever claims a firing: at most 65,536 bytes. Defaults to null. */
            payload?: unknown;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * @description The id of the timer. Defaults to one that the service makes. Setting the same timer twice changes nothing.
             * @example renew-42
             */
            timer_id?: string | null;
        } | {
            at: string;
            cron?: null;
            every?: null;
            misfire?: null;
        } | {
            at?: null;
            cron?: null;
            every: unknown;
        } | {
            at?: null;
            cron: unknown;
            every?: null;
        };
        /** @description What fired while the clock moved, and what came of it. */
        SettledBody: {
            /**
             * Format: int64
             * @description How many were acknowledged.
             */
            acknowledged: number;
            /** @description The id of the advance. */
            advance_id: string;
            /**
             * Format: int64
             * @description How many failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description How many firings there were.
             */
            fired: number;
            /** @description The first 100 firings. */
            firings: components["schemas"]["FiringBody"][];
            /** @description What the clock showed before. */
            from: string;
            /**
             * @description Who held the instant it was stopped at, or whose lease holds it, or which followers have not confirmed it; if it is
             *     stuck, the last timer to fire.
             */
            held_by?: string | null;
            /** @description How far the clock has come. */
            reached: string;
            /**
             * @description `settled` at the destination, `running` on the way; `stopped` if the clock was paused or somebody held it for too
             *     long, `stuck` if timers kept arming themselves for the same instant.
             */
            state: string;
            /**
             * Format: int64
             * @description How many instants it stood at.
             */
            step: number;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The destination. */
            to: string;
            /**
             * Format: int64
             * @description How many have no outcome yet. While the advance runs, somebody may be at work on them; once it is settled, their
             *     queues have no listener, and they go to the next one.
             */
            unheard: number;
        };
        /** @description How far to move. */
        ShiftRequest: {
            /**
             * @description Whether to tell only what `refire` would do: timers that would be armed again, and firings that would be superseded.
             *     Nothing moves. Defaults to `false`.
             */
            dry_run?: boolean | null;
            /**
             * Format: length-of-time
             * @description One or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
             * @example 12h
             */
            duration: string;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * @description Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not done
             *     are superseded. Otherwise what fell due stays so. Defaults to `false`.
             */
            refire?: boolean | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
             * @example 5s
             */
            wait?: string | null;
        };
        /**
         * @description Moments of a rule that came and did not fire, since the timer was set or changed and as far as the newest 4,096 entries
         *     of the ledger tell.
         */
        SkippedBody: {
            /** @description Whether all were counted: at most 100,000 are. */
            complete: boolean;
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /** @description The first one. */
            from: string;
            /** @description The last one. */
            to: string;
        };
        /** @description What was spent. */
        SpendRequest: {
            /** @description Whether to tell only what would fire on the way. Nothing moves. Defaults to `false`. */
            dry_run?: boolean | null;
            /**
             * Format: length-of-time
             * @description What it cost: one or more numbers with units (`s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
             * @example 20m
             */
            duration: string;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * Format: timestamp
             * @description What the clock showed when the work began. The clock goes to `duration` after that, or stays if it is there
             *     already, so what several spend at the same time passes once. Otherwise it goes on from what it shows, and what
             *     several spend adds up.
             * @example 2005-08-29T11:10:00Z
             */
            since?: string | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long to wait, in host time, for advances of others that come before; and how long the answer waits then for
             *     timers on the way and followers. The clock goes on without it. Defaults to `30s`; `0s` does not wait.
             * @example 30s
             */
            wait?: string | null;
        };
        /**
         * @description How a timer stands.
         * @enum {string}
         */
        StandingWord: "armed" | "done" | "cancelled";
        /** @description A response that says only that it worked. */
        StatusBody: {
            /** @description A sentence that says what happened. */
            status: string;
        };
        /** @description A summary of all events found. */
        SummaryBody: {
            /** @description How many events match, among at most 100,000 that are checked. */
            count: number;
            /** @description When the first one happens. */
            first?: string | null;
            /** @description How many occur in each of 24 equal intervals between the first and the last. */
            histogram: components["schemas"]["BucketBody"][];
            /** @description Whether there may be more. */
            is_cut: boolean;
            /** @description When the last counted one happens. */
            last?: string | null;
        };
        /** @description One sweep. */
        SweepBody: {
            /**
             * @description What it prunes: `reads` or `refusals`.
             * @example reads
             */
            class: string;
            /**
             * Format: int64
             * @description How many payloads it lists.
             */
            count: number;
            /**
             * Format: int64
             * @description Its position in the ledger.
             */
            position: number;
            /** @description Everything it lists was recorded before this host time. */
            recorded_before: string;
        };
        /** @description Which clock to pause or resume. */
        SwitchRequest: {
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for followers, in host time. Defaults to `5s`; `0s` does not wait.
             * @example 5s
             */
            wait?: string | null;
        };
        /** @description What was found. */
        TamperingBody: {
            /** @description What was checked. */
            checked: components["schemas"]["CheckedBody"][];
            checkpoint?: components["schemas"]["ScannedCheckpoint"] | null;
            /** @description The first finding and where it is, in sentences. */
            details: string;
            /** @description Everything that does not match what was signed, by position. */
            findings: components["schemas"]["FindingBody"][];
            /**
             * Format: int64
             * @description Findings that are only counted, because there are too many of one kind.
             */
            findings_untold: number;
            /** @description The scan's place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description What was not checked, one sentence each. */
            not_checked: string[];
            /** @description The outcome, in a sentence. */
            status: string;
            /** @description Whether anything does not match what was signed. */
            tampering_detected: boolean;
        };
        /** @description What to scan, and how much. */
        TamperingRequest: {
            /**
             * @description How much to read: `full` reads everything, `quick` the latest checkpoint and its tree, `tail:<n>` the last `n`
             *     entries and the tree over the others, `sample:<n>` that many random entries. Defaults to `full`.
             * @example full
             */
            scan_depth?: string | null;
            /**
             * @description The timeline; for operators also `system`.
             * @example main
             */
            timeline_id: string;
        };
        /** @description One timeline. */
        TimelineBody: {
            /**
             * Format: int64
             * @description Anchors set on it; absent for a key with a horizon.
             */
            anchors?: number | null;
            clock?: components["schemas"]["ClockBody"] | null;
            /** @description Host time when it was created. */
            created_at: string;
            /**
             * Format: int64
             * @description Its events, not counting cancelled ones; absent for a key with a horizon.
             */
            events?: number | null;
            /** @description Host time when it expires; absent if it does not. */
            expires_at?: string | null;
            fork?: components["schemas"]["ForkBody"] | null;
            head?: components["schemas"]["HeadBody"] | null;
            permissions?: components["schemas"]["PermissionsBody"] | null;
            retention?: components["schemas"]["RetentionBody"] | null;
            /** @description The caller's role: `read`, `write`, `admin`; `operator` for an operator in none of its lists. */
            role: string;
            /** @description Host time when that role expires; absent if it does not. */
            role_expires_at?: string | null;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A timeline that has ended. */
        TimelineEndedBody: {
            /** @description Host time after which its contents are deleted. */
            contents_until: string;
            /** @description Its last signed tree, to compare kept checkpoints and proofs with from now on. */
            head: components["schemas"]["HeadBody"];
            /**
             * Format: int64
             * @description Its forks. What they inherit stays as long as one of them exists.
             */
            heirs: number;
            /** @description The place of its end in the ledger `system`. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description A timeline that was created. */
        TimelineMadeBody: {
            /** @description Host time when it expires; absent if it does not. */
            expires_at?: string | null;
            /** @description The place of its creation in its own ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description One timeline, read by itself. */
        TimelineReadBody: components["schemas"]["TimelineBody"] & {
            /** @description A sentence that sums up the result. */
            status: string;
        };
        /** @description A timeline to create. */
        TimelineRequest: {
            /**
             * Format: moment
             * @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now.
             * @example 1234
             */
            at?: string | number | null;
            /**
             * @description With `fork_of`: whether webhooks of timers that come along are sent, to the receivers of the other timeline.
             *     Defaults to `false`: their firings fail then. Needs `write` on the other timeline.
             */
            deliver_webhooks?: boolean | null;
            /**
             * Format: length-of-time
             * @description How long it lasts, in host time: then it ends automatically.
             * @example 2h
             */
            expires_in?: string | null;
            /**
             * @description The timeline to fork. History is shared up to `at`; after that, neither sees the other's. Timers come along as they
             *     stood at `at`.
             * @example main
             */
            fork_of?: string | null;
            /**
             * @description The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit.
             * @example billing-2027
             */
            timeline_id: string;
        } | {
            at?: null;
            deliver_webhooks?: null;
        } | {
            fork_of: string;
        };
        /** @description One page of timelines, ordered by name. */
        TimelinesBody: {
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timelines. */
            timelines: components["schemas"]["TimelineBody"][];
        };
        /** @description A timer. */
        TimerBody: {
            /** @description The moment at which it fires, if that is one. */
            at?: string | null;
            cron?: components["schemas"]["CronBody"] | null;
            /** @description Where firings go. */
            deliver: components["schemas"]["DeliverBody"];
            every?: components["schemas"]["EveryBody"] | null;
            /** @description What becomes of moments of the rule that come together. */
            misfire?: string | null;
            /** @description When it fires next. Absent unless it is armed. */
            next?: string | null;
            /** @description Firings with the same key are worked on one after the other. */
            order_key?: string | null;
            /** @description What is handed to whoever claims a firing. */
            payload: unknown;
            /**
             * Format: int64
             * @description Position of the ledger entry that set it. Of timers that fire at the same moment, earlier ones come first.
             */
            position: number;
            /**
             * Format: int32
             * @description Grows when moments that have passed come again.
             */
            round: number;
            /** @description Host time when it was set. */
            set_at: string;
            /** @description The user who set it. */
            set_by: string;
            /** @description `armed`, `done` or `cancelled`. */
            state: string;
            /** @description The id of the timer. */
            timer_id: string;
        };
        /** @description A timer that differs. */
        TimerDifferenceBody: {
            a?: components["schemas"]["TimerBody"] | null;
            b?: components["schemas"]["TimerBody"] | null;
            /** @description `only_in_a`, `only_in_b`, or `differs`. */
            change: string;
            /** @description The timer. */
            timer_id: string;
        };
        /** @description An event, without an id and a time of its own. */
        TimerEvent: {
            /**
             * @description Who took part.
             * @example [
             *       "Neil Armstrong",
             *       "Buzz Aldrin"
             *     ]
             */
            actors?: string[] | null;
            /**
             * @description States that hold while the event lasts. Two events that give the same predicate of the same subject different
             *     values at the same time contradict each other.
             */
            asserts?: components["schemas"]["AssertionRecord"][] | null;
            /** @description Anything else, at most 65,536 bytes of JSON. */
            attributes?: Record<string, unknown> | null;
            /** @description Its causes. A cause can be recorded later than its effect. */
            causes?: components["schemas"]["CauseRecord"][] | null;
            /**
             * @description What happened, in a sentence or two. Defaults to empty.
             * @example The lunar module Eagle lands on the moon.
             */
            description?: string | null;
            geo?: components["schemas"]["GeoRecord"] | null;
            kind?: components["schemas"]["EventKindWord"] | null;
            /**
             * @description Where, in words.
             * @example Sea of Tranquility
             */
            location?: string | null;
            /**
             * @description A short title.
             * @example Moon landing
             */
            name?: string | null;
            precision?: components["schemas"]["PrecisionWord"] | null;
            /**
             * Format: int64
             * @description The source's own sequence number for the record, without gaps.
             */
            sequence?: number | null;
            /** @description Where the record came from. */
            source?: string | null;
        };
        /** @description When a timer would fire. */
        TimerMomentsBody: {
            /** @description Whether there are later ones: ask for them with the last one as `after`. */
            has_more: boolean;
            /**
             * @description The moments, the earliest first.
             * @example [
             *       "2027-01-31T09:00:00Z"
             *     ]
             */
            moments: string[];
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
        };
        /** @description Where the timer is. */
        TimerOfRequest: {
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description A timer that was set, changed or cancelled. */
        TimerSetBody: {
            /** @description Its place in the ledger. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description `true` if this request created the timeline. Absent otherwise. */
            timeline_created?: boolean | null;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The timer. */
            timer: components["schemas"]["TimerBody"];
        };
        /** @description A timer and its firings. */
        TimerShownBody: {
            /** @description Its latest firings, the newest first: at most 100. `GET /v1/firings` lists all. */
            firings: components["schemas"]["FiringBody"][];
            skipped?: components["schemas"]["SkippedBody"] | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The timer. */
            timer: components["schemas"]["TimerBody"];
        };
        /** @description One page of timers. */
        TimersBody: {
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The timeline. */
            timeline_id: string;
            /** @description The timers. */
            timers: components["schemas"]["TimerBody"][];
        };
        /** @description Where to travel. */
        TravelRequest: {
            /**
             * Format: timestamp
             * @description The moment to go to, past or future: an ISO 8601 timestamp with a zone.
             * @example 2005-08-29T11:10:00Z
             */
            destination_time: string;
            /**
             * @description Whether to tell only what would fire on the way, and with `refire` what would come again. Nothing moves. Defaults to
             *     `false`.
             */
            dry_run?: boolean | null;
            /** @description Which followers of the clock have to confirm the change before the answer is sent: `all` of users who may write to the timeline, or names, as a list or separated by commas. The answer tells who has and who has not; the change stays either way. Defaults to none. */
            followers?: string[] | string | null;
            /**
             * @description The place to travel to: any text. An IANA zone name, coordinates, or the name of a known place also set the
             *     calendar and the local time. Defaults to the current place.
             * @example New Orleans
             */
            location?: string | null;
            /**
             * @description Whether timers fire again whose moments come again, where the clock goes back. Firings of theirs that are not done
             *     are superseded. Otherwise what fell due stays so. Defaults to `false`.
             */
            refire?: boolean | null;
            /**
             * @description Whether the clock stands still at each timer on its way forward until what fires is done. Otherwise it jumps, and
             *     they fire after that. Defaults to `true`.
             */
            settle?: boolean | null;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
            /**
             * Format: length-of-time
             * @description How long the answer waits for timers on the way and then for followers, in host time. The clock goes on without it.
             *     Defaults to `30s` if there are timers on the way, otherwise to `5s`; `0s` does not wait.
             * @example 30s
             */
            wait?: string | null;
        };
        /** @description Which import to undo. */
        UndoImportRequest: {
            /**
             * @description The `import_id` that the import answered, or the `rest` of the previous request.
             * @example 17-420-403
             */
            import_id: string;
            /**
             * @description The timeline. Defaults to the API key's.
             * @example main
             */
            timeline_id?: string | null;
        };
        /** @description One user. */
        UserBody: {
            /** @description Host time when the user was created. */
            created_at: string;
            /** @description Whether the user administers the service. */
            operator: boolean;
            /** @description The user's restriction level. */
            restriction_level: string;
            /** @description The name. */
            user_id: string;
        };
        /** @description A user that was created or removed. */
        UserChangedBody: {
            /** @description Its place in the ledger of `system`. */
            ledger: components["schemas"]["LedgerBody"];
            /** @description A sentence that says what happened. */
            status: string;
            /** @description The user. */
            user_id: string;
        };
        /** @description A user to create. */
        UserRequest: {
            /** @description Whether the user administers the service. Defaults to `false`. */
            operator?: boolean | null;
            /**
             * @description The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit.
             * @example alice
             */
            user_id: string;
        };
        /** @description One page of users, by name. */
        UsersBody: {
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description The cursor of the next page, if there is one. */
            next_cursor?: string | null;
            /** @description A sentence that sums up the result. */
            status: string;
            /** @description The users. */
            users: components["schemas"]["UserBody"][];
        };
        /** @description One version of an event. */
        VersionBody: {
            event?: components["schemas"]["EventContentBody"] | null;
            /**
             * Format: int64
             * @description Position of the ledger entry that created it.
             */
            position: number;
            /** @description The timeline whose ledger these positions refer to. */
            timeline_id: string;
            /**
             * Format: int64
             * @description Position of the ledger entry that replaced it; absent while it is current.
             */
            until?: number | null;
        };
        /** @description The events that would be changed back if history returned to an anchor. */
        WouldChangeBody: {
            /**
             * Format: int64
             * @description How many events there would be.
             */
            count: number;
            /** @description The first 1,000 events. */
            event_ids: string[];
        };
        /** @description The timers that would not be armed any more if history returned to an anchor. */
        WouldDisarmBody: {
            /**
             * Format: int64
             * @description How many timers there would be.
             */
            count: number;
            /** @description The first 1,000 timers. */
            timer_ids: string[];
        };
        /** @description What would fire if the clock were moved. */
        WouldFireBody: {
            /** @description Whether all were counted. Timers that handlers would set on the way are not. */
            complete: boolean;
            /**
             * Format: int64
             * @description How many firings there would be. After the dry run of a return: with those that had no outcome at the anchor, which
             *     are handed out again.
             */
            count: number;
            /** @description The first 1,000 firings, in their order. */
            firings: components["schemas"]["WouldFireFiringBody"][];
            /** @description How many firings each timer would have. */
            timers: components["schemas"]["WouldFireTimerBody"][];
            /** @description Where the clock would go. */
            to: string;
        };
        /** @description A firing that would be. */
        WouldFireFiringBody: {
            /** @description The moment at which it would fire. */
            due: string;
            /** @description The queue that the firing would wait in. Absent if it would be recorded as an event. */
            queue?: string | null;
            /** @description The timer. */
            timer_id: string;
        };
        /** @description How often a timer would fire. */
        WouldFireTimerBody: {
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
            /** @description The timer. */
            timer_id: string;
        };
        /** @description What a sweep would prune. */
        WouldLetGoBody: {
            /**
             * @description What: `reads` or `refusals`.
             * @example reads
             */
            class: string;
            /**
             * Format: int64
             * @description How many payloads.
             */
            count: number;
            /** @description All of them were recorded before this host time. */
            recorded_before: string;
        };
        /** @description The timers that would be armed again if the clock went back. */
        WouldRearmBody: {
            /**
             * Format: int64
             * @description How many timers there would be.
             */
            count: number;
            /** @description The first 1,000 timers, in the order in which they would fire. */
            timers: components["schemas"]["WouldRearmTimerBody"][];
        };
        /** @description A timer that would be armed again. */
        WouldRearmTimerBody: {
            /** @description When it would fire next. */
            next: string;
            /** @description The timer. */
            timer_id: string;
        };
        /** @description The firings without an outcome that would be superseded if the clock went back. */
        WouldSupersedeBody: {
            /**
             * Format: int64
             * @description How many firings there would be.
             */
            count: number;
            /** @description The first 1,000 firings, in their order. */
            firings: components["schemas"]["WouldSupersedeFiringBody"][];
        };
        /** @description A firing that would be superseded. */
        WouldSupersedeFiringBody: {
            /** @description The moment at which it fell due. */
            due: string;
            /** @description The id of the firing. */
            firing_id: string;
            /** @description The queue that it waits in. */
            queue: string;
            /** @description The timer that fired. */
            timer_id: string;
        };
    };
    responses: {
        /** @description The request is invalid; `errors` names the field */
        400: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The caller is not authenticated */
        401: {
            headers: {
                /** @description How to authenticate (RFC 6750) */
                "WWW-Authenticate": string;
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The caller is not allowed to do this */
        403: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description It does not exist, or the caller has no access to it */
        404: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The request conflicts with the current state */
        409: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description It has changed since the tag in `If-Match` */
        412: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The body is too large */
        413: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The body has a media type that is not supported here */
        415: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The request is well-formed but cannot be carried out */
        422: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description Too many attempts or requests; `Retry-After` says when to try again */
        429: {
            headers: {
                /** @description Seconds to wait before trying again */
                "Retry-After": number;
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description Internal error; quote the `request_id` when you ask for help */
        500: {
            headers: {
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The ledger cannot be written, so nothing was changed */
        503: {
            headers: {
                /** @description Seconds to wait before trying again */
                "Retry-After": number;
                /** @description Identifies the request; copied from the request if it has one */
                "X-Request-Id": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": "A sentence that says what happened."
                 *     }
                 */
                "application/json": components["schemas"]["Problem"];
                /**
                 * @example {
                 *       "code": "text",
                 *       "detail": "text",
                 *       "errors": [
                 *         {
                 *           "code": "text",
                 *           "detail": "text",
                 *           "pointer": "text"
                 *         }
                 *       ],
                 *       "request_id": "req_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "status": 1,
                 *       "title": "text",
                 *       "type": "text"
                 *     }
                 */
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    timeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2005-08-29T11:10:00Z",
                     *       "role": "admin",
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["TimelineReadBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    end_timeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "contents_until": "text",
                     *       "head": {
                     *         "checkpoint": "text",
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "heirs": 1,
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["TimelineEndedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    bundle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A bundle: lines of JSON, the last of which is `end` */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    checkpoint: {
        parameters: {
            query?: {
                /**
                 * @description Whether to return the very latest checkpoint. Defaults to false: of `system`, and of timelines that the operator has
                 *     named to witnesses, the latest one that a witness has cosigned, if any has.
                 */
                newest?: boolean;
            };
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A signed note */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkpoint": "text",
                     *       "origin": "text",
                     *       "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *       "size": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "verifier_key": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["CheckpointBody"];
                    "text/plain": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    entries: {
        parameters: {
            query?: {
                /** @description The position of the first entry, counted from 0. Defaults to 0. */
                from?: number;
                /** @description The maximum number per page. A page of long entries can be shorter. */
                limit?: number;
            };
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkpoint": "text",
                     *       "entries": [
                     *         {
                     *           "contents": "shown",
                     *           "leaf": "text",
                     *           "payload": "{\"event_id\":\"eagle\",\"time\":\"1969-07-20T20:17:40Z\",\"description\":\"\"}",
                     *           "position": 1,
                     *           "salt": "c3a6a8530dbb478fb70a6ca8c7263a94"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *       "size": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "verifier_key": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["EntriesBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    head_statement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement, an empty line, and its signature */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "head_statement": "text",
                     *       "origin": "text",
                     *       "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *       "size": 1,
                     *       "state_hash": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "verifier_key": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["HeadStatementBody"];
                    "text/plain": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    proof: {
        parameters: {
            query?: {
                /**
                 * @description The form of the proof: `json`, `cose` for JSON with a COSE receipt, or, for an entry, `tlog-proof` for a file that
                 *     can be verified offline. Defaults to `json`; for an entry, unless `Accept` asks for `text/plain`.
                 */
                format?: "json" | "tlog-proof" | "cose";
                /** @description The size of an earlier checkpoint, to prove that the ledger continues it. */
                from?: number;
                /** @description The position of an entry, counted from 0, to prove that it is in the ledger. */
                position?: number;
                /**
                 * @description Whether to prove the entry by a checkpoint of `system` that witnesses have cosigned. Defaults to false. The answer
                 *     is JSON, and can be verified offline.
                 */
                witnessed?: boolean;
            };
            header?: never;
            path: {
                timeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A proof; as text, of an entry alone: C2SP tlog-proof with the entry in `extra` */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkpoint": "text",
                     *       "hashes": [
                     *         "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f"
                     *       ],
                     *       "kind": "text",
                     *       "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *       "size": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "verifier_key": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["ProofBody"];
                    "text/plain": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    tile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                timeline_id: string;
                tile: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    timelines: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened.",
                     *       "timelines": [
                     *         {
                     *           "created_at": "2005-08-29T11:10:00Z",
                     *           "role": "admin",
                     *           "timeline_id": "main"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TimelinesBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    create_timeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expires_in": "2h",
                 *       "fork_of": "main",
                 *       "timeline_id": "billing-2027"
                 *     }
                 */
                "application/json": components["schemas"]["TimelineRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["TimelineMadeBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    adopt_timeline: {
        parameters: {
            query: {
                /**
                 * @description Maps users of the other service to users here, as `there=here` pairs: a user here gets the role that the user
                 *     there had. Without it, only you have access.
                 */
                map?: string;
                /**
                 * @description Checkpoints signed by two keys, for rotations that the bundle has no notes for: each in base64url, separated by
                 *     commas.
                 */
                rotations?: string;
                /**
                 * @description The public key of the ledger at the other service, as shown by `GET /timeline/{timeline_id}/checkpoint` there.
                 *     Get it through another channel than the file.
                 */
                verifier_key: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bundle_sha256": "text",
                     *       "entries": 1,
                     *       "erased": 1,
                     *       "layers": [
                     *         "text"
                     *       ],
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "let_go": 1,
                     *       "origin": "text",
                     *       "rotations_followed": 1,
                     *       "sealed": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["AdoptedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    timelines_diff: {
        parameters: {
            query: {
                /** @description One timeline. */
                a: string;
                /** @description The other. */
                b: string;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                of?: components["schemas"]["DiffWord"] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "a": {
                     *         "timeline_id": "main"
                     *       },
                     *       "b": {
                     *         "timeline_id": "main"
                     *       },
                     *       "common": {
                     *         "size": 1,
                     *         "timeline_id": "main"
                     *       },
                     *       "differences": [
                     *         {
                     *           "change": "text",
                     *           "event_id": "moon-landing"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["DiffBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    access_control: {
        parameters: {
            query: {
                /** @description The timeline. */
                timeline_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The current tag, for `If-Match` */
                    ETag: string;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "permissions": {
                     *         "admin": [
                     *           "alice"
                     *         ],
                     *         "read": [
                     *           "alice"
                     *         ],
                     *         "write": [
                     *           "alice"
                     *         ]
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessControlBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    access_logs: {
        parameters: {
            query: {
                /** @description Only this action, such as `read` or `unauthorized_access_attempt`. */
                action?: string;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                order?: components["schemas"]["OrderBody"] | null;
                /** @description `<start>/<end>` in host time, both ends included; `..` leaves an end open. */
                time_range: string;
                /** @description The timeline. */
                timeline_id: string;
                /** @description Only what this user did; `unknown` for callers that could not be identified. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gone": [
                     *         {
                     *           "entries": 1,
                     *           "first_position": 1,
                     *           "from": "text",
                     *           "last_position": 1,
                     *           "reason": "text",
                     *           "to": "text"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "logs": [
                     *         {
                     *           "action": "text",
                     *           "position": 1,
                     *           "subject": "text",
                     *           "timestamp": "2005-08-29T11:10:00Z",
                     *           "user_id": "alice"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessLogsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    advance_to_next: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main",
                 *       "until": "2005-08-29T11:10:00Z",
                 *       "wait": "30s"
                 *     }
                 */
                "application/json": components["schemas"]["NextRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    receipt: {
        parameters: {
            query?: {
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
                /** @description How long to wait while it goes on, in host time. Defaults to `0s`. */
                wait?: string;
            };
            header?: never;
            path: {
                advance_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settled": {
                     *         "acknowledged": 1,
                     *         "advance_id": "text",
                     *         "failed": 1,
                     *         "fired": 1,
                     *         "firings": [
                     *           {
                     *             "due": "text",
                     *             "firing_id": "text",
                     *             "round": 1,
                     *             "state": "running",
                     *             "timer_id": "text"
                     *           }
                     *         ],
                     *         "from": "text",
                     *         "reached": "text",
                     *         "state": "running",
                     *         "step": 1,
                     *         "timeline_id": "main",
                     *         "to": "text",
                     *         "unheard": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ReceiptBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    aggregate_events: {
        parameters: {
            query: {
                /** @description Only events with exactly this actor. */
                actor?: string;
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the numbers from one to the other, with `..` for an open end. Dots lead into objects. */
                attribute?: {
                    [key: string]: string;
                };
                /** @description For `time`: the length of a group, such as `P1D` or `PT1H`, in UTC; or the number of groups, from 1 to 1000, all of the same length between the first event and the last. Defaults to 24 groups. */
                bucket?: string | number;
                /** @description What makes a group: `time`, `cell`, `actor`, `source`, or an attribute as `attribute.KEY`. */
                by: string;
                /**
                 * @description The `next_cursor` of an earlier answer to the same question: counts the events after those that it counted, of the
                 *     same state of the ledger. Add up what the answers say.
                 */
                cursor?: string;
                /** @description The maximum number of groups: the first ones for `time`, the largest ones otherwise. */
                limit?: number;
                /** @description A location, as in `monitor-events`. Defaults to anywhere. */
                location?: string;
                /** @description For `cell`: the height and width of a cell, in degrees. Defaults to 10. */
                resolution?: number;
                /** @description Only events with exactly this source. */
                source?: string;
                /**
                 * @description Only events whose name, description, location, id, actors or attributes contain these words, or words that start
                 *     with them. Case and accents are ignored.
                 */
                text?: string;
                /** @description `<start>/<end>`, both ends included, as in `monitor-events`. Defaults to all time. */
                time_range?: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "by": "text",
                     *       "count": 1,
                     *       "groups": [
                     *         {
                     *           "count": 1,
                     *           "first": "text",
                     *           "key": "text",
                     *           "last": "text"
                     *         }
                     *       ],
                     *       "groups_count": 1,
                     *       "has_more": true,
                     *       "is_groups_cut": true,
                     *       "location_resolved": {
                     *         "kind": "text"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "without_count": 1
                     *     }
                     */
                    "application/json": components["schemas"]["AggregatedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    anchors: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "anchors": [
                     *         {
                     *           "anchor_id": "anchor_01m7vsgh52ewg8wycc4r8s9czz",
                     *           "description": "text",
                     *           "fixed": true,
                     *           "position": 1,
                     *           "set_at": "2005-08-29T11:10:00Z",
                     *           "timeline_id": "main",
                     *           "timestamp": "2005-08-29T11:10:00Z"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["AnchorsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    api_keys: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                /** @description The user. Defaults to the caller. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_keys": [
                     *         {
                     *           "created_at": "2005-08-29T11:10:00Z",
                     *           "key_id": "key_01m7vsgh52ewg8wycc4r8s9czz",
                     *           "label": "text",
                     *           "timeline_id": "main",
                     *           "user_id": "alice"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["KeysBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    create_api_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "expires_at": "2127-01-01T00:00:00Z",
                 *       "known_at": 1234,
                 *       "label": "billing tests",
                 *       "timeline_id": "main",
                 *       "user_id": "alice"
                 *     }
                 */
                "application/json": components["schemas"]["KeyRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_id": "key_01m7vsgh52ewg8wycc4r8s9czz",
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["KeyMadeBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    revoke_api_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_id": "key_01m7vsgh52ewg8wycc4r8s9czz",
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["KeyStoppedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    certificate: {
        parameters: {
            query: {
                /** @description The position of the first entry. Defaults to 0. */
                from?: number;
                /** @description The key. Its owner can ask, and whoever administers its timeline. */
                key_id: string;
                /** @description The position of the last entry. Defaults to the newest. */
                to?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "certificate": "text",
                     *       "checkpoint": "text",
                     *       "entries": [
                     *         {
                     *           "hashes": [
                     *             "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f"
                     *           ],
                     *           "leaf": "text",
                     *           "position": 1,
                     *           "reads": [
                     *             {
                     *               "count": 1,
                     *               "hashes": [
                     *                 "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f"
                     *               ],
                     *               "index": 1,
                     *               "read": {},
                     *               "salt": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "from": 1,
                     *       "gone": 1,
                     *       "key_id": "key_01m7vsgh52ewg8wycc4r8s9czz",
                     *       "not_certified": [
                     *         "text"
                     *       ],
                     *       "others": 1,
                     *       "reads": 1,
                     *       "refusals": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "streams": 1,
                     *       "timeline_id": "main",
                     *       "to": 1,
                     *       "user_id": "alice",
                     *       "verifier_key": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["CertificateBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    check_timeline: {
        parameters: {
            query: {
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description The id, the name or the exact description of an event, even if it was cancelled. */
                significant_event: string;
                /** @description The timeline. */
                timeline_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "candidates": [
                     *         {
                     *           "event_id": "moon-landing"
                     *         }
                     *       ],
                     *       "causes": [
                     *         {
                     *           "distance": 1,
                     *           "event_id": "moon-landing",
                     *           "required": true,
                     *           "standing": "text"
                     *         }
                     *       ],
                     *       "causes_intact": true,
                     *       "consequences": {
                     *         "count": 1,
                     *         "event_ids": [
                     *           "moon-landing"
                     *         ]
                     *       },
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "interventions": [
                     *         {
                     *           "action": "text",
                     *           "actor": "alice",
                     *           "changed": true,
                     *           "effect": {
                     *             "kind": "text"
                     *           },
                     *           "event_id": "moon-landing",
                     *           "intervention_id": "intervention_01m7vsgh52ewg8wycc4r8s9czz",
                     *           "position": 1,
                     *           "recorded_at": "2005-08-29T11:10:00Z",
                     *           "stood": true,
                     *           "time": "2005-08-29T11:10:00Z"
                     *         }
                     *       ],
                     *       "occurs": true,
                     *       "paradoxes": [
                     *         {
                     *           "code": "text",
                     *           "events": [
                     *             "moon-landing"
                     *           ],
                     *           "explanation": "text",
                     *           "first": 1,
                     *           "grade": "text",
                     *           "is_observation": true,
                     *           "key": "text",
                     *           "kind": "text",
                     *           "severity": "text",
                     *           "since": 1,
                     *           "witness": {}
                     *         }
                     *       ],
                     *       "significant_event": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["CheckBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    clock: {
        parameters: {
            query?: {
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    clock_stream: {
        parameters: {
            query?: {
                /**
                 * @description Whether the follower shows its clock wrong where `POST /v1/followers/{follower_id}/fault` says so: each message has
                 *     the `fault` then. Needs `follow`. Defaults to `false`.
                 */
                faults?: boolean;
                /**
                 * @description The name to follow under. Each message has a `follower_id` then, and `POST /v1/followers/confirm` says which change
                 *     was applied; a clock change with `followers` waits for that. Without it, nobody waits for this listener.
                 */
                follow?: string;
                /**
                 * @description Whether the follower confirms each `step` of an advance too. Then the firings of an instant are handed out once it
                 *     has, so that no handler meets a follower at an earlier time; after 5 seconds they are handed out all the same.
                 *     Needs `follow`. Defaults to `false`.
                 */
                steps?: boolean;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: {
                /** @description The id of the last message received: later ones are sent first */
                "Last-Event-ID"?: string;
                /** @description With `follow`, the name of the host on which the follower runs: `followers` tells it */
                "Timenav-Host"?: string;
                /** @description With `follow`, the id of its process on that host, or in its container */
                "Timenav-Process"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One message for each change; the id is the generation */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    correct_event: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if this is still the current version */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": {
                 *         "actors": [
                 *           "Neil Armstrong",
                 *           "Buzz Aldrin"
                 *         ],
                 *         "description": "The lunar module Eagle lands on the moon.",
                 *         "end_time": "1969-07-21T17:54:01Z",
                 *         "event_id": "moon-landing",
                 *         "location": "Sea of Tranquility",
                 *         "name": "Moon landing",
                 *         "time": "1969-07-20T20:17:40Z"
                 *       },
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["CorrectionRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changed": true,
                     *       "event": {
                     *         "description": "text",
                     *         "event_id": "moon-landing",
                     *         "time": "2005-08-29T11:10:00Z"
                     *       },
                     *       "event_id": "moon-landing",
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["CorrectedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    decrypt_data: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "data_id": "data_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "encryption_key": "correct horse battery staple",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["DecryptRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {},
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["DecryptedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    detect_tampering: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scan_depth": "full",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["TamperingRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checked": [
                     *         {
                     *           "count": 1,
                     *           "what": "entries"
                     *         }
                     *       ],
                     *       "details": "text",
                     *       "findings": [
                     *         {
                     *           "evidence": "text",
                     *           "kind": "leaf-mismatch"
                     *         }
                     *       ],
                     *       "findings_untold": 1,
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "not_checked": [
                     *         "text"
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "tampering_detected": true
                     *     }
                     */
                    "application/json": components["schemas"]["TamperingBody"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    encrypt_data: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description `*`: only if the timeline exists; does not create it */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "data": {},
                 *       "encryption_key": "correct horse battery staple",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["EncryptRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data_id": "data_01m7vsgh52ewg8wycc4r8s9czz",
                     *       "encryption": "text",
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["EncryptedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    erase_data: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "data_id": "data_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["EraseRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "position": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ErasedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    erase_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event_ids": [
                 *         "moon-landing"
                 *       ],
                 *       "time_range": "../1969-12-31T23:59:59Z",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["EraseEventsRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dry_run": true,
                     *       "events_count": 1,
                     *       "left": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ErasedEventsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    erase_reads: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "position": 1,
                 *       "reads": [
                 *         1
                 *       ],
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["EraseReadsRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "erased": 1,
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "left": 1,
                     *       "position": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ErasedReadsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    record_events: {
        parameters: {
            query?: {
                timeline_id?: string;
            };
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description `*`: only if the timeline exists; does not create it */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "actors": [
                 *         "Neil Armstrong",
                 *         "Buzz Aldrin"
                 *       ],
                 *       "description": "The lunar module Eagle lands on the moon.",
                 *       "end_time": "1969-07-21T17:54:01Z",
                 *       "event_id": "moon-landing",
                 *       "location": "Sea of Tranquility",
                 *       "name": "Moon landing",
                 *       "time": "1969-07-20T20:17:40Z",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["EventsRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event_ids": [
                     *         "moon-landing"
                     *       ],
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["RecordedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    event: {
        parameters: {
            query?: {
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path: {
                event_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event_id": "moon-landing",
                     *       "interventions": [
                     *         {
                     *           "action": "text",
                     *           "actor": "alice",
                     *           "changed": true,
                     *           "effect": {
                     *             "kind": "text"
                     *           },
                     *           "event_id": "moon-landing",
                     *           "intervention_id": "intervention_01m7vsgh52ewg8wycc4r8s9czz",
                     *           "position": 1,
                     *           "recorded_at": "2005-08-29T11:10:00Z",
                     *           "stood": true,
                     *           "time": "2005-08-29T11:10:00Z"
                     *         }
                     *       ],
                     *       "stands": true,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "versions": [
                     *         {
                     *           "position": 1,
                     *           "timeline_id": "main"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EventReadBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    export_events: {
        parameters: {
            query?: {
                /** @description Only events with exactly this actor. */
                actor?: string;
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the numbers from one to the other, with `..` for an open end. Dots lead into objects. */
                attribute?: {
                    [key: string]: string;
                };
                /**
                 * @description Attributes that get a column of their own, behind all others and named like the attribute: a list of
                 *     `attribute.KEY`, separated by commas. Only with `csv`, whose column `attributes` still has them all.
                 */
                columns?: string;
                /** @description `ndjson`, `csv`, `geojson` or `icalendar`. Defaults to what `Accept` asks for, or `ndjson`. */
                format?: "ndjson" | "csv" | "geojson" | "icalendar";
                /** @description Where, as in `monitor-events`. Defaults to anywhere. */
                location?: string;
                order?: components["schemas"]["EventOrder"] | null;
                /** @description Only events with exactly this source. */
                source?: string;
                /**
                 * @description Only events whose name, description, location, id, actors or attributes contain these words, or words that start
                 *     with them. Case and accents are ignored.
                 */
                text?: string;
                /** @description `<start>/<end>`, both ends included, as in `monitor-events`. Defaults to all time. */
                time_range?: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A file of events, ordered by time, then position */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/geo+json": {
                        features: Record<string, unknown>[];
                        /** @constant */
                        type: "FeatureCollection";
                    };
                    "application/x-ndjson": string;
                    "text/calendar": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    fast_forward: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "duration": "12h",
                 *       "timeline_id": "main",
                 *       "wait": "30s"
                 *     }
                 */
                "application/json": components["schemas"]["ForwardRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    firings: {
        parameters: {
            query?: {
                /** @description The advance in which they fired, at the moments that it passed. */
                advance_id?: string;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                /** @description The queue that they wait in, or waited in: `timenav:webhook` for those that the service sends. */
                queue?: string;
                state?: components["schemas"]["FiringStateWord"] | null;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
                /** @description The timer that fired. */
                timer_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "due": "text",
                     *           "firing_id": "text",
                     *           "round": 1,
                     *           "state": "running",
                     *           "timer_id": "text"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["FiringsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    acknowledge_firings: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "firing_ids": [
                 *         "text"
                 *       ],
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["AcknowledgeRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "firing_id": "text",
                     *           "state": "running"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["FiringsSettledBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    extend_firings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "firing_ids": [
                 *         "text"
                 *       ],
                 *       "timeline_id": "main",
                 *       "ttl": "60s"
                 *     }
                 */
                "application/json": components["schemas"]["ExtendRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "firing_id": "text",
                     *           "state": "running"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ExtendedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    fail_firings: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "firing_ids": [
                 *         "text"
                 *       ],
                 *       "reason": "the card was declined",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["FailRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "firing_id": "text",
                     *           "state": "running"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["FiringsSettledBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    firings_stream: {
        parameters: {
            query?: {
                /**
                 * @description Only firings of this queue; `timenav:webhook` for those that the service sends to webhooks. Defaults to all firings of
                 *     the timeline.
                 */
                queue?: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: {
                /** @description The id of the last message received: later ones are sent first */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One message for each thing that happens to a firing; the id begins with the position of the newest entry that was told */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    redeliver_firing: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path: {
                firing_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["RedeliverRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "firing_id": "text",
                     *           "state": "running"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["FiringsSettledBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    followers: {
        parameters: {
            query?: {
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "followers": [
                     *         {
                     *           "follower_id": "text",
                     *           "name": "text",
                     *           "since": "text",
                     *           "state": "running",
                     *           "steps": true,
                     *           "user_id": "alice"
                     *         }
                     *       ],
                     *       "generation": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["FollowersBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    confirm_clock: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "follower_id": "follower_01kan5hcbje6e8xbnhpb5dvnfa",
                 *       "generation": 7,
                 *       "step": 2,
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["ConfirmRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "follower_id": "text",
                     *       "generation": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ConfirmedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_fault: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path: {
                follower_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fault": {
                 *         "drift_ppm": 200,
                 *         "jitter": "5ms",
                 *         "jitter_seed": 7,
                 *         "leap": "insert@2028-12-31T23:59:59Z",
                 *         "leap_smear": "24h",
                 *         "offset": "2s",
                 *         "slew_ppm": 500
                 *       },
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["SetFaultRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "name": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["FaultSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    hand_over: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "billing-2027"
                 *     }
                 */
                "application/json": components["schemas"]["HandOverRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["HandedOverBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    import_events: {
        parameters: {
            query?: {
                /**
                 * @description Whether to read and check the whole file, answer what would become of it, and record nothing. The timeline must be
                 *     there.
                 */
                dry_run?: boolean;
                /**
                 * @description `ndjson`, `json`, `logfmt`, `csv`, `geojson`, `cloudevents`, `icalendar`, `zipkin`, `jaeger`, `otlp` or `git`; taken
                 *     from the `Content-Type` by default.
                 */
                format?: "ndjson" | "json" | "logfmt" | "csv" | "geojson" | "cloudevents" | "icalendar" | "zipkin" | "jaeger" | "otlp" | "git";
                /**
                 * @description Which column, property or member is which field, and how a table is written, as `field=column` pairs or JSON. For
                 *     `csv`, `geojson`, `ndjson`, `json` and `logfmt`.
                 */
                map?: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: {
                /** @description `*`: only if the timeline exists; does not create it */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents-batch+json": string;
                "application/geo+json": string;
                /** @example text */
                "application/json": string;
                "application/octet-stream": string;
                "application/x-ndjson": string;
                "text/calendar": string;
                "text/csv": string;
                "text/plain": string;
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "refusals": [
                     *         {
                     *           "code": "text",
                     *           "detail": "text",
                     *           "line": 1
                     *         }
                     *       ],
                     *       "refused": 1,
                     *       "status": "A sentence that says what happened.",
                     *       "taken": 1,
                     *       "timeline_id": "main",
                     *       "unchanged": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ImportedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    leases: {
        parameters: {
            query?: {
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leases": [
                     *         {
                     *           "lease_id": "text",
                     *           "owner": "text",
                     *           "reason": "text",
                     *           "until": "text"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["LeasesBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    hold_advances: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lease_id": "lease_01kan5hcbje6e8xbnhpb5dvnfa",
                 *       "reason": "a person looks at the invoices",
                 *       "timeline_id": "main",
                 *       "ttl": "2m"
                 *     }
                 */
                "application/json": components["schemas"]["HoldAdvancesRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "lease_id": "text",
                     *         "owner": "text",
                     *         "reason": "text",
                     *         "until": "text"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["HeldBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    release_lease: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path: {
                lease_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["LeasesRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease_id": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ReleasedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    limits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "limits": {},
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["LimitsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple",
                 *       "user_id": "alice"
                 *     }
                 */
                "application/json": components["schemas"]["LogInRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description The session cookie, not readable by scripts */
                    "Set-Cookie": string;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "is_first_run": true,
                     *       "operator": true,
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["LogOutRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Clears what the browser stored for this host */
                    "Clear-Site-Data": string;
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Clears the cookie */
                    "Set-Cookie": string;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["StatusBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    manipulate_event: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "delay by 2h",
                 *       "event_id": "moon-landing",
                 *       "time": "1969-07-16T13:00:00Z",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["ManipulateRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "downstream": [
                     *         "text"
                     *       ],
                     *       "downstream_count": 1,
                     *       "dry_run": true,
                     *       "effect": {
                     *         "kind": "text"
                     *       },
                     *       "event_id": "moon-landing",
                     *       "paradoxes_healed": [
                     *         {
                     *           "code": "text",
                     *           "events": [
                     *             "moon-landing"
                     *           ],
                     *           "explanation": "text",
                     *           "first": 1,
                     *           "grade": "text",
                     *           "is_observation": true,
                     *           "key": "text",
                     *           "kind": "text",
                     *           "severity": "text",
                     *           "since": 1,
                     *           "witness": {}
                     *         }
                     *       ],
                     *       "paradoxes_made": [
                     *         {
                     *           "code": "text",
                     *           "events": [
                     *             "moon-landing"
                     *           ],
                     *           "explanation": "text",
                     *           "first": 1,
                     *           "grade": "text",
                     *           "is_observation": true,
                     *           "key": "text",
                     *           "kind": "text",
                     *           "severity": "text",
                     *           "since": 1,
                     *           "witness": {}
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ManipulatedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    monitor_events: {
        parameters: {
            query: {
                /** @description Only events with exactly this actor. */
                actor?: string;
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the numbers from one to the other, with `..` for an open end. Dots lead into objects. */
                attribute?: {
                    [key: string]: string;
                };
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                /**
                 * @description `*` for anywhere, `lat,lon` or a `geo:` URI with `;u=metres`, `bbox:west,south,east,north`,
                 *     or the text of the events' own location.
                 */
                location: string;
                order?: components["schemas"]["EventOrder"] | null;
                /** @description Whether events count too that began before the range and last into it. Defaults to `false`. */
                overlapping?: boolean;
                /** @description Only events with exactly this source. */
                source?: string;
                /**
                 * @description Only events whose name, description, location, id, actors or attributes contain these words, or words that start
                 *     with them. Case and accents are ignored.
                 */
                text?: string;
                /** @description `<start>/<end>`, both ends included; `..` leaves an end open, and one end can be a duration. */
                time_range: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `rel="next"` links to the next page, if there is one */
                    Link?: string;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "description": "text",
                     *           "event_id": "moon-landing",
                     *           "position": 1,
                     *           "time": "2005-08-29T11:10:00Z"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "location_resolved": {
                     *         "kind": "text"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["EventsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    monitor_paradox: {
        parameters: {
            query: {
                /** @description A moment of the ledger: a position, an anchor id, or a host time. Defaults to now. */
                as_of?: string | number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description What else to include: `observations` about the data. */
                include?: string;
                /** @description Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or separated by commas. */
                kinds?: string;
                /** @description The maximum number per page. */
                limit?: number;
                /** @description The top speed of actors in km/h, for `P07`. Defaults to 900. */
                speed_kmh?: number;
                /** @description `<start>/<end>`, both ends included: paradoxes with an event in it. `../..` for all. */
                time_range: string;
                /** @description The timeline. */
                timeline_id: string;
                /** @description How much clocks may differ before one time counts as earlier than another. Defaults to none. */
                tolerance?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "counts": {},
                     *       "has_more": true,
                     *       "observations": {},
                     *       "paradoxes": [
                     *         {
                     *           "code": "text",
                     *           "events": [
                     *             "moon-landing"
                     *           ],
                     *           "explanation": "text",
                     *           "first": 1,
                     *           "grade": "text",
                     *           "is_observation": true,
                     *           "key": "text",
                     *           "kind": "text",
                     *           "severity": "text",
                     *           "since": 1,
                     *           "witness": {}
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "total": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ParadoxesBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    pause_time: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main",
                 *       "wait": "5s"
                 *     }
                 */
                "application/json": components["schemas"]["SwitchRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    prune: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["PruneRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dry_run": true,
                     *       "has_more": true,
                     *       "let_go": 1,
                     *       "retention": {
                     *         "reads": "P90D",
                     *         "refusals": "P365D"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["PrunedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    claim_firings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path: {
                queue: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "ack_timeout": "30s",
                 *       "max": 10,
                 *       "timeline_id": "main",
                 *       "wait": "20s"
                 *     }
                 */
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "attempt": 1,
                     *           "due": "text",
                     *           "firing_id": "text",
                     *           "generation": 1,
                     *           "lease_id": "text",
                     *           "leased_until": "text",
                     *           "payload": {},
                     *           "round": 1,
                     *           "timeline_id": "main",
                     *           "timer_id": "text"
                     *         }
                     *       ],
                     *       "queue": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClaimedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    restrict_time_travel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "restriction_level": "read_only",
                 *       "user_id": "alice"
                 *     }
                 */
                "application/json": components["schemas"]["RestrictRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "restriction_level": "text",
                     *       "status": "A sentence that says what happened.",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["RestrictedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    restrictions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "restrictions": [
                     *         {
                     *           "restriction_level": "text",
                     *           "user_id": "alice"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["RestrictionsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    resume_time: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main",
                 *       "wait": "5s"
                 *     }
                 */
                "application/json": components["schemas"]["SwitchRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    return_to_anchor: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "anchor_id": "anchor_01m7vsgh52ewg8wycc4r8s9czz",
                 *       "timeline_id": "main",
                 *       "wait": "5s"
                 *     }
                 */
                "application/json": components["schemas"]["ReturnRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    rewind: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "duration": "12h",
                 *       "timeline_id": "main",
                 *       "wait": "5s"
                 *     }
                 */
                "application/json": components["schemas"]["ShiftRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    scan_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "actor": "Katrina",
                 *       "as_of": 1234,
                 *       "attribute": {
                 *         "category": "5"
                 *       },
                 *       "location": "New Orleans",
                 *       "source": "https://www.nhc.noaa.gov",
                 *       "text": "hurricane",
                 *       "time_range": "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["ScanEventsRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "description": "text",
                     *           "effects": [
                     *             {
                     *               "event_id": "moon-landing",
                     *               "kind": "text"
                     *             }
                     *           ],
                     *           "event_id": "moon-landing",
                     *           "interventions": [
                     *             "text"
                     *           ],
                     *           "paradoxes": [
                     *             "text"
                     *           ],
                     *           "position": 1,
                     *           "time": "2005-08-29T11:10:00Z"
                     *         }
                     *       ],
                     *       "has_more": true,
                     *       "location_resolved": {
                     *         "kind": "text"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ScannedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "is_first_run": true,
                     *       "operator": true,
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    sessions: {
        parameters: {
            query?: {
                /** @description The user. Defaults to the caller; only operators can name others. */
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sessions": [
                     *         {
                     *           "created_at": "2005-08-29T11:10:00Z",
                     *           "expires_at": "2005-08-29T11:10:00Z",
                     *           "idle_expires_at": "2005-08-29T11:10:00Z",
                     *           "is_current": true,
                     *           "last_seen_at": "2005-08-29T11:10:00Z",
                     *           "session_id": "session_01m7vsgh52ewg8wycc4r8s9czz"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["SessionsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "A sentence that says what happened."
                     *     }
                     */
                    "application/json": components["schemas"]["StatusBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_access_control: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the permissions still have this tag */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permissions": {
                 *         "admin": [
                 *           "admin"
                 *         ],
                 *         "read": [
                 *           "alice"
                 *         ],
                 *         "write": [
                 *           "bob"
                 *         ]
                 *       },
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["AccessControlRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The current tag, for `If-Match` */
                    ETag: string;
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessControlSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_anchor: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description `*`: only if the timeline exists; does not create it */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "description": "before the levees fail",
                 *       "timeline_id": "main",
                 *       "timestamp": "2005-08-29T11:10:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["SetAnchorRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "anchor_id": "anchor_01m7vsgh52ewg8wycc4r8s9czz",
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timestamp": "2005-08-29T11:10:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AnchorSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_password: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only its format is checked: the response is not stored, and a repeated request runs again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery staple",
                 *       "user_id": "alice"
                 *     }
                 */
                "application/json": components["schemas"]["PasswordRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "A sentence that says what happened.",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["PasswordSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_rate: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rate": 60,
                 *       "timeline_id": "main",
                 *       "wait": "5s"
                 *     }
                 */
                "application/json": components["schemas"]["RateRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_retention: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reads": "P90D",
                 *       "refusals": "P365D",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["SetRetentionRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "retention": {
                     *         "reads": "P90D",
                     *         "refusals": "P365D"
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["RetentionSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    spend: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "duration": "20m",
                 *       "since": "2005-08-29T11:10:00Z",
                 *       "timeline_id": "main",
                 *       "wait": "30s"
                 *     }
                 */
                "application/json": components["schemas"]["SpendRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    stream: {
        parameters: {
            query?: {
                /** @description Only events with exactly this actor. */
                actor?: string;
                /** @description Only events with these values of attributes, by key: in a query string `attribute.KEY=VALUE`, as often as you like. A value is a text, a number or a truth value, or one of those in a list. `FROM/TO` stands for the numbers from one to the other, with `..` for an open end. Dots lead into objects. */
                attribute?: {
                    [key: string]: string;
                };
                /** @description What else to include: `observations` about the data. */
                include?: string;
                /** @description Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or separated by commas. */
                kinds?: string;
                /** @description Only events with exactly this source. */
                source?: string;
                /** @description The top speed of actors in km/h, for `P07`. Defaults to 900. */
                speed_kmh?: number;
                /**
                 * @description Only events whose name, description, location, id, actors or attributes contain these words, or words that start
                 *     with them, before or after a change. Case and accents are ignored. Clocks, paradoxes and `due` are reported regardless.
                 */
                text?: string;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
                /** @description How much clocks may differ before one time counts as earlier than another. Defaults to none. */
                tolerance?: string;
                /**
                 * @description What to watch, separated by commas: `clock`, `events` (recorded and corrected ones), `interventions`,
                 *     `paradoxes` (created and resolved), `advances` (as they begin, at each instant, and as they end), `due` (which events
                 *     the clock has passed, as ranges of time). Defaults to all but `due`.
                 */
                topics?: string;
            };
            header?: {
                /** @description The id of the last message received: later ones are sent first */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One message for each change recorded in the ledger, and for time that the clock has passed; the id begins with the position of the entry */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    timer_moments: {
        parameters: {
            query: {
                /** @description Only moments later than this one. Defaults to what the clock shows. */
                after?: string;
                /** @description The maximum number of moments. */
                limit?: number;
                /**
                 * @description A rule of iCalendar, which is an RRULE of RFC 5545 with `SKIP` of RFC 7529; or a cron expression of five fields:
                 *     minute, hour, day of month, month, weekday.
                 */
                rule: string;
                /** @description From when on a rule of iCalendar counts. Defaults to what the clock shows. */
                starts?: string;
                /** @description The timeline whose clock counts. Defaults to the API key's. */
                timeline_id?: string;
                /** @description The time zone on whose calendar and clocks it counts. Defaults to `UTC`. */
                zone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "has_more": true,
                     *       "moments": [
                     *         "2027-01-31T09:00:00Z"
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["TimerMomentsBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    timers: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
                state?: components["schemas"]["StandingWord"] | null;
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timers": [
                     *         {
                     *           "deliver": {
                     *             "to": "text"
                     *           },
                     *           "payload": {},
                     *           "position": 1,
                     *           "round": 1,
                     *           "set_at": "2005-08-29T11:10:00Z",
                     *           "set_by": "text",
                     *           "state": "running",
                     *           "timer_id": "text"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TimersBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    set_timer: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description `*`: only if the timeline exists; does not create it */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "at": "2027-01-31T09:00:00Z",
                 *       "order_key": "customer-7",
                 *       "timeline_id": "main",
                 *       "timer_id": "renew-42"
                 *     }
                 */
                "application/json": components["schemas"]["SetTimerRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timer": {
                     *         "deliver": {
                     *           "to": "text"
                     *         },
                     *         "payload": {},
                     *         "position": 1,
                     *         "round": 1,
                     *         "set_at": "2005-08-29T11:10:00Z",
                     *         "set_by": "text",
                     *         "state": "running",
                     *         "timer_id": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TimerSetBody"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timer": {
                     *         "deliver": {
                     *           "to": "text"
                     *         },
                     *         "payload": {},
                     *         "position": 1,
                     *         "round": 1,
                     *         "set_at": "2005-08-29T11:10:00Z",
                     *         "set_by": "text",
                     *         "state": "running",
                     *         "timer_id": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TimerSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    timer: {
        parameters: {
            query?: {
                /** @description The timeline. Defaults to the API key's. */
                timeline_id?: string;
            };
            header?: never;
            path: {
                timer_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firings": [
                     *         {
                     *           "due": "text",
                     *           "firing_id": "text",
                     *           "round": 1,
                     *           "state": "running",
                     *           "timer_id": "text"
                     *         }
                     *       ],
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timer": {
                     *         "deliver": {
                     *           "to": "text"
                     *         },
                     *         "payload": {},
                     *         "position": 1,
                     *         "round": 1,
                     *         "set_at": "2005-08-29T11:10:00Z",
                     *         "set_by": "text",
                     *         "state": "running",
                     *         "timer_id": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TimerShownBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    cancel_timer: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path: {
                timer_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["TimerOfRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timer": {
                     *         "deliver": {
                     *           "to": "text"
                     *         },
                     *         "payload": {},
                     *         "position": 1,
                     *         "round": 1,
                     *         "set_at": "2005-08-29T11:10:00Z",
                     *         "set_by": "text",
                     *         "state": "running",
                     *         "timer_id": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TimerSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    change_timer: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path: {
                timer_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "at": "2027-02-28T09:00:00Z",
                 *       "order_key": "customer-7",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeTimerRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "timer": {
                     *         "deliver": {
                     *           "to": "text"
                     *         },
                     *         "payload": {},
                     *         "position": 1,
                     *         "round": 1,
                     *         "set_at": "2005-08-29T11:10:00Z",
                     *         "set_by": "text",
                     *         "state": "running",
                     *         "timer_id": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TimerSetBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    travel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
                /** @description Only if the clock still has this generation, in quotation marks: `"7"` */
                "If-Match"?: string;
                /** @description Inside a handler: the id of the firing it handles */
                "Timenav-Firing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "destination_time": "2005-08-29T11:10:00Z",
                 *       "location": "New Orleans",
                 *       "timeline_id": "main",
                 *       "wait": "30s"
                 *     }
                 */
                "application/json": components["schemas"]["TravelRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "current_time": "2005-08-29T11:10:00Z",
                     *       "generation": 1,
                     *       "location": "text",
                     *       "origin_host": "2005-08-29T11:10:00Z",
                     *       "origin_virtual": "2005-08-29T11:10:00Z",
                     *       "rate": 1,
                     *       "state": "running",
                     *       "timeline_id": "main"
                     *     }
                     */
                    "application/json": components["schemas"]["ClockBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    undo_import: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "import_id": "17-420-403",
                 *       "timeline_id": "main"
                 *     }
                 */
                "application/json": components["schemas"]["UndoImportRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kept": 1,
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "timeline_id": "main",
                     *       "undone": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ImportUndoneBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    users: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description The maximum number per page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "has_more": true,
                     *       "status": "A sentence that says what happened.",
                     *       "users": [
                     *         {
                     *           "created_at": "2005-08-29T11:10:00Z",
                     *           "operator": true,
                     *           "restriction_level": "text",
                     *           "user_id": "alice"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UsersBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    create_user: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request with a key is carried out once; a repeat within 24 hours gets the same response. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_id": "alice"
                 *     }
                 */
                "application/json": components["schemas"]["UserRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    /** @description `true` if this repeats the response to an earlier request with the same `Idempotency-Key` */
                    "Idempotency-Replayed"?: boolean;
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["UserChangedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
    delete_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description Identifies the request; copied from the request if it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ledger": {
                     *         "position": 1,
                     *         "root": "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
                     *         "size": 1
                     *       },
                     *       "status": "A sentence that says what happened.",
                     *       "user_id": "alice"
                     *     }
                     */
                    "application/json": components["schemas"]["UserChangedBody"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            429: components["responses"]["429"];
            500: components["responses"]["500"];
            503: components["responses"]["503"];
        };
    };
}
