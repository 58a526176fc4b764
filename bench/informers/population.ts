import { Pool } from 'undici';
import { apiVersionOf, systemClock } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import type { BenchKind } from './kinds.ts';

/** Where the benchmarks' objects are. */
export const NAMESPACE = 'bench-informers';

/** Many enough to keep an API server of two cores busy. */
const IN_FLIGHT = 32;
const PROGRESS_INTERVAL = 10_000;

/** A bare client: what fills the server and what is measured are not the same code. */
export function barePool(connection: Connection, connections = IN_FLIGHT): Pool {
  const { server, caData = '', clientCertificate = '', clientKey = '' } = connection;
  return new Pool(server, { connections, connect: { ca: caData, cert: clientCertificate, key: clientKey } });
}

/** The path of a kind's collection in the benchmarks' namespace. */
export function collectionOf(kind: BenchKind): string {
  const prefix = kind.group === '' ? '/api' : '/apis';
  return `${prefix}/${apiVersionOf(kind)}/namespaces/${NAMESPACE}/${kind.plural}`;
}

/** Creates so many objects of each kind, each with the managed fields of its writers, and tells how far it is. */
export async function populate(
  connection: Connection,
  kinds: readonly BenchKind[],
  count: number,
  progress: (line: string) => void,
): Promise<void> {
  const pool = barePool(connection);
  const total = kinds.length * count;
  let next = 0;
  const started = systemClock.monotonic();
  let toldAt = started;
  const work = async (): Promise<void> => {
    while (next < total) {
      const index = next % count;
      const kind = kinds[Math.floor(next / count)];
      next += 1;
      if (kind) await create(pool, kind, index);
      const now = systemClock.monotonic();
      if (now - toldAt < PROGRESS_INTERVAL) continue;
      toldAt = now;
      progress(`${next.toLocaleString('en')} of ${total.toLocaleString('en')} objects created`);
    }
  };
  try {
    await createNamespace(pool);
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  } finally {
    await pool.destroy();
  }
  const seconds = (systemClock.monotonic() - started) / 1000;
  const names = kinds.map(({ kind }) => kind).join(', ');
  progress(`${total.toLocaleString('en')} objects created in ${seconds.toFixed(0)} s: ${names}`);
}

async function createNamespace(pool: Pool): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  await send(pool, { method: 'POST', path: '/api/v1/namespaces', body: namespace, accepted: [201, 409] });
}

async function create(pool: Pool, kind: BenchKind, index: number): Promise<void> {
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const place = { name: `app-${index}`, namespace: NAMESPACE };
  const metadata = {
    ...place,
    labels: {
      'app.kubernetes.io/instance': place.name,
      'app.kubernetes.io/managed-by': 'bench',
      shard: `s${index % 10}`,
    },
    annotations: { 'bench.example.com/description': `object ${index} of ${kind.kind}, for measuring only` },
  };
  await send(pool, {
    method: 'POST',
    path: `${collectionOf(kind)}?fieldManager=bench`,
    body: { ...type, metadata, ...kind.fields(index) },
    accepted: [201],
  });
  if (!kind.status) return;
  await send(pool, {
    method: 'PATCH',
    path: `${collectionOf(kind)}/${place.name}/status?fieldManager=bench-controller&force=true`,
    body: { ...type, metadata: place, status: kind.status(index) },
    accepted: [200],
  });
}

interface Sending {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly accepted: readonly number[];
}

async function send(pool: Pool, { method, path, body, accepted }: Sending): Promise<void> {
  const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
  const answer = await pool.request({ method, path, headers: { 'content-type': type }, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (!accepted.includes(answer.statusCode)) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
}
