import type { MemberCluster, PublishedKind } from '../../src/api/index.ts';
import { customResourceDefinition, memberClusterKind, redisClusterKind } from '../../src/api/index.ts';
import { MemberClusters } from '../../src/clusters/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { kindName, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { Clock, KubernetesObject, Result } from '../../src/kernel/index.ts';
import type { Connection } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from './lab.ts';
import { NotedEvents } from './noted-events.ts';

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Which member a registry is about. */
interface RegisteredMember {
  readonly namespace: string;
  readonly name: string;
  readonly kind: PublishedKind;
}

/** The registry of members on the lab's hub, with one MemberCluster and its Secret of a test's own. */
export class MemberRegistry {
  readonly name: string;
  /** Atoll's, on the hub. */
  readonly namespace: string;
  /** Which Secret of the namespace the member is reached by. */
  secret: string;
  /** Of the tenure with the member that is engaged next. */
  epoch = 1;
  /** How often everything wired to the member was asked for its keys. */
  enqueued = 0;
  /** How often a wiring was taken away. */
  detached = 0;
  /** What the registry told of the member. */
  readonly events = new NotedEvents();
  readonly registry: MemberClusters;
  readonly #kind: PublishedKind;
  readonly #informers: SharedInformerFactory;
  #elapsed = 0;

  private constructor({ namespace, name, kind }: RegisteredMember) {
    this.namespace = namespace;
    this.name = name;
    this.secret = name;
    this.#kind = kind;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + this.#elapsed };
    const ports = { clock, random: Math.random, logger: silentLogger, metrics: noMetrics };
    const hub = adminClient('hub');
    this.#informers = new SharedInformerFactory({ client: hub, ...ports });
    this.registry = new MemberClusters({
      hub,
      events: this.events,
      members: this.#informers.informer(memberClusterKind.gvk).lister,
      secrets: this.#informers.informer(SECRET, { namespace }).lister,
      namespace,
      replica: 'replica-of-the-test',
      probeInterval: 20_000,
      epochOf: () => this.epoch,
      definitions: [customResourceDefinition(kind)],
      wire: (cluster) => {
        cluster.informers.informer(kind.gvk);
        return {
          enqueueAll: () => void (this.enqueued += 1),
          detach: () => void (this.detached += 1),
        };
      },
      ...ports,
    });
  }

  /** A registry that has synced; the hub must serve MemberClusters. The kind is what the members shall serve. */
  static async start(kind: PublishedKind = redisClusterKind): Promise<MemberRegistry> {
    return MemberRegistry.#start({ namespace: await createNamespace('hub'), name: uniqueName('member'), kind });
  }

  static async #start(member: RegisteredMember): Promise<MemberRegistry> {
    const registry = new MemberRegistry(member);
    registry.#informers.start();
    await registry.#informers.waitForSync();
    return registry;
  }

  /** Another replica's registry, which is about the same member, in a later tenure. */
  async successor(): Promise<MemberRegistry> {
    const successor = await MemberRegistry.#start({ namespace: this.namespace, name: this.name, kind: this.#kind });
    successor.secret = this.secret;
    successor.epoch = this.epoch + 1;
    return successor;
  }

  async stop(): Promise<void> {
    await this.registry.disengage(this.name);
    await this.#informers.stop();
    await this.deleteMember();
  }

  /** Creates the MemberCluster, and its Secret when there is a kubeconfig. */
  async join(kubeconfig?: string): Promise<void> {
    if (kubeconfig !== undefined) await this.setKubeconfig(kubeconfig);
    const spec = { connection: { kubeconfigSecretRef: { name: this.secret } } };
    const { group, version, kind } = memberClusterKind.gvk;
    const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: this.name }, spec };
    await adminClient('hub').create(object, asTester);
    await this.#settled();
  }

  async setKubeconfig(kubeconfig: string): Promise<void> {
    const metadata = { name: this.secret, namespace: this.namespace };
    const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
    await adminClient('hub').apply({ apiVersion: 'v1', kind: 'Secret', metadata, data }, asTester);
    await this.#settled();
  }

  async deleteSecret(): Promise<void> {
    const ref = { gvk: SECRET, namespace: this.namespace, name: this.secret };
    const secret = await adminClient('hub').get(ref);
    await adminClient('hub').delete(ref, { uid: secret?.metadata.uid ?? '' }, asTester);
    await this.#settled();
  }

  async deleteMember(): Promise<void> {
    const member = await this.member();
    const uid = member?.metadata.uid;
    if (uid === undefined) return;
    await adminClient('hub').delete({ gvk: memberClusterKind.gvk, name: this.name }, { uid }, asTester);
  }

  /** One run of the reconciler, on caches that are up to date. */
  async look(signal = new AbortController().signal): Promise<Result> {
    await this.#settled();
    const key = { cluster: this.name, kind: kindName(memberClusterKind.gvk), namespace: '', name: this.name };
    return this.registry.reconcile(key, { guard: () => undefined, signal });
  }

  /** Lets time pass without waiting. */
  pass(milliseconds: number): void {
    this.#elapsed += milliseconds;
  }

  async member(): Promise<MemberCluster | undefined> {
    return (await adminClient('hub').get({ gvk: memberClusterKind.gvk, name: this.name })) as MemberCluster | undefined;
  }

  /** "True/Reason" of each condition. */
  async conditions(): Promise<Record<string, string>> {
    const conditions = (await this.member())?.status?.conditions ?? [];
    return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
  }

  async message(): Promise<string> {
    const conditions = (await this.member())?.status?.conditions ?? [];
    return conditions.find(({ type }) => type === 'Ready')?.message ?? '';
  }

  async #settled(): Promise<void> {
    const secret = { gvk: SECRET, namespace: this.namespace, name: this.secret };
    const hub = adminClient('hub');
    await eventually(async () => {
      const lister = this.#informers.informer(SECRET, { namespace: this.namespace }).lister;
      const member = this.#informers.informer(memberClusterKind.gvk).lister.get(this.name);
      return (
        isSame(lister.get(`${this.namespace}/${this.secret}`), await hub.get(secret)) &&
        isSame(member, await this.member())
      );
    });
  }
}

function isSame(cached: KubernetesObject | undefined, live: KubernetesObject | undefined): boolean {
  return cached?.metadata.resourceVersion === live?.metadata.resourceVersion;
}

/** A kubeconfig with a token, or with another way to be somebody. */
export function kubeconfigOf({ server, caData = '', token = '' }: Connection, user?: Record<string, unknown>): string {
  const authority = { 'certificate-authority-data': Buffer.from(caData).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'member', cluster: { server, ...authority } }],
    users: [{ name: 'atoll', user: user ?? { token } }],
    contexts: [{ name: 'member', context: { cluster: 'member', user: 'atoll' } }],
    'current-context': 'member',
  });
}
