// node-cron.
const { appendFileSync } = require('node:fs');
const cron = require('node-cron');

// By default a job that is late by a second is skipped.
const options = { timezone: 'UTC', missedExecutionTolerance: 3600_000 };
const record = word => appendFileSync('jobs', `${word} ${Date.now() / 1000}\n`);
for (const [letter, expression] of [
  ['a', '0-8/4 8 6 5 *'],
  ['p', '20 8 6 5 *'],
  ['b', '30 1-17/4 6 5 *'],
  ['c', '0 12 7 5 *'],
  ['d', '30 23 7 5 *'],
]) {
  cron.schedule(expression, () => record(letter), options);
}
record('ready');
