import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { federatedKinds } from '../../src/api/index.ts';
import type { FederatedKind, FederatedObject, MemberCluster } from '../../src/api/index.ts';
import { MutationCache, OWNER_INDEX } from '../../src/controllers/index.ts';
import {
  CONTROLLER_REVISION,
  FederatedReconciler,
  REVISION_SCOPE,
  RedisStatusRows,
} from '../../src/federation/index.ts';
import type { StatusRow } from '../../src/federation/index.ts';
import { SharedInformerFactory, byOwnerUid } from '../../src/informers/index.ts';
import type { SharedInformer } from '../../src/informers/index.ts';
import { kindName, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject, Result } from '../../src/kernel/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { listerOf, memberCluster, memberStatus } from './builders.ts';
import { installDefinitions } from './definitions.ts';
import { adminClient, asTester, createNamespace, eventually, lab, uniqueName } from './lab.ts';
import { NotedEvents } from './noted-events.ts';
import { recordingClient } from './recording-client.ts';
import type { RecordingClient } from './recording-client.ts';
import { serviceAccountWith } from './service-account.ts';
import type { BoundServiceAccount } from './service-account.ts';

const NAME = 'sessions';
const kind = federatedKinds[0] as FederatedKind;
const { gvk } = kind.federated;
const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };

/** A FederatedReconciler on the lab's hub and Redis, with its declared rights only; the members are made by hand. */
export class FederatedFixture {
  namespace = '';
  client!: RecordingClient;
  rows!: RedisStatusRows;
  /** What the reconciler told since {@link start}. */
  events = new NotedEvents();
  /** eu-1 and us-1, both ready. */
  members: readonly MemberCluster[] = [];
  #account!: BoundServiceAccount;
  #redis!: RedisConnections;
  #informers!: SharedInformerFactory;
  #objects!: SharedInformer;
  #revisions!: SharedInformer;
  #reconciler!: FederatedReconciler;

  /** To be called once, at the top of a test file. */
  static install(): FederatedFixture {
    const fixture = new FederatedFixture();
    beforeAll(async () => {
      await installDefinitions('hub', 'hub');
      fixture.#account = await serviceAccountWith('hub', FederatedReconciler.rules([kind]));
      const { url } = lab().redis;
      fixture.#redis = new RedisConnections({ url, keyPrefix: uniqueName('test'), allowNoPassword: false, ...ports });
      fixture.rows = new RedisStatusRows(fixture.#redis);
      await eventually(() => fixture.rows.read('any'), { message: 'redis does not answer' });
    });
    beforeEach(async () => {
      fixture.namespace = await createNamespace('hub');
      fixture.members = ['eu-1', 'us-1'].map((name) => memberCluster(name, {}, { status: memberStatus(true) }));
      await fixture.start();
    });
    afterEach(async () => {
      await fixture.deleteAtOnce();
      await fixture.stop();
    });
    afterAll(async () => {
      await fixture.#redis.close();
      await fixture.#account.remove();
    });
    return fixture;
  }

  /** Begins with empty caches and nothing remembered. */
  async start(): Promise<void> {
    this.client = recordingClient('hub', this.#account.connection);
    this.events = new NotedEvents();
    this.#informers = new SharedInformerFactory({ client: this.client, detectMutations: true, ...ports });
    const { namespace } = this;
    this.#objects = this.#informers.informer(gvk, { namespace });
    this.#revisions = this.#informers.informer(CONTROLLER_REVISION, { namespace, ...REVISION_SCOPE });
    const revisions = new MutationCache({ informer: this.#revisions, clock: systemClock });
    revisions.addIndex(OWNER_INDEX, byOwnerUid);
    this.#reconciler = new FederatedReconciler({
      kind,
      hub: this.client,
      objects: new MutationCache({ informer: this.#objects, clock: systemClock }),
      members: { ...listerOf(), list: () => this.members },
      revisions,
      rows: this.rows,
      events: this.events,
      clock: systemClock,
    });
    this.#informers.start();
    await this.#informers.waitForSync();
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
    await this.client.close();
  }

  /** Creates the object, or changes its spec. */
  async apply(spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const metadata = { name: NAME, namespace: this.namespace };
    const whole = { template: { spec: { replicas: 1 } }, placement: { clusters: ['eu-1'] }, ...spec };
    await adminClient('hub').apply(
      { apiVersion: 'federation.atoll.dev/v1', kind: gvk.kind, metadata, spec: whole },
      asTester,
    );
  }

  /** Runs the reconciler, again while it asks for it at once, on caches that are up to date. */
  async reconcile(guard: () => void = () => undefined): Promise<Result> {
    for (;;) {
      await this.settled();
      const key = { cluster: 'hub', kind: kindName(gvk), namespace: this.namespace, name: NAME };
      const context = { guard, signal: new AbortController().signal };
      const result = await this.#reconciler.reconcile(key, context);
      if (result.kind === 'done' || result.milliseconds > 0) return result;
    }
  }

  /** What a member's worker would leave: by default, that the object runs at the revision that is wanted. */
  async report(cluster: string, row: Partial<StatusRow> = {}): Promise<void> {
    const { metadata, status } = await this.object();
    const targetRevision = status?.updateRevision ?? '';
    const whole = { targetRevision, state: 'Synced' as const, reason: 'Synced', message: '', phase: 'Running', ...row };
    await this.rows.report(metadata.uid ?? '', cluster, whole);
  }

  async find(): Promise<FederatedObject | undefined> {
    return (await adminClient('hub').get({ gvk, namespace: this.namespace, name: NAME })) as
      FederatedObject | undefined;
  }

  async object(): Promise<FederatedObject> {
    const object = await this.find();
    if (object === undefined) throw new Error('the federated object does not exist');
    return object;
  }

  /** "cluster revision state/reason" of each row. */
  async placements(): Promise<string[]> {
    const rows = (await this.object()).status?.placements ?? [];
    return rows.map(({ cluster, targetRevision, state, reason }) => `${cluster} ${targetRevision} ${state}/${reason}`);
  }

  /** The ControllerRevisions, oldest first. */
  async revisions(): Promise<readonly KubernetesObject[]> {
    const { items } = await adminClient('hub').list(CONTROLLER_REVISION, { namespace: this.namespace });
    return items.toSorted((a, b) => Number(a['revision']) - Number(b['revision']));
  }

  /** The writes since this was called last. */
  writes(): string[] {
    return this.client.takeRequests().filter((request) => !request.startsWith('get '));
  }

  async delete(): Promise<void> {
    const uid = (await this.find())?.metadata.uid;
    if (uid === undefined) return;
    await adminClient('hub').delete({ gvk, namespace: this.namespace, name: NAME }, { uid }, asTester);
  }

  /** Until the informers show what the hub has. */
  async settled(): Promise<void> {
    await eventually(async () => {
      const cached = this.#objects.lister.get(`${this.namespace}/${NAME}`);
      const revisions = this.#revisions.lister.list().map(({ metadata }) => metadata.uid);
      const isSame = cached?.metadata.resourceVersion === (await this.find())?.metadata.resourceVersion;
      const known = (await this.revisions()).map(({ metadata }) => metadata.uid);
      return isSame && known.length === revisions.length && known.every((uid) => revisions.includes(uid));
    });
  }

  /** Without waiting for its finalizer. It also leaves nothing behind that somebody would work on: the lab is shared. */
  async deleteAtOnce(): Promise<void> {
    await this.delete();
    await eventually(async () => {
      const left = await this.find();
      if (left === undefined) return true;
      return adminClient('hub').update({ ...left, metadata: { ...left.metadata, finalizers: [] } }, asTester);
    });
  }
}
