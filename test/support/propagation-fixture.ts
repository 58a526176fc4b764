import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { federatedKinds } from '../../src/api/index.ts';
import type { FederatedKind, FederatedObject, PlacementRow } from '../../src/api/index.ts';
import { Applier } from '../../src/apply/index.ts';
import { MutationCache } from '../../src/controllers/index.ts';
import { MemberNamespaces, PropagationReconciler } from '../../src/federation/index.ts';
import type { StatusRow } from '../../src/federation/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { kindName, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject, Result } from '../../src/kernel/index.ts';
import { federatedObject, listerOf, memberCluster, placementRow } from './builders.ts';
import { installDefinitions } from './definitions.ts';
import { adminClient, asTester, eventually, uniqueName } from './lab.ts';
import { recordingClient } from './recording-client.ts';
import type { RecordingClient } from './recording-client.ts';
import { serviceAccountWith } from './service-account.ts';
import type { BoundServiceAccount } from './service-account.ts';

export const CLUSTER = 'eu-1';
/** The spec of an object that somebody else made. */
export const BY_HAND = { replicas: 9, version: '8.0' };

const NAME = 'sessions';
const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };
const kind = federatedKinds[0] as FederatedKind;
const target = kind.target.gvk;

type Overrides = NonNullable<FederatedObject['spec']['overrides']>;

/** A PropagationReconciler on a real member; what it finds on the hub is set by hand. Fresh for each test. */
export class PropagationFixture {
  /** A name: the namespace itself is not there yet. */
  namespace = '';
  /** What was reported, in order. */
  reports: StatusRow[] = [];
  client!: RecordingClient;
  onHub!: FederatedObject;
  #revision: KubernetesObject | undefined;
  #installation = '';
  #informers!: SharedInformerFactory;
  #reconciler!: PropagationReconciler;
  #account!: BoundServiceAccount;

  /** To be called once, at the top of a test file. */
  static install(): PropagationFixture {
    const fixture = new PropagationFixture();
    beforeAll(async () => {
      await installDefinitions(CLUSTER, 'member');
      const rules = [...PropagationReconciler.rules([kind]), ...MemberNamespaces.rules];
      fixture.#account = await serviceAccountWith(CLUSTER, rules);
    });
    beforeEach(async () => {
      fixture.namespace = uniqueName('test');
      fixture.#installation = uniqueName('installation');
      fixture.reports = [];
      await fixture.start();
    });
    afterEach(async () => {
      await fixture.stop();
      const namespace = await adminClient(CLUSTER).get({ gvk: NAMESPACE, name: fixture.namespace });
      if (namespace !== undefined) await fixture.#delete(NAMESPACE, namespace);
    });
    afterAll(() => fixture.#account.remove());
    return fixture;
  }

  /** Begins with empty caches and nothing remembered, by default with the declared rules and no other rights. */
  async start(rights: 'as declared' | 'as administrator' = 'as declared'): Promise<void> {
    this.client = recordingClient(CLUSTER, rights === 'as declared' ? this.#account.connection : undefined);
    const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
    this.#informers = new SharedInformerFactory({ client: this.client, detectMutations: true, ...ports });
    this.#reconciler = new PropagationReconciler({
      kind,
      client: this.client,
      applier: new Applier({ client: this.client, ...ports }),
      live: new MutationCache({ informer: this.#informers.informer(target), clock: systemClock }),
      hub: adminClient('hub'),
      objects: { ...listerOf(), get: () => this.onHub },
      members: listerOf(memberCluster(CLUSTER, { region: 'eu' })),
      revisions: { ...listerOf(), get: () => this.#revision },
      installation: this.#installation,
      report: (_, row) => {
        this.reports.push(row);
        return Promise.resolve();
      },
    });
    this.#informers.start();
    await this.#informers.waitForSync();
  }

  async stop(): Promise<void> {
    await this.#informers.stop();
    await this.client.close();
  }

  /** The hub records for the cluster what a row says; revision `r1` holds a template with these overrides. */
  record(row: Partial<PlacementRow>, spec: Record<string, unknown> = {}, overrides: Overrides = []): void {
    const { namespace } = this;
    const template = { metadata: { labels: { team: 'shop' } }, spec: { replicas: 1, version: '8.2' } };
    const placements = [placementRow(CLUSTER, { state: 'OutOfDate', ...row })];
    this.onHub = federatedObject({ metadata: { name: NAME, namespace }, spec, status: { placements } });
    this.#revision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'r1', namespace },
      data: { template, overrides },
    };
  }

  reconcile(guard: () => void = () => undefined): Promise<Result> {
    const key = { cluster: CLUSTER, kind: kindName(kind.federated.gvk), namespace: this.namespace, name: NAME };
    return this.#reconciler.reconcile(key, { guard, signal: new AbortController().signal });
  }

  /** The member's object. */
  live(): Promise<KubernetesObject | undefined> {
    return adminClient(CLUSTER).get({ gvk: target, namespace: this.namespace, name: NAME });
  }

  /** Until the informer shows what the API server has. */
  async settled(): Promise<void> {
    await eventually(async () => {
      const cached = this.#informers.informer(target).lister.get(`${this.namespace}/${NAME}`);
      return cached?.metadata.resourceVersion === (await this.live())?.metadata.resourceVersion;
    });
  }

  /** The writes since this or `client.takeRequests` was called last. */
  writes(): string[] {
    return this.client.takeRequests().filter((request) => !request.startsWith('get '));
  }

  /** Brings the object there; what was reported and asked for on the way is forgotten. */
  async applied(): Promise<KubernetesObject> {
    this.record({});
    await this.reconcile();
    await this.settled();
    this.reports = [];
    this.client.takeRequests();
    return (await this.live()) as KubernetesObject;
  }

  /** Somebody else makes an object of that name. */
  async createByHand(): Promise<void> {
    await this.createNamespace();
    const object = { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster', spec: BY_HAND };
    const metadata = { name: NAME, namespace: this.namespace };
    await adminClient(CLUSTER).create({ ...object, metadata }, asTester);
    await this.settled();
  }

  async createNamespace(): Promise<void> {
    const metadata = { name: this.namespace };
    await adminClient(CLUSTER).create({ apiVersion: 'v1', kind: 'Namespace', metadata }, asTester);
  }

  /** A child of the object that does not go when it is deleted. @returns what lets it go */
  async createHeldChild(): Promise<() => Promise<void>> {
    const { apiVersion = '', kind: ownerKind = '', metadata: { uid = '' } = {} } = (await this.live()) ?? {};
    const owner = { apiVersion, kind: ownerKind, name: NAME, uid, controller: true, blockOwnerDeletion: true };
    const finalizers = ['example.org/hold'];
    const metadata = { name: 'child', namespace: this.namespace, ownerReferences: [owner], finalizers };
    const admin = adminClient(CLUSTER);
    await admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, asTester);
    return async () => {
      const ref = { gvk: { group: '', version: 'v1', kind: 'ConfigMap' }, namespace: this.namespace, name: 'child' };
      await eventually(async () => {
        const child = await admin.get(ref);
        if (child === undefined) return true;
        return admin.update({ ...child, metadata: { ...child.metadata, finalizers: [] } }, asTester);
      });
    };
  }

  /** Somebody else deletes the object. */
  async deleteByHand(): Promise<void> {
    const object = await this.live();
    if (object !== undefined) await this.#delete(target, object);
    await this.gone();
  }

  /** Until the object is gone, and the informer knows. */
  async gone(): Promise<void> {
    await eventually(async () => (await this.live()) === undefined, { message: 'the object stays' });
    await this.settled();
  }

  /** Somebody changes the object, whatever it is like at the moment. */
  async update(
    change: (live: KubernetesObject) => KubernetesObject,
    fieldManager: string = asTester.fieldManager,
  ): Promise<void> {
    await eventually(async () => {
      const live = await this.live();
      return live === undefined ? true : adminClient(CLUSTER).update(change(live), { ...asTester, fieldManager });
    });
    await this.settled();
  }

  async #delete(
    gvk: GroupVersionKind,
    { metadata: { name = '', namespace, uid = '' } }: KubernetesObject,
  ): Promise<void> {
    const ref = { gvk, name, ...(namespace !== undefined && { namespace }) };
    await adminClient(CLUSTER).delete(ref, { uid }, asTester);
  }
}
