// Written by scripts/generate.mjs from docs/api/openapi.json. Do not edit it.

import type { CallOptions, Events } from './transport.js';
import type { Answer, FiringMessage, Input, Schema, StreamMessage } from './shapes.js';
import { Transport } from './transport.js';

/** Every operation of the API. */
export abstract class Calls extends Transport {
  /** Ends a timeline: it can no longer be read, and its name cannot be reused. */
  endTimeline(input: Input<'end_timeline'>, options: CallOptions = {}): Promise<Answer<'end_timeline'>> {
    return this.json('end_timeline', input, options);
  }

  /** Reads a timeline. */
  timeline(input: Input<'timeline'>, options: CallOptions = {}): Promise<Answer<'timeline'>> {
    return this.json('timeline', input, options);
  }

  /** Exports a timeline as one file that can be verified offline. The body is yet to be read. */
  bundle(input: Input<'bundle'>, options: CallOptions = {}): Promise<Response> {
    return this.download('bundle', input, options);
  }

  /** Returns the latest signed checkpoint. */
  checkpoint(input: Input<'checkpoint'>, options: CallOptions = {}): Promise<Answer<'checkpoint'>> {
    return this.json('checkpoint', input, options);
  }

  /** Returns the latest signed checkpoint. As the signed text, to be kept and checked elsewhere. */
  checkpointText(input: Input<'checkpoint'>, options: CallOptions = {}): Promise<string> {
    return this.text('checkpoint', input, options);
  }

  /** Reads ledger entries with their salts and payloads. */
  entries(input: Input<'entries'>, options: CallOptions = {}): Promise<Answer<'entries'>> {
    return this.json('entries', input, options);
  }

  /** Returns the latest head statement. */
  headStatement(input: Input<'head_statement'>, options: CallOptions = {}): Promise<Answer<'head_statement'>> {
    return this.json('head_statement', input, options);
  }

  /** Returns the latest head statement. As the signed text, to be kept and checked elsewhere. */
  headStatementText(input: Input<'head_statement'>, options: CallOptions = {}): Promise<string> {
    return this.text('head_statement', input, options);
  }

  /** Proves that an entry is in the ledger, or that the ledger only grew. */
  proof(input: Input<'proof'>, options: CallOptions = {}): Promise<Answer<'proof'>> {
    return this.json('proof', input, options);
  }

  /** Proves that an entry is in the ledger, or that the ledger only grew. As the signed text, to be kept and checked elsewhere. */
  proofText(input: Input<'proof'>, options: CallOptions = {}): Promise<string> {
    return this.text('proof', input, options);
  }

  /** Returns one tile of the tree, or one bundle of entries (`entries/…`). */
  tile(input: Input<'tile'>, options: CallOptions = {}): Promise<Uint8Array> {
    return this.bytes('tile', input, options);
  }

  /** Lists the timelines that the caller can read. */
  timelines(input: Input<'timelines'> = {}, options: CallOptions = {}): Promise<Answer<'timelines'>> {
    return this.json('timelines', input, options);
  }

  /** Creates a timeline, with the caller as its admin. */
  createTimeline(input: Input<'create_timeline'>, options: CallOptions = {}): Promise<Answer<'create_timeline'>> {
    return this.json('create_timeline', input, options);
  }

  /** Adopts a timeline from another service. */
  adoptTimeline(input: Input<'adopt_timeline'>, options: CallOptions = {}): Promise<Answer<'adopt_timeline'>> {
    return this.json('adopt_timeline', input, options);
  }

  /** Lists the events, timers or firings that differ between two related timelines: one forked from the other, or both from the same one. */
  timelinesDiff(input: Input<'timelines_diff'>, options: CallOptions = {}): Promise<Answer<'timelines_diff'>> {
    return this.json('timelines_diff', input, options);
  }

  /** Reads the permissions of a timeline. */
  accessControl(input: Input<'access_control'>, options: CallOptions = {}): Promise<Answer<'access_control'>> {
    return this.json('access_control', input, options);
  }

  /** Reads the access log of a timeline. */
  accessLogs(input: Input<'access_logs'>, options: CallOptions = {}): Promise<Answer<'access_logs'>> {
    return this.json('access_logs', input, options);
  }

  /** Moves the clock to the next moment of a timer. */
  advanceToNext(input: Input<'advance_to_next'> = {}, options: CallOptions = {}): Promise<Answer<'advance_to_next'>> {
    return this.json('advance_to_next', input, options);
  }

  /** Tells what fired while the clock moved, and what came of it. */
  receipt(input: Input<'receipt'>, options: CallOptions = {}): Promise<Answer<'receipt'>> {
    return this.json('receipt', input, options);
  }

  /** Counts events by time, cell, actor, source or attribute. */
  aggregateEvents(input: Input<'aggregate_events'>, options: CallOptions = {}): Promise<Answer<'aggregate_events'>> {
    return this.json('aggregate_events', input, options);
  }

  /** Lists anchors in the order they were set, inherited ones first. */
  anchors(input: Input<'anchors'> = {}, options: CallOptions = {}): Promise<Answer<'anchors'>> {
    return this.json('anchors', input, options);
  }

  /** Lists the keys of a user, without their secrets. */
  apiKeys(input: Input<'api_keys'> = {}, options: CallOptions = {}): Promise<Answer<'api_keys'>> {
    return this.json('api_keys', input, options);
  }

  /** Creates an API key and shows it once. */
  createApiKey(input: Input<'create_api_key'> = {}, options: CallOptions = {}): Promise<Answer<'create_api_key'>> {
    return this.json('create_api_key', input, options);
  }

  /** Revokes an API key. */
  revokeApiKey(input: Input<'revoke_api_key'>, options: CallOptions = {}): Promise<Answer<'revoke_api_key'>> {
    return this.json('revoke_api_key', input, options);
  }

  /** Certifies what a key with a horizon has seen. */
  certificate(input: Input<'certificate'>, options: CallOptions = {}): Promise<Answer<'certificate'>> {
    return this.json('certificate', input, options);
  }

  /** Checks whether an event occurs. */
  checkTimeline(input: Input<'check_timeline'>, options: CallOptions = {}): Promise<Answer<'check_timeline'>> {
    return this.json('check_timeline', input, options);
  }

  /** Reads the clock. */
  clock(input: Input<'clock'> = {}, options: CallOptions = {}): Promise<Answer<'clock'>> {
    return this.json('clock', input, options);
  }

  /** Watches the clock: one message for each change. Close it when you are done. */
  clockStream(input: Input<'clock_stream'> = {}, options: CallOptions = {}): Promise<Events<Schema<'ClockBody'>>> {
    return this.events('clock_stream', input, options);
  }

  /** Corrects an event. */
  correctEvent(input: Input<'correct_event'>, options: CallOptions = {}): Promise<Answer<'correct_event'>> {
    return this.json('correct_event', input, options);
  }

  /** Decrypts stored data with its key. */
  decryptData(input: Input<'decrypt_data'>, options: CallOptions = {}): Promise<Answer<'decrypt_data'>> {
    return this.json('decrypt_data', input, options);
  }

  /** Scans a timeline for tampering. */
  detectTampering(input: Input<'detect_tampering'>, options: CallOptions = {}): Promise<Answer<'detect_tampering'>> {
    return this.json('detect_tampering', input, options);
  }

  /** Scans a timeline for tampering. Close it when you are done. */
  detectTamperingStream(input: Input<'detect_tampering'>, options: CallOptions = {}): Promise<Events<unknown>> {
    return this.events('detect_tampering', input, options);
  }

  /** Encrypts and stores data that only its key opens. */
  encryptData(input: Input<'encrypt_data'>, options: CallOptions = {}): Promise<Answer<'encrypt_data'>> {
    return this.json('encrypt_data', input, options);
  }

  /** Erases sealed data, or the content of an event. */
  eraseData(input: Input<'erase_data'>, options: CallOptions = {}): Promise<Answer<'erase_data'>> {
    return this.json('erase_data', input, options);
  }

  /** Erases events with all their versions. */
  eraseEvents(input: Input<'erase_events'>, options: CallOptions = {}): Promise<Answer<'erase_events'>> {
    return this.json('erase_events', input, options);
  }

  /** Erases single reads from the access log. */
  eraseReads(input: Input<'erase_reads'>, options: CallOptions = {}): Promise<Answer<'erase_reads'>> {
    return this.json('erase_reads', input, options);
  }

  /** Records one or more events, all or none. */
  recordEvents(input: Input<'record_events'>, options: CallOptions = {}): Promise<Answer<'record_events'>> {
    return this.json('record_events', input, options);
  }

  /** Reads an event with its versions and interventions. */
  event(input: Input<'event'>, options: CallOptions = {}): Promise<Answer<'event'>> {
    return this.json('event', input, options);
  }

  /** Exports the events of a place and time as a file. The body is yet to be read. */
  exportEvents(input: Input<'export_events'> = {}, options: CallOptions = {}): Promise<Response> {
    return this.download('export_events', input, options);
  }

  /** Moves the clock forward by a duration. */
  fastForward(input: Input<'fast_forward'>, options: CallOptions = {}): Promise<Answer<'fast_forward'>> {
    return this.json('fast_forward', input, options);
  }

  /** Lists firings in the order in which they fell due. */
  firings(input: Input<'firings'> = {}, options: CallOptions = {}): Promise<Answer<'firings'>> {
    return this.json('firings', input, options);
  }

  /** Says that firings are done. */
  acknowledgeFirings(
    input: Input<'acknowledge_firings'>,
    options: CallOptions = {},
  ): Promise<Answer<'acknowledge_firings'>> {
    return this.json('acknowledge_firings', input, options);
  }

  /** Keeps claimed firings for longer. */
  extendFirings(input: Input<'extend_firings'>, options: CallOptions = {}): Promise<Answer<'extend_firings'>> {
    return this.json('extend_firings', input, options);
  }

  /** Says that an attempt at firings failed. */
  failFirings(input: Input<'fail_firings'>, options: CallOptions = {}): Promise<Answer<'fail_firings'>> {
    return this.json('fail_firings', input, options);
  }

  /** Observes firings: one message for each thing that happens to one. It claims none. Close it when you are done. */
  firingsStream(input: Input<'firings_stream'> = {}, options: CallOptions = {}): Promise<Events<FiringMessage>> {
    return this.events('firings_stream', input, options);
  }

  /** Delivers a firing again that has failed. */
  redeliverFiring(input: Input<'redeliver_firing'>, options: CallOptions = {}): Promise<Answer<'redeliver_firing'>> {
    return this.json('redeliver_firing', input, options);
  }

  /** Lists who follows the clock under a name, and which change each has confirmed. */
  followers(input: Input<'followers'> = {}, options: CallOptions = {}): Promise<Answer<'followers'>> {
    return this.json('followers', input, options);
  }

  /** Confirms that a follower has applied a change of the clock. */
  confirmClock(input: Input<'confirm_clock'>, options: CallOptions = {}): Promise<Answer<'confirm_clock'>> {
    return this.json('confirm_clock', input, options);
  }

  /** Has a follower show the clock wrong, or right again. */
  setFault(input: Input<'set_fault'>, options: CallOptions = {}): Promise<Answer<'set_fault'>> {
    return this.json('set_fault', input, options);
  }

  /** Hands a timeline over to another service: it becomes read-only here. */
  handOver(input: Input<'hand_over'>, options: CallOptions = {}): Promise<Answer<'hand_over'>> {
    return this.json('hand_over', input, options);
  }

  /** Imports the events of a file, as many as possible. */
  importEvents(input: Input<'import_events'>, options: CallOptions = {}): Promise<Answer<'import_events'>> {
    return this.json('import_events', input, options);
  }

  /** Lists leases that hold the clock. */
  leases(input: Input<'leases'> = {}, options: CallOptions = {}): Promise<Answer<'leases'>> {
    return this.json('leases', input, options);
  }

  /** Holds the clock at its instant while it is moved past timers. */
  holdAdvances(input: Input<'hold_advances'>, options: CallOptions = {}): Promise<Answer<'hold_advances'>> {
    return this.json('hold_advances', input, options);
  }

  /** Ends a lease that holds the clock. */
  releaseLease(input: Input<'release_lease'>, options: CallOptions = {}): Promise<Answer<'release_lease'>> {
    return this.json('release_lease', input, options);
  }

  /** Lists every limit by name. */
  limits(input: Input<'limits'> = {}, options: CallOptions = {}): Promise<Answer<'limits'>> {
    return this.json('limits', input, options);
  }

  /** Starts a session and sets its cookie. */
  logIn(input: Input<'log_in'>, options: CallOptions = {}): Promise<Answer<'log_in'>> {
    return this.json('log_in', input, options);
  }

  /** Ends the session, or all sessions of the user. */
  logOut(input: Input<'log_out'> = {}, options: CallOptions = {}): Promise<Answer<'log_out'>> {
    return this.json('log_out', input, options);
  }

  /** Intervenes in an event. */
  manipulateEvent(input: Input<'manipulate_event'>, options: CallOptions = {}): Promise<Answer<'manipulate_event'>> {
    return this.json('manipulate_event', input, options);
  }

  /** Finds events by place and time. */
  monitorEvents(input: Input<'monitor_events'>, options: CallOptions = {}): Promise<Answer<'monitor_events'>> {
    return this.json('monitor_events', input, options);
  }

  /** Lists the paradoxes of a timeline. */
  monitorParadox(input: Input<'monitor_paradox'>, options: CallOptions = {}): Promise<Answer<'monitor_paradox'>> {
    return this.json('monitor_paradox', input, options);
  }

  /** Pauses the clock. */
  pauseTime(input: Input<'pause_time'> = {}, options: CallOptions = {}): Promise<Answer<'pause_time'>> {
    return this.json('pause_time', input, options);
  }

  /** Prunes contents whose retention has passed. */
  prune(input: Input<'prune'>, options: CallOptions = {}): Promise<Answer<'prune'>> {
    return this.json('prune', input, options);
  }

  /** Claims firings of a queue, and waits for some. */
  claimFirings(input: Input<'claim_firings'>, options: CallOptions = {}): Promise<Answer<'claim_firings'>> {
    return this.json('claim_firings', input, options);
  }

  /** Restricts a user's time travel. */
  restrictTimeTravel(
    input: Input<'restrict_time_travel'>,
    options: CallOptions = {},
  ): Promise<Answer<'restrict_time_travel'>> {
    return this.json('restrict_time_travel', input, options);
  }

  /** Lists users whose time travel is restricted. */
  restrictions(input: Input<'restrictions'> = {}, options: CallOptions = {}): Promise<Answer<'restrictions'>> {
    return this.json('restrictions', input, options);
  }

  /** Resumes the clock from where it was paused. */
  resumeTime(input: Input<'resume_time'> = {}, options: CallOptions = {}): Promise<Answer<'resume_time'>> {
    return this.json('resume_time', input, options);
  }

  /** Returns the clock, events and timers to an anchor. */
  returnToAnchor(input: Input<'return_to_anchor'>, options: CallOptions = {}): Promise<Answer<'return_to_anchor'>> {
    return this.json('return_to_anchor', input, options);
  }

  /** Moves the clock back by a duration. */
  rewind(input: Input<'rewind'>, options: CallOptions = {}): Promise<Answer<'rewind'>> {
    return this.json('rewind', input, options);
  }

  /** Finds events with their effects, interventions and paradoxes. */
  scanEvents(input: Input<'scan_events'>, options: CallOptions = {}): Promise<Answer<'scan_events'>> {
    return this.json('scan_events', input, options);
  }

  /** Returns the caller and their session. */
  session(input: Input<'session'> = {}, options: CallOptions = {}): Promise<Answer<'session'>> {
    return this.json('session', input, options);
  }

  /** Lists the sessions of a user. */
  sessions(input: Input<'sessions'> = {}, options: CallOptions = {}): Promise<Answer<'sessions'>> {
    return this.json('sessions', input, options);
  }

  /** Ends a session. */
  endSession(input: Input<'end_session'>, options: CallOptions = {}): Promise<Answer<'end_session'>> {
    return this.json('end_session', input, options);
  }

  /** Sets the permissions of a timeline. */
  setAccessControl(
    input: Input<'set_access_control'>,
    options: CallOptions = {},
  ): Promise<Answer<'set_access_control'>> {
    return this.json('set_access_control', input, options);
  }

  /** Sets an anchor at a moment that you can return to. */
  setAnchor(input: Input<'set_anchor'> = {}, options: CallOptions = {}): Promise<Answer<'set_anchor'>> {
    return this.json('set_anchor', input, options);
  }

  /** Sets a password and ends the user's other sessions. */
  setPassword(input: Input<'set_password'>, options: CallOptions = {}): Promise<Answer<'set_password'>> {
    return this.json('set_password', input, options);
  }

  /** Changes the rate of the clock without moving it. */
  setRate(input: Input<'set_rate'>, options: CallOptions = {}): Promise<Answer<'set_rate'>> {
    return this.json('set_rate', input, options);
  }

  /** Sets how long the contents of reads and refusals are kept. */
  setRetention(input: Input<'set_retention'>, options: CallOptions = {}): Promise<Answer<'set_retention'>> {
    return this.json('set_retention', input, options);
  }

  /** Moves a paused clock by what somebody's work cost. */
  spend(input: Input<'spend'>, options: CallOptions = {}): Promise<Answer<'spend'>> {
    return this.json('spend', input, options);
  }

  /** Watches a timeline: one message for each change in the chosen topics. Close it when you are done. */
  stream(input: Input<'stream'> = {}, options: CallOptions = {}): Promise<Events<StreamMessage>> {
    return this.events('stream', input, options);
  }

  /** Tells when a timer would fire by a rule, without setting one. */
  timerMoments(input: Input<'timer_moments'>, options: CallOptions = {}): Promise<Answer<'timer_moments'>> {
    return this.json('timer_moments', input, options);
  }

  /** Lists timers, the next ones first. */
  timers(input: Input<'timers'> = {}, options: CallOptions = {}): Promise<Answer<'timers'>> {
    return this.json('timers', input, options);
  }

  /** Sets a timer that fires when the clock shows its moment. */
  setTimer(input: Input<'set_timer'>, options: CallOptions = {}): Promise<Answer<'set_timer'>> {
    return this.json('set_timer', input, options);
  }

  /** Cancels a timer. */
  cancelTimer(input: Input<'cancel_timer'>, options: CallOptions = {}): Promise<Answer<'cancel_timer'>> {
    return this.json('cancel_timer', input, options);
  }

  /** Shows a timer and its latest firings. */
  timer(input: Input<'timer'>, options: CallOptions = {}): Promise<Answer<'timer'>> {
    return this.json('timer', input, options);
  }

  /** Changes an armed timer. */
  changeTimer(input: Input<'change_timer'>, options: CallOptions = {}): Promise<Answer<'change_timer'>> {
    return this.json('change_timer', input, options);
  }

  /** Moves the clock to a date, time and place. */
  travel(input: Input<'travel'>, options: CallOptions = {}): Promise<Answer<'travel'>> {
    return this.json('travel', input, options);
  }

  /** Cancels the events of an import and frees their ids. */
  undoImport(input: Input<'undo_import'>, options: CallOptions = {}): Promise<Answer<'undo_import'>> {
    return this.json('undo_import', input, options);
  }

  /** Lists users. */
  users(input: Input<'users'> = {}, options: CallOptions = {}): Promise<Answer<'users'>> {
    return this.json('users', input, options);
  }

  /** Creates a user. */
  createUser(input: Input<'create_user'>, options: CallOptions = {}): Promise<Answer<'create_user'>> {
    return this.json('create_user', input, options);
  }

  /** Removes a user and revokes their API keys. */
  deleteUser(input: Input<'delete_user'>, options: CallOptions = {}): Promise<Answer<'delete_user'>> {
    return this.json('delete_user', input, options);
  }
}
