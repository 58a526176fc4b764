import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ApplyOutcome, ApplyRequest, OwnerMark, RemoveOutcome } from '../../src/apply/index.ts';
import { applyObject, removeObject } from '../../src/apply/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import type { ObjectReference, WriteContext } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, lab, labCluster } from './lab.ts';
import { type RecordingClient, recordingClient } from './recording-client.ts';

/** The hub runs no controller that would write to a Deployment meanwhile. */
export const CLUSTER = 'hub';
export const CONFIG_MAP: GroupVersionKind = { group: '', version: 'v1', kind: 'ConfigMap' };
export const DEPLOYMENT: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'Deployment' };

export const asAtoll: WriteContext = { identity: { kind: 'self' }, fieldManager: 'atoll', guard: () => undefined };
export const asPerson: WriteContext = { ...asTester, fieldManager: 'kubectl-edit' };
export const asController: WriteContext = { ...asTester, fieldManager: 'some-controller' };

const run = promisify(execFile);

/** An owner, its namespace, and a client that notes what is asked of the API server; fresh for each test. */
export class ApplyFixture {
  client!: RecordingClient;
  namespace = '';
  owner: OwnerMark = {
    installation: 'test',
    kind: 'FederatedThing.federation.atoll.dev',
    namespace: '',
    name: '',
    uid: '',
  };

  /** To be called once, at the top of a test file. */
  static install(): ApplyFixture {
    const fixture = new ApplyFixture();
    beforeAll(() => {
      fixture.client = recordingClient(CLUSTER);
    });
    beforeEach(async () => {
      fixture.namespace = await createNamespace(CLUSTER);
      fixture.owner = { ...fixture.owner, namespace: fixture.namespace, name: 'mine', uid: '1' };
      fixture.client.takeRequests();
    });
    afterAll(() => fixture.client.close());
    return fixture;
  }

  configMap(data: Record<string, string>, name = 'settings'): KubernetesObject {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: this.namespace }, data };
  }

  deployment(image = 'web:1'): KubernetesObject {
    const container = {
      name: 'app',
      image,
      args: ['--fast'],
      env: [{ name: 'A', value: '1' }],
      ports: [{ containerPort: 80 }],
    };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: this.namespace, labels: { tier: 'front' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [container], tolerations: [{ key: 'spot', operator: 'Exists' }] },
        },
      },
    };
  }

  refOf(gvk: GroupVersionKind, name: string): ObjectReference {
    return { gvk, namespace: this.namespace, name };
  }

  /** The object as an informer that is up to date would have it. */
  async liveOf(gvk: GroupVersionKind, name: string): Promise<KubernetesObject> {
    const live = await adminClient(CLUSTER).get(this.refOf(gvk, name));
    if (live === undefined) throw new Error(`${gvk.kind} ${name} does not exist`);
    return live;
  }

  apply(
    desired: KubernetesObject,
    live: KubernetesObject | undefined,
    options: Partial<ApplyRequest> = {},
  ): Promise<ApplyOutcome> {
    return applyObject({ client: this.client, desired, live, owner: this.owner, write: asAtoll, ...options });
  }

  async created(desired: KubernetesObject): Promise<KubernetesObject> {
    const outcome = await this.apply(desired, undefined);
    if (outcome.result !== 'created') throw new Error(`not created but ${outcome.result}`);
    this.client.takeRequests();
    return outcome.object;
  }

  removeConfigMap(name: string, live: KubernetesObject | undefined): Promise<RemoveOutcome> {
    const ref = this.refOf(CONFIG_MAP, name);
    return removeObject({ client: this.client, ref, live, owner: this.owner, write: asAtoll });
  }

  /** Deletes behind Atoll's back. */
  async deleteConfigMap({ metadata: { name = '', uid = '' } }: KubernetesObject): Promise<void> {
    await adminClient(CLUSTER).delete(this.refOf(CONFIG_MAP, name), { uid }, asTester);
  }

  /** Deletes whatever has a name, as somebody else would. */
  async remove(reference: ObjectReference): Promise<void> {
    const { uid = '' } = (await adminClient(CLUSTER).get(reference))?.metadata ?? {};
    if (uid !== '') await adminClient(CLUSTER).delete(reference, { uid }, asTester);
  }

  /** Takes the finalizers away that keep a deleted object. */
  async release(name: string): Promise<void> {
    await eventually(async () => {
      const live = await this.liveOf(CONFIG_MAP, name);
      await updateAs(asTester, { ...live, metadata: { ...live.metadata, finalizers: [] } });
      return true;
    });
  }

  async kubectl(...command: readonly string[]): Promise<void> {
    await this.kubectlWith('', ...command);
  }

  /** With something on its standard input. */
  async kubectlWith(input: string, ...command: readonly string[]): Promise<void> {
    const { kubeconfigPath } = labCluster(CLUSTER);
    const call = run(lab().kubectl, ['--kubeconfig', kubeconfigPath, '--namespace', this.namespace, ...command]);
    call.child.stdin?.end(input);
    await call;
  }
}

/** Somebody's write of a whole object. */
export function updateAs(write: WriteContext, object: KubernetesObject): Promise<KubernetesObject> {
  return adminClient(CLUSTER).update(object, write);
}

export function withSpec(live: KubernetesObject, spec: Record<string, unknown>): KubernetesObject {
  return { ...live, spec: { ...(live['spec'] as Record<string, unknown>), ...spec } };
}

/** The Deployment with fields of its only container replaced. */
export function withContainer(live: KubernetesObject, fields: Record<string, unknown>): KubernetesObject {
  const spec = live['spec'] as { template: { spec: { containers: Record<string, unknown>[] } } };
  const [container] = spec.template.spec.containers;
  const pod = { ...spec.template.spec, containers: [{ ...container, ...fields }] };
  return withSpec(live, { template: { ...spec.template, spec: pod } });
}
