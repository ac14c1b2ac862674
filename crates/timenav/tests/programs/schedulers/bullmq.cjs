// BullMQ on a Redis server whose address is the first argument.
const { appendFileSync } = require('node:fs');
const { Queue, Worker } = require('bullmq');

const record = word => appendFileSync('jobs', `${word} ${Date.now() / 1000}\n`);
const connection = { path: process.argv[2], maxRetriesPerRequest: null };

async function main() {
  const queue = new Queue('jobs', { connection });
  for (const [letter, pattern] of [
    ['a', '0-8/4 8 6 5 *'],
    ['p', '20 8 6 5 *'],
    ['b', '30 1-17/4 6 5 *'],
    ['c', '0 12 7 5 *'],
    ['d', '30 23 7 5 *'],
  ]) {
    await queue.upsertJobScheduler(letter, { pattern, tz: 'UTC' }, { name: letter });
  }
  const worker = new Worker('jobs', async job => record(job.name), {
    connection,
    // By default the lock of a job ends after 30 s, which are 8 ms at rate 3600.
    lockDuration: 36_000_000,
    stalledInterval: 36_000_000,
  });
  await worker.waitUntilReady();
  record('ready');
}

main();
