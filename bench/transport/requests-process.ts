/**
 * A process with one client in it: makes so many calls at a time when it is asked, and says what they took.
 *
 * @module
 */
import { systemClock } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import { cpuMilliseconds, measure } from '../own-process.ts';
import { contestants } from './contestants.ts';
import type { Contestant, ContestantName } from './contestants.ts';

/** So many calls; the first question of a process opens its client. */
export interface Calls {
  readonly contestant: ContestantName;
  readonly connection: Connection;
  readonly verb: 'read' | 'apply';
  readonly count: number;
  readonly inFlight: number;
}

/** Milliseconds. */
export interface Cost {
  readonly elapsed: number;
  readonly cpu: number;
}

let opened: Promise<Contestant> | undefined;

measure(async ({ contestant, connection, verb, count, inFlight }: Calls): Promise<Cost> => {
  opened ??= contestants[contestant](connection);
  const client = await opened;
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client[verb]();
    }
  };
  const started = systemClock.monotonic();
  const cpu = cpuMilliseconds();
  await Promise.all(Array.from({ length: inFlight }, work));
  return { elapsed: systemClock.monotonic() - started, cpu: cpuMilliseconds() - cpu };
});
