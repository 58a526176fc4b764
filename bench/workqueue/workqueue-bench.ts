import { RedisServer } from '../../test/support/redis-server.ts';
import { inOwnProcess, OwnProcess } from '../own-process.ts';
import { atMost } from '../report.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import type { Jobs, Question, Shares, Singles } from './questions.ts';

const PROCESS = new URL('worker-process.ts', import.meta.url);
const ROUNDS = 5;
const COUNT = 2000;
const REPLICAS = 3;
const BACKLOG = 10_000;
const RUN_TIME = 5;

/** Dirty and processing set, backoff, locks that are looked at, priorities: for less than this share nobody would notice. */
const SPEED_BAR = 0.6;
const ROUND_TRIPS_BAR = 3;
const EVENT_BAR = 2;
/** Eight events and the resync, and what began to run before the first was raised. */
const RUNS_PER_RESYNC_BAR = 10;

/** Commands that clients sent, by name: not those that a script called. */
type Commands = ReadonlyMap<string, number>;

/** Jobs per second beside bare BullMQ, requests to Redis, and what a backlog of resyncs does to events. */
export async function benchWorkqueue(report: Report): Promise<void> {
  const server = await RedisServer.create();
  await server.start();
  try {
    for (const replicas of [1, REPLICAS]) await compareJobs(server.url, replicas, report);
    await countRequests(server, report);
    await measureStarts(server.url, report);
    await measureEvents(server.url, report);
    await measureDraining(server.url, report);
  } finally {
    await server.stop();
  }
}

/** In turns, so that what else the machine does meets both. Each replica adds to a shard of its own and works it. */
async function compareJobs(url: string, replicas: number, report: Report): Promise<void> {
  const title = `${COUNT * replicas} keys, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, 8 at a time each`;
  report.section(`${title}, beside bare BullMQ 6.7`);
  const processes = Array.from({ length: replicas }, () => new OwnProcess<Jobs, number>(PROCESS));
  const speeds: Record<Jobs['by'], number[]> = { atoll: [], bullmq: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const by of ['bullmq', 'atoll'] as const) {
      const elapsed = await Promise.all(
        processes.map((replica, index) => replica.ask({ ...jobs, by, url, shard: `m${index}` })),
      );
      speeds[by].push((COUNT * replicas * 1000) / Math.max(...elapsed));
    }
  }
  await Promise.all(processes.map((replica) => replica.close()));
  for (const by of ['bullmq', 'atoll'] as const) report.row(by, `${Math.round(median(speeds[by]))} keys/s`);
  const ratio = median(speeds.atoll.map((speed, index) => speed / (speeds.bullmq[index] ?? Number.NaN)));
  report.row('atoll / bare BullMQ, the middle of the rounds', `${ratio.toFixed(2)}×`, {
    text: `≥ ${SPEED_BAR}×`,
    holds: ratio >= SPEED_BAR,
  });
}

/** Every command counts, though many are sent together: so this is more than the round trips. */
async function countRequests(server: RedisServer, report: Report): Promise<void> {
  report.section('Requests to Redis per key, from its add until its run is over');
  const busy = await commandsDuring(server, () => ask<number>({ ...jobs, by: 'atoll', url: server.url, shard: 'b' }));
  const ofBusy = total(busy) / (COUNT * 1.1);
  report.row('of many keys', `${ofBusy.toFixed(2)}: ${named(busy)}`, atMost(ofBusy, ROUND_TRIPS_BAR));
  const question: Singles = { ...singles, url: server.url, shard: 'i', warmUp: 0, pause: 0 };
  const lone = await commandsDuring(server, () => ask<readonly number[]>(question));
  report.row('of one key at a time, to a worker with nothing to do', (total(lone) / question.samples).toFixed(2));
}

async function measureStarts(url: string, report: Report): Promise<void> {
  report.section('From an add until the run begins, on a worker with nothing to do');
  const times = await ask<readonly number[]>({ ...singles, url, shard: 's' });
  const at = (share: number): string =>
    `${(times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0).toFixed(1)} ms`;
  report.row(`of ${times.length}: p50, p99`, `${at(0.5)}, ${at(0.99)}`);
}

/** What a run takes is part of it, as of a commit. */
async function measureEvents(url: string, report: Report): Promise<void> {
  report.section(
    `An event beside ${BACKLOG} resyncs, from its add until its run of ${RUN_TIME} ms is over, 4 at a time`,
  );
  const usual = median(await ask<readonly number[]>({ ...latency, url, shard: 'u', backlog: 0 }));
  report.row('alone', `${usual.toFixed(1)} ms`);
  const beside = median(await ask<readonly number[]>({ ...latency, url, shard: 'w' }));
  report.row(
    'while they wait',
    `${beside.toFixed(1)} ms, ${(beside / usual).toFixed(2)}×`,
    atMost(beside / usual, EVENT_BAR, '×'),
  );
  const when = 'while it is added';
  const [first = Number.NaN] = await ask<readonly number[]>({ ...latency, url, shard: 'a', when, samples: 1 });
  report.row('added in the same moment, right behind them', `${first.toFixed(1)} ms`);
}

async function measureDraining(url: string, report: Report): Promise<void> {
  report.section('Resyncs beside events that never end');
  const question: Shares = { what: 'shares', url, shard: 'd', concurrency: 4, backlog: 500, stream: 20 };
  const perResync = (await ask<number>(question)) / question.backlog;
  report.row('runs until all have run, per resync', perResync.toFixed(2), atMost(perResync, RUNS_PER_RESYNC_BAR));
}

const jobs = { what: 'jobs', concurrency: 8, count: COUNT } as const;
const singles = { what: 'singles', concurrency: 4, warmUp: 50, samples: 500, pause: 5 } as const;
const latency = {
  what: 'latency',
  concurrency: 4,
  backlog: BACKLOG,
  when: 'while it waits',
  samples: 100,
  pause: 20,
  runTime: RUN_TIME,
} as const;

function ask<Answer>(question: Question): Promise<Answer> {
  return inOwnProcess<Answer>(PROCESS, question);
}

async function commandsDuring(server: RedisServer, action: () => Promise<unknown>): Promise<Commands> {
  const connection = server.connect();
  const monitor = await connection.monitor();
  const counts = new Map<string, number>();
  monitor.on('monitor', (_time: string, [name = '']: readonly string[], source: string) => {
    if (source === 'lua') return;
    const command = name.toLowerCase();
    counts.set(command, (counts.get(command) ?? 0) + 1);
  });
  try {
    await action();
  } finally {
    monitor.disconnect();
    connection.disconnect();
  }
  return counts;
}

function total(commands: Commands): number {
  return [...commands.values()].reduce((sum, count) => sum + count, 0);
}

/** The most frequent first. */
function named(commands: Commands): string {
  const order = [...commands].toSorted(([, a], [, b]) => b - a);
  return order
    .slice(0, 4)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
