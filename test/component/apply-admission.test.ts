import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ApplyFixture, asController, CLUSTER, CONFIG_MAP, updateAs } from '../support/apply-fixture.ts';
import { KeptObject, WrittenRequests } from '../support/kept-object.ts';
import { adminClient, asTester, eventually } from '../support/lab.ts';

const fixture = ApplyFixture.install();
let kept: KeptObject | undefined;
let written: WrittenRequests;

beforeEach(() => {
  written = new WrittenRequests('atoll', fixture.namespace);
});
afterEach(async () => {
  await kept?.stop();
  kept = undefined;
});

async function keep(desired: KubernetesObject): Promise<KeptObject> {
  kept = new KeptObject(desired, { owner: fixture.owner });
  await kept.start();
  return kept;
}

describe('a mutating policy', () => {
  it('that rewrites a field of ours is told of, and not fought', async () => {
    const name = fixture.namespace;
    await installPolicy(name);
    const outcome = await eventually(async () => {
      const created = await fixture.apply(fixture.configMap({ mode: 'ours' }, `probe-${Date.now()}`), undefined);
      return 'rewritten' in created && created.rewritten.length > 0 && created;
    });
    expect(outcome).toMatchObject({ result: 'created', rewritten: ['.data.mode'] });
    const settings = await keep(fixture.configMap({ mode: 'ours' }));
    await written.take();
    settings.look();
    await settings.atRest();
    await settings.restart();
    expect(await written.take()).toEqual([]);
    expect(settings.last()).toMatchObject({ result: 'unchanged', rewritten: ['.data.mode'] });
    expect((await fixture.liveOf(CONFIG_MAP, 'settings'))['data']).toEqual({ mode: 'policy' });
    await removePolicy(name);
  });

  it("that changes a field of ours during somebody else's write is noticed, and corrected once", async () => {
    const settings = await keep(fixture.configMap({ mode: 'ours' }));
    await written.take();
    await installPolicy(fixture.namespace);
    await eventually(async () => {
      const live = await fixture.liveOf(CONFIG_MAP, 'settings');
      const annotations = { ...live.metadata.annotations, touched: String(Date.now()) };
      await updateAs(asController, { ...live, metadata: { ...live.metadata, annotations } });
      await settings.atRest();
      const last = settings.last();
      return last.result === 'unchanged' && last.rewritten.length > 0;
    });
    expect(await written.take()).toEqual(['patch configmaps/settings 200']);
    await removePolicy(fixture.namespace);
  });
});

const POLICY = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingAdmissionPolicy' };
const BINDING = { ...POLICY, kind: 'MutatingAdmissionPolicyBinding' };

/** ConfigMaps of the test's namespace get `data.mode: policy`, whatever they say. */
async function installPolicy(name: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const selector = { matchLabels: { 'kubernetes.io/metadata.name': fixture.namespace } };
  await adminClient(CLUSTER).apply(
    {
      apiVersion,
      kind: POLICY.kind,
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          namespaceSelector: selector,
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
          ],
        },
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: "Object{data: {'mode': 'policy'}}" },
          },
        ],
      },
    },
    asTester,
  );
  await adminClient(CLUSTER).apply(
    { apiVersion, kind: BINDING.kind, metadata: { name }, spec: { policyName: name } },
    asTester,
  );
}

async function removePolicy(name: string): Promise<void> {
  await fixture.remove({ gvk: BINDING, name });
  await fixture.remove({ gvk: POLICY, name });
}
