/**
 * A process that starts informers and says what their first sync took; or that does the least that anybody could, a
 * plain list and `JSON.parse`.
 *
 * @module
 */
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind } from '../../src/kernel/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { BadRequestError, KubernetesClient } from '../../src/kubernetes/index.ts';
import type { Connection, WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';
import { observeEventLoop } from '../event-loop.ts';
import type { Lag } from '../event-loop.ts';
import { clientOptions } from '../hub.ts';
import { collectedHeap, cpuMilliseconds, measure, settledResident } from '../own-process.ts';
import type { BenchKind } from './kinds.ts';
import { barePool, collectionOf, NAMESPACE } from './population.ts';
import { withoutManagedFields } from './transform.ts';

/** What to sync, and how. */
export interface SyncQuestion {
  readonly connection: Connection;
  readonly kinds: readonly (GroupVersionKind & Pick<BenchKind, 'plural'>)[];
  /** `full` is without managedFields. */
  readonly form: 'full' | 'metadata' | 'bare';
  /** How the server answers: by one stream, or as one that cannot does. */
  readonly path: 'streamed' | 'listed';
}

/** What it took; milliseconds and bytes. */
export interface SyncCost extends Lag {
  readonly objects: number;
  readonly elapsed: number;
  readonly cpu: number;
  readonly heapPerObject: number;
  readonly peakResident: number;
  /** Resident when all is there and what can go has gone. */
  readonly steadyResident: number;
}

/** A server before WatchList: it refuses to stream a list. */
class ListingClient extends KubernetesClient {
  override async *watch(gvk: GroupVersionKind, options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    if (options.sendInitialEvents === true) throw new BadRequestError('sendInitialEvents is not known here');
    yield* super.watch(gvk, options);
  }
}

/** What holds the objects, so that they are there when the heap is measured. */
interface Held {
  readonly objects: number;
  release(): Promise<void>;
}

measure(async (question: SyncQuestion): Promise<SyncCost> => {
  const hold = question.form === 'bare' ? await prepareLists(question) : await prepareInformers(question);
  const before = collectedHeap();
  const lag = observeEventLoop();
  const cpu = cpuMilliseconds();
  const started = systemClock.monotonic();
  const held = await hold();
  const elapsed = systemClock.monotonic() - started;
  const cost = { ...lag(), elapsed, cpu: cpuMilliseconds() - cpu, objects: held.objects };
  const peakResident = process.resourceUsage().maxRSS * 1024;
  const heapPerObject = (collectedHeap() - before) / held.objects;
  const steadyResident = await settledResident();
  await held.release();
  return { ...cost, heapPerObject, peakResident, steadyResident };
});

/** The client has done its discovery: the sync is measured, not the first connection. */
async function prepareInformers({ connection, kinds, form, path }: SyncQuestion): Promise<() => Promise<Held>> {
  const client =
    path === 'streamed'
      ? new KubernetesClient(clientOptions(connection))
      : new ListingClient(clientOptions(connection));
  await Promise.all(kinds.map((gvk) => client.resourceFor(gvk)));
  const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
  const factory = new SharedInformerFactory({ client, ...ports, transform: withoutManagedFields });
  return async () => {
    const metadataOnly = form === 'metadata';
    const informers = kinds.map(({ group, version, kind }) =>
      factory.informer({ group, version, kind }, { namespace: NAMESPACE }, { metadataOnly }),
    );
    factory.start();
    await factory.waitForSync();
    return {
      objects: informers.reduce((sum, { lister }) => sum + lister.list().length, 0),
      release: async () => {
        await factory.stop();
        await client.close();
      },
    };
  };
}

async function prepareLists({ connection, kinds }: SyncQuestion): Promise<() => Promise<Held>> {
  const pool = barePool(connection, kinds.length);
  await (await pool.request({ method: 'GET', path: '/version' })).body.dump();
  return async () => {
    const lists = await Promise.all(
      kinds.map(async (kind) => {
        const answer = await pool.request({
          method: 'GET',
          path: `${collectionOf(kind as BenchKind)}?resourceVersion=0`,
        });
        return (JSON.parse(await answer.body.text()) as { items: readonly unknown[] }).items;
      }),
    );
    return {
      get objects() {
        return lists.reduce((sum, items) => sum + items.length, 0);
      },
      release: () => pool.destroy(),
    };
  };
}
