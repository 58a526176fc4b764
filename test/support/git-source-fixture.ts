import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { federatedRedisClusterKind, gitSourceKind } from '../../src/api/index.ts';
import type { GitSource } from '../../src/api/index.ts';
import { MutationCache } from '../../src/controllers/index.ts';
import { GitSourceReconciler, HubObjects, Inventories, inventoryRules } from '../../src/federation/index.ts';
import { GitProcess } from '../../src/git/index.ts';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import { kindName, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject, PolicyRule, Result } from '../../src/kernel/index.ts';
import type { ManifestReading } from '../../src/manifests/index.ts';
import { hubClusterRules, tenantRules } from '../../src/roles.ts';
import type { GitRepository } from '../lab/index.ts';
import { installDefinitions } from './definitions.ts';
import { adminClient, asTester, createNamespace, createRepository, eventually, lab } from './lab.ts';
import { NotedEvents } from './noted-events.ts';
import { recordingClient } from './recording-client.ts';
import type { RecordingClient } from './recording-client.ts';
import { serviceAccountWith } from './service-account.ts';
import type { BoundServiceAccount } from './service-account.ts';

const SOURCE = 'apps';
const childScript = new URL('../../src/git-child.ts', import.meta.url);
/** What Atoll has on a hub, with what every namespace of a source grants. */
const rules = [...hubClusterRules, ...tenantRules, ...inventoryRules];

/** A GitSourceReconciler on the lab's hub and Git server, with its declared rights only. Fresh for each test. */
export class GitSourceFixture {
  /** Of the source. */
  namespace = '';
  repository!: GitRepository;
  client!: RecordingClient;
  /** What the reconciler told. */
  events = new NotedEvents();
  #account!: BoundServiceAccount;
  #git!: GitProcess<ManifestReading>;
  #informers!: SharedInformerFactory;
  #reconciler!: GitSourceReconciler;
  #guard: () => void = () => undefined;

  /** To be called once, at the top of a test file. */
  static install(): GitSourceFixture {
    const fixture = new GitSourceFixture();
    const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
    beforeAll(async () => {
      await installDefinitions('hub', 'hub');
      fixture.#account = await serviceAccountWith('hub', rules);
      fixture.#git = new GitProcess({ childScript, allowLoopback: true, ...ports });
    });
    beforeEach(async () => {
      fixture.namespace = await createNamespace('hub');
      fixture.repository = await createRepository();
      fixture.events = new NotedEvents();
      fixture.client = recordingClient('hub', fixture.#account.connection);
      fixture.#informers = new SharedInformerFactory({ client: fixture.client, detectMutations: true, ...ports });
      fixture.#reconciler = fixture.#createReconciler(await createNamespace('hub'));
      fixture.#informers.start();
      await fixture.#informers.waitForSync();
    });
    afterEach(async () => {
      await fixture.#end();
      await fixture.#informers.stop();
      await fixture.client.close();
    });
    afterAll(async () => {
      await fixture.#git.close();
      await fixture.#account.remove();
    });
    return fixture;
  }

  /** Creates the source and the Secret with its credentials. */
  async create(spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { username, password, ca } = lab().git;
    const { namespace } = this;
    await adminClient('hub').create(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'git', namespace },
        stringData: { username, password, 'ca.crt': ca },
      },
      asTester,
    );
    await adminClient('hub').create(
      {
        apiVersion: 'federation.atoll.dev/v1',
        kind: 'GitSource',
        metadata: { name: SOURCE, namespace },
        spec: { url: this.repository.url, secretRef: { name: 'git' }, ...spec },
      },
      asTester,
    );
  }

  /** Gives the service account `gitops` of the source's namespace rights there. */
  async grant(...granted: readonly PolicyRule[]): Promise<void> {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name: 'gitops', namespace: this.namespace };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'gitops' };
    const subjects = [{ kind: 'ServiceAccount', name: 'gitops', namespace: this.namespace }];
    const hub = adminClient('hub');
    await hub.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, asTester);
    await hub.apply({ apiVersion, kind: 'Role', metadata, rules: granted }, asTester);
    await hub.apply({ apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects }, asTester);
  }

  /** Gives the service account `gitops` rights in the whole hub. @returns what takes them away again */
  async grantEverywhere(...granted: readonly PolicyRule[]): Promise<() => Promise<void>> {
    const group = 'rbac.authorization.k8s.io';
    const name = `test-${this.namespace}`;
    const base = { apiVersion: `${group}/v1`, metadata: { name } };
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name };
    const subjects = [{ kind: 'ServiceAccount', name: 'gitops', namespace: this.namespace }];
    const hub = adminClient('hub');
    const account = { name: 'gitops', namespace: this.namespace };
    await hub.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account }, asTester);
    const created = [
      await hub.create({ ...base, kind: 'ClusterRole', rules: granted }, asTester),
      await hub.create({ ...base, kind: 'ClusterRoleBinding', roleRef, subjects }, asTester),
    ];
    return async () => {
      for (const { kind, metadata } of created) {
        await hub.delete({ gvk: { group, version: 'v1', kind }, name }, { uid: metadata.uid ?? '' }, asTester);
      }
    };
  }

  /** Runs the reconciler, again while it asks for it at once, on caches that are up to date. */
  async reconcile(guard: () => void = () => undefined): Promise<Result> {
    this.#guard = guard;
    for (;;) {
      const result = await this.#run();
      if (result.kind === 'done' || result.milliseconds > 0) return result;
    }
  }

  /** Commits and reconciles. @returns the revision of the commit, as statuses name it */
  async sync(files: Parameters<GitRepository['commit']>[0]): Promise<string> {
    const oid = await this.repository.commit(files, 'Change');
    await this.reconcile();
    return `main@sha1:${oid}`;
  }

  async source(): Promise<GitSource | undefined> {
    return (await this.#read(gitSourceKind.gvk, SOURCE)) as GitSource | undefined;
  }

  /** "True/Reason message" of the source. */
  async ready(): Promise<string> {
    const condition = (await this.source())?.status?.conditions?.find(({ type }) => type === 'Ready');
    return `${condition?.status}/${condition?.reason} ${condition?.message}`;
  }

  federated(name: string): Promise<KubernetesObject | undefined> {
    return this.#read(federatedRedisClusterKind.gvk, name);
  }

  configMap(name: string): Promise<KubernetesObject | undefined> {
    return this.#read({ group: '', version: 'v1', kind: 'ConfigMap' }, name);
  }

  /** The writes since this was called last. */
  writes(): string[] {
    return this.client.takeRequests().filter((request) => !request.startsWith('get '));
  }

  async delete(): Promise<void> {
    const uid = (await this.source())?.metadata.uid;
    if (uid === undefined) return;
    const ref = { gvk: gitSourceKind.gvk, namespace: this.namespace, name: SOURCE };
    await adminClient('hub').delete(ref, { uid }, asTester);
  }

  /** Leaves nothing behind that somebody would work on: the lab is shared. */
  async #end(): Promise<void> {
    const { gvk } = federatedRedisClusterKind;
    for (const { metadata } of (await adminClient('hub').list(gvk, { namespace: this.namespace })).items) {
      const { name = '', uid = '' } = metadata;
      await adminClient('hub').delete({ gvk, namespace: this.namespace, name }, { uid }, asTester);
    }
    await this.delete();
    await eventually(async () => {
      const left = await this.source();
      if (left === undefined) return true;
      return adminClient('hub').update({ ...left, metadata: { ...left.metadata, finalizers: [] } }, asTester);
    });
  }

  #createReconciler(inventoryNamespace: string): GitSourceReconciler {
    const informer = this.#informers.informer(gitSourceKind.gvk, { namespace: this.namespace });
    return new GitSourceReconciler({
      hub: this.client,
      sources: new MutationCache({ informer, clock: systemClock }),
      objects: new HubObjects(this.client, new Map()),
      inventories: new Inventories(this.client, inventoryNamespace),
      git: this.#git,
      events: this.events,
      installation: 'test',
      clock: systemClock,
      random: () => 0,
      logger: silentLogger,
    });
  }

  async #run(): Promise<Result> {
    const { lister } = this.#informers.informer(gitSourceKind.gvk, { namespace: this.namespace });
    await eventually(async () => {
      const cached = lister.get(`${this.namespace}/${SOURCE}`);
      return cached?.metadata.resourceVersion === (await this.source())?.metadata.resourceVersion;
    });
    const key = { cluster: 'hub', kind: kindName(gitSourceKind.gvk), namespace: this.namespace, name: SOURCE };
    return this.#reconciler.reconcile(key, { guard: this.#guard, signal: new AbortController().signal });
  }

  #read(gvk: GroupVersionKind, name: string): Promise<KubernetesObject | undefined> {
    return adminClient('hub').get({ gvk, namespace: this.namespace, name });
  }
}

/** The manifest of a FederatedRedisCluster, one field a line. */
export function federatedManifest(
  name: string,
  fields: { readonly replicas?: number; readonly namespace?: string } = {},
): string {
  const { replicas = 1, namespace } = fields;
  return [
    'apiVersion: federation.atoll.dev/v1',
    'kind: FederatedRedisCluster',
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    'spec:',
    '  template:',
    '    spec:',
    `      replicas: ${replicas}`,
    '  placement: {}',
    '',
  ].join('\n');
}

/** The manifest of a ConfigMap. */
export function configMapManifest(name: string, value = 'x', annotation = ''): string {
  const annotations = annotation === '' ? '' : `, annotations: {${annotation}}`;
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${annotations}}\ndata: {value: "${value}"}\n`;
}
