import { Agent, request as httpsRequest } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Pool } from 'undici';
import type { Connection } from '../../src/kubernetes/index.ts';
import { asBench, openClient } from '../hub.ts';

/** Who reads and writes the object that they are compared on. */
export type ContestantName = 'atoll' | 'client-node' | 'undici' | 'https';

/** The object that is read and applied: a ConfigMap of 1 KiB, applied before so that applying it again changes nothing. */
export const OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'transport', namespace: 'bench-transport' },
  data: { payload: 'x'.repeat(1024) },
};

/** A client at its task; every call resolves when the answer has been read whole. */
export interface Contestant {
  read(): Promise<unknown>;
  apply(): Promise<unknown>;
}

const PATH = `/api/v1/namespaces/${OBJECT.metadata.namespace}/configmaps/${OBJECT.metadata.name}`;
const APPLY_PATH = `${PATH}?fieldManager=bench&fieldValidation=Strict&timeout=4s`;
const APPLY_TYPE = 'application/apply-patch+yaml';
/** As many connections as requests may be in flight. */
const CONNECTIONS = 32;

/** Opens one; `undici` and `https` are bare: connections are kept and answers read, nothing is around that. */
export const contestants: Readonly<Record<ContestantName, (connection: Connection) => Promise<Contestant>>> = {
  atoll: async (connection) => {
    const client = openClient(connection);
    const ref = { gvk: { group: '', version: 'v1', kind: OBJECT.kind }, ...OBJECT.metadata };
    return { read: () => client.get(ref), apply: () => client.apply(OBJECT, asBench) };
  },
  'client-node': async (connection) => {
    const { CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromString(JSON.stringify(kubeconfigOf(connection)));
    const core = config.makeApiClient(CoreV1Api);
    const objects = KubernetesObjectApi.makeApiClient(config);
    const manager = 'bench';
    return {
      read: () => core.readNamespacedConfigMap(OBJECT.metadata),
      apply: () => objects.patch(OBJECT, undefined, undefined, manager, undefined, PatchStrategy.ServerSideApply),
    };
  },
  undici: async ({ server, caData, clientCertificate, clientKey }) => {
    const connect = { ca: caData ?? '', cert: clientCertificate ?? '', key: clientKey ?? '' };
    const pool = new Pool(server, { connections: CONNECTIONS, connect });
    const body = JSON.stringify(OBJECT);
    const send = async (options: Parameters<Pool['request']>[0]): Promise<void> =>
      assertDone(await pool.request(options).then(async (answer) => [answer.statusCode, await answer.body.text()]));
    return {
      read: () => send({ method: 'GET', path: PATH, headers: { accept: 'application/json' } }),
      apply: () => send({ method: 'PATCH', path: APPLY_PATH, headers: { 'content-type': APPLY_TYPE }, body }),
    };
  },
  https: async ({ server, caData, clientCertificate, clientKey }) => {
    const agent = new Agent({
      ca: caData,
      cert: clientCertificate,
      key: clientKey,
      keepAlive: true,
      maxSockets: CONNECTIONS,
    });
    const body = JSON.stringify(OBJECT);
    const send = async (
      method: string,
      path: string,
      headers: Record<string, string>,
      sent?: string,
    ): Promise<void> => {
      const outgoing = httpsRequest(`${server}${path}`, { method, agent, headers });
      outgoing.end(sent);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      assertDone([answer.statusCode ?? 0, await text(answer)]);
    };
    return {
      read: () => send('GET', PATH, { accept: 'application/json' }),
      apply: () => send('PATCH', APPLY_PATH, { 'content-type': APPLY_TYPE }, body),
    };
  },
};

function assertDone([status, body]: readonly [number, string]): void {
  if (status !== 200) throw new Error(`answered ${status}: ${body}`);
}

function kubeconfigOf({ server, caData, clientCertificate, clientKey }: Connection): unknown {
  const base64 = (value = ''): string => Buffer.from(value).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    clusters: [{ name: 'bench', cluster: { server, 'certificate-authority-data': base64(caData) } }],
    users: [
      {
        name: 'bench',
        user: { 'client-certificate-data': base64(clientCertificate), 'client-key-data': base64(clientKey) },
      },
    ],
  };
}
