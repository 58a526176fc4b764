import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Applier, managedFieldsReducer } from '../../src/apply/index.ts';
import type { ApplyOutcome } from '../../src/apply/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { SharedInformer } from '../../src/informers/index.ts';
import { gvkOf, noMetrics, objectKey, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { KubernetesClient } from '../../src/kubernetes/index.ts';
import { ApplyFixture, asAtoll, asController, CLUSTER, updateAs, withSpec } from '../support/apply-fixture.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { adminClient, asTester, eventually } from '../support/lab.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const CONFIG_MAPS = 900;
const DEPLOYMENTS = 100;

const fixture = ApplyFixture.install();
const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
let account: BoundServiceAccount;
let proxy: FaultProxy;

/** A process that keeps a thousand objects: an informer for each kind, and an applier. */
class Process {
  readonly #client = new KubernetesClient({ ...ports, cluster: CLUSTER, connection: proxy.connection });
  readonly #desired: ReadonlyMap<string, KubernetesObject>;
  readonly #applier = new Applier({ client: this.#client, ...ports });
  readonly #informers = new SharedInformerFactory({
    client: this.#client,
    transform: managedFieldsReducer(),
    ...ports,
  });
  readonly #byKind: ReadonlyMap<string, SharedInformer>;
  #working: Promise<unknown>[] = [];

  constructor(desired: readonly KubernetesObject[]) {
    this.#desired = new Map(desired.map((object) => [keyOf(object), object]));
    this.#byKind = new Map(
      desired.map((object) => [
        object.kind,
        this.#informers.informer(gvkOf(object), { namespace: object.metadata.namespace ?? '' }),
      ]),
    );
    for (const informer of this.#byKind.values()) {
      informer.addHandler({ onAdd: (object) => this.#look(object), onUpdate: (_, object) => this.#look(object) });
    }
  }

  async start(): Promise<void> {
    this.#informers.start();
    await this.#informers.waitForSync();
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
    await this.#client.close();
  }

  /** Creates what is not there, a few at a time. */
  async create(): Promise<void> {
    const waiting = [...this.#desired.values()];
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await this.#apply(next);
    };
    await Promise.all(Array.from({ length: 16 }, () => work()));
  }

  /** Looks at every object, as when Redis lost the queue. @returns how many were looked at */
  async lookAtAll(): Promise<number> {
    const outcomes = await Promise.all([...this.#desired.values()].map((object) => this.#apply(object)));
    return outcomes.filter(({ result }) => result === 'unchanged').length;
  }

  /** Until everything that events brought has been looked at. */
  async atRest(): Promise<void> {
    while (this.#working.length > 0) await Promise.all(this.#working.splice(0));
  }

  #look(object: KubernetesObject): void {
    const desired = this.#desired.get(keyOf(object));
    if (desired !== undefined) this.#working.push(this.#apply(desired));
  }

  #apply(desired: KubernetesObject): Promise<ApplyOutcome> {
    const live = this.#byKind.get(desired.kind)?.lister.get(objectKey(desired));
    return this.#applier.apply({ desired, live, owner: fixture.owner, write: asAtoll });
  }

  /** The versions that the informers' last lists and watches came to. */
  isSynced(): boolean {
    return [...this.#byKind.values()].every((informer) => informer.hasSynced() && informer.lastError() === undefined);
  }
}

function keyOf(object: KubernetesObject): string {
  return `${object.kind} ${objectKey(object)}`;
}

/** What servers print otherwise than they were sent, what nobody can own, and what others hold. */
function desiredObjects(): readonly KubernetesObject[] {
  const configMaps = Array.from({ length: CONFIG_MAPS }, (_, index) =>
    fixture.configMap({ index: String(index), text: 'ü\u0085 \u2028 ', empty: '' }, `settings-${index}`),
  );
  const deployments = Array.from({ length: DEPLOYMENTS }, (_, index) => {
    const base = fixture.deployment();
    const resources = { requests: { cpu: '1000m', memory: '1024Mi' }, limits: {} };
    const container = { name: 'app', image: 'web:1', resources, env: [], ports: [{ containerPort: 80 }] };
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container], nodeSelector: {} } };
    return { ...withSpec(base, { template, replicas: 2 }), metadata: { ...base.metadata, name: `web-${index}` } };
  });
  return [...configMaps, ...deployments];
}

/** Mutating requests that the proxy has seen, dry runs and refused ones too. */
function writes(): readonly string[] {
  return proxy.seen.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`);
}

function forgetRequests(): void {
  proxy.seen.splice(0);
}

function isWatch(url: string): boolean {
  return url.includes('watch=true');
}

beforeAll(async () => {
  account = await serviceAccountWith(CLUSTER, [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
});
afterAll(() => account.remove());
beforeEach(async () => {
  proxy = await FaultProxy.start(account.connection);
});
afterEach(() => proxy.stop());

describe('a thousand objects at rest', () => {
  it('are not written to when watches are cut, versions expire, the process is another one or every key comes back', async () => {
    const desired = desiredObjects();
    const first = new Process(desired);
    await first.start();
    await first.create();
    await first.atRest();
    await othersWrite();
    await first.atRest();

    forgetRequests();
    proxy.cut();
    await eventually(() => Promise.resolve(proxy.seen.some(({ url }) => isWatch(url)) && first.isSynced()));
    await first.atRest();
    expect(writes()).toEqual([]);

    await expireVersions();
    await eventually(() => Promise.resolve(first.isSynced()));
    await first.atRest();
    expect(writes()).toEqual([]);

    expect(await first.lookAtAll()).toBe(desired.length);
    expect(writes()).toEqual([]);
    await first.stop();

    const second = new Process(desired);
    await second.start();
    await second.atRest();
    expect(await second.lookAtAll()).toBe(desired.length);
    await second.stop();
    expect(writes()).toEqual([]);
  });
});

/** Others hold some fields: an autoscaler, a controller and another applier, each of some Deployments. */
async function othersWrite(): Promise<void> {
  for (const index of [0, 1, 2]) {
    await fixture.kubectl('scale', `deployment/web-${index}`, '--replicas=5');
    await fixture.kubectl('scale', `deployment/web-${index + 3}`, '--replicas=0');
  }
  const admin = adminClient(CLUSTER);
  const ref = fixture.refOf({ group: 'apps', version: 'v1', kind: 'Deployment' }, 'web-6');
  await eventually(async () => {
    const live = await admin.get(ref);
    return live && updateAs(asController, withSpec(live, { replicas: 4, paused: true }));
  });
  const rival = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web-7', namespace: fixture.namespace },
  };
  await admin.apply({ ...rival, spec: { replicas: 9 } }, asTester, { force: true });
}

/** Every watch that begins is told that its version is too old, twice, so that everything is listed again. */
async function expireVersions(): Promise<void> {
  let expired = 0;
  const error = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'Expired',
    code: 410,
    message: 'too old',
  };
  proxy.fault = ({ url }) => {
    if (!isWatch(url) || expired >= 4) return undefined;
    expired += 1;
    return { status: 410, headers: { 'content-type': 'application/json' }, body: JSON.stringify(error) };
  };
  proxy.cut();
  await eventually(() => Promise.resolve(expired >= 4), { message: 'no watch began' });
  proxy.fault = () => undefined;
}
