/**
 * A process that watches: with an informer and one handler, or with the least that anybody could, a connection, lines and
 * `JSON.parse`. Says what so many changes took it.
 *
 * @module
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind } from '../../src/kernel/index.ts';
import { openClient } from '../hub.ts';
import { cpuMilliseconds, measure } from '../own-process.ts';
import { withoutManagedFields } from './transform.ts';

/** Opens the watch, then counts so many changes. */
export type WatchQuestion =
  | {
      readonly server: string;
      readonly caData: string;
      readonly by: 'informer' | 'lines';
      readonly gvk: GroupVersionKind;
      readonly collection: string;
    }
  | { readonly count: number };

/** Milliseconds. */
export interface WatchCost {
  readonly elapsed: number;
  readonly cpu: number;
}

/** Counts changes; they may come before anybody waits for them. */
class ChangeCount {
  #seen = 0;
  #expected = 0;
  #reached: () => void = () => undefined;

  note(): void {
    this.#seen += 1;
    if (this.#seen === this.#expected) this.#reached();
  }

  /** Resolves when so many more have come since the last that were expected. */
  async expect(count: number): Promise<void> {
    this.#expected += count;
    if (this.#seen >= this.#expected) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reached = resolve;
    await promise;
  }
}

const changes = new ChangeCount();

measure(async (question: WatchQuestion): Promise<WatchCost | undefined> => {
  if (!('count' in question)) {
    await (question.by === 'informer' ? openInformer(question) : openLines(question));
    return undefined;
  }
  const cpu = cpuMilliseconds();
  const started = systemClock.monotonic();
  await changes.expect(question.count);
  return { elapsed: systemClock.monotonic() - started, cpu: cpuMilliseconds() - cpu };
});

type Opening = Exclude<WatchQuestion, { readonly count: number }>;

async function openInformer({ server, caData, gvk }: Opening): Promise<void> {
  const client = openClient({ server, caData });
  const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
  const factory = new SharedInformerFactory({ client, ...ports, transform: withoutManagedFields });
  factory.informer(gvk).addHandler({ onUpdate: () => changes.note() });
  factory.start();
  await factory.waitForSync();
}

async function openLines({ server, caData, collection }: Opening): Promise<void> {
  const outgoing = request(`${server}${collection}?watch=true`, { ca: caData });
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  createInterface({ input: answer }).on('line', (line) => {
    const { type } = JSON.parse(line) as { type: string };
    if (type === 'MODIFIED') changes.note();
    else if (type === 'BOOKMARK') end();
  });
  await ended;
}
