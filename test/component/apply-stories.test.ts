import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApplierRequest, LeftField } from '../../src/apply/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import type { ObjectReference } from '../../src/kubernetes/index.ts';
import {
  ApplyFixture,
  asController,
  asPerson,
  CLUSTER,
  DEPLOYMENT,
  updateAs,
  withContainer,
  withSpec,
} from '../support/apply-fixture.ts';
import { KeptObject, WrittenRequests } from '../support/kept-object.ts';
import { adminClient, eventually } from '../support/lab.ts';

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

/** Keeps an object from now on; what that took is not of interest. */
async function keep(desired: KubernetesObject, options: Partial<ApplierRequest> = {}): Promise<KeptObject> {
  kept = new KeptObject(desired, { owner: fixture.owner, ...options });
  await kept.start();
  await written.take();
  return kept;
}

function leftBy(object: KeptObject): readonly LeftField[] {
  const outcome = object.last();
  if (!('left' in outcome)) throw new Error(outcome.message);
  return outcome.left;
}

async function specOf(): Promise<Record<string, unknown>> {
  return (await fixture.liveOf(DEPLOYMENT, 'web'))['spec'] as Record<string, unknown>;
}

/** Somebody's change of the live Deployment. */
async function edit(change: (live: KubernetesObject) => KubernetesObject, as = asPerson): Promise<void> {
  await eventually(async () => updateAs(as, change(await fixture.liveOf(DEPLOYMENT, 'web'))));
}

const APPLY = 'patch deployments/web 200';
const FORCED = 'patch! deployments/web 200';

describe('an autoscaler', () => {
  const scale = (replicas: number): Promise<void> =>
    fixture.kubectl(
      'patch',
      'deployment/web',
      '--subresource=scale',
      '--field-manager=kube-controller-manager',
      '--type=merge',
      `--patch={"spec":{"replicas":${replicas}}}`,
    );

  it('that holds 7 replicas while Git says 0 keeps them when the image changes', async () => {
    const web = await keep(fixture.deployment());
    await scale(7);
    await web.atRest();
    expect(await written.take()).toEqual([]);
    await web.want(fixture.deployment('web:2'));
    expect(await written.take()).toEqual([APPLY]);
    expect(await specOf()).toMatchObject({ replicas: 7 });
    expect(JSON.stringify(await specOf())).toContain('web:2');
    expect(leftBy(web)).toEqual([
      { path: '.spec.replicas', manager: 'kube-controller-manager', subresource: 'scale', why: 'autoscaler' },
    ]);
    await scale(3);
    await web.restart();
    expect(await written.take()).toEqual([]);
    expect(await specOf()).toMatchObject({ replicas: 3 });
  });

  it('that goes to 0 and back, which a server does not record, is still left what it says', async () => {
    const web = await keep(withSpec(fixture.deployment(), { replicas: 2 }));
    for (const replicas of [7, 0, 3]) {
      await scale(replicas);
      await web.atRest();
      await web.restart();
      expect(leftBy(web)).toMatchObject([{ path: '.spec.replicas' }]);
    }
    expect(await written.take()).toEqual([]);
    await web.want(withSpec(fixture.deployment('web:2'), { replicas: 2 }));
    expect(await written.take()).toEqual([APPLY]);
    expect(await specOf()).toMatchObject({ replicas: 3 });
  });

  it('that broke and says 0 does not make 0 what is wanted', async () => {
    const ignore = [{ path: 'spec.replicas', mode: 'Adopt' as const }];
    const web = await keep(withSpec(fixture.deployment(), { replicas: 2 }), { ignore });
    expect(await specOf()).toMatchObject({ replicas: 2 });
    await scale(0);
    await web.want(withSpec(fixture.deployment('web:2'), { replicas: 2 }));
    expect(await written.take()).toEqual([APPLY]);
    const live = await fixture.liveOf(DEPLOYMENT, 'web');
    const ours = live.metadata.managedFields?.find(({ manager }) => manager === 'atoll');
    expect(JSON.stringify(ours)).not.toContain('f:replicas');
    expect(live['spec']).toMatchObject({ replicas: 0 });
  });
});

describe('a person', () => {
  it.each<[string, readonly string[]]>([
    [
      'edit',
      ['patch', 'deployment/web', '--field-manager=kubectl-edit', '--type=merge', '--patch={"spec":{"replicas":1}}'],
    ],
    ['label', ['label', 'deployment/web', 'tier=back', '--overwrite']],
    ['set image', ['set', 'image', 'deployment/web', 'app=web:evil']],
  ])('who uses kubectl %s finds it taken back by one request', async (_, command) => {
    const web = await keep(fixture.deployment());
    const before = await specOf();
    await fixture.kubectl(...command);
    await web.atRest();
    expect(await written.take()).toEqual([FORCED]);
    expect(await specOf()).toEqual(before);
    await web.restart();
    expect(await written.take()).toEqual([]);
  });

  it('who adds a label of their own keeps it, and nothing is written', async () => {
    const web = await keep(fixture.deployment());
    await fixture.kubectl('label', 'deployment/web', 'mine=yes');
    await web.atRest();
    expect(await written.take()).toEqual([]);
  });

  it('who uses kubectl scale has said how many there are', async () => {
    const web = await keep(fixture.deployment());
    await fixture.kubectl('scale', 'deployment/web', '--replicas=1');
    await web.atRest();
    expect(await written.take()).toEqual([]);
    expect(leftBy(web)).toEqual([{ path: '.spec.replicas', manager: 'kubectl', subresource: 'scale', why: 'scale' }]);
  });

  it('who uses kubectl apply finds what they changed taken back by one request', async () => {
    const web = await keep(fixture.deployment());
    const manifest = JSON.stringify(withSpec(fixture.deployment('web:mine'), { replicas: 1 }));
    await fixture.kubectlWith(manifest, 'apply', '--filename=-');
    await web.atRest();
    expect(await written.take()).toEqual([FORCED]);
    expect(await specOf()).toMatchObject({ replicas: 0 });
  });

  it('whose program edits again and again is left after three rounds', async () => {
    const web = await keep(fixture.deployment());
    for (let round = 0; round < 5; round += 1) {
      await edit((live) => withSpec(live, { replicas: 1 }));
      await web.atRest();
    }
    expect(await written.take()).toEqual([FORCED, FORCED, FORCED]);
    expect(leftBy(web)).toEqual([{ path: '.spec.replicas', manager: 'kubectl-edit', why: 'flipping' }]);
    await edit((live) => withSpec(live, { replicas: 2 }));
    await web.atRest();
    expect(await written.take()).toEqual([FORCED]);
  });
});

describe('another writer', () => {
  const webhooks = (caBundle?: string): KubernetesObject => {
    const clientConfig = { url: 'https://127.0.0.1:1/', ...(caBundle !== undefined && { caBundle }) };
    const hook = (name: string): Record<string, unknown> => ({
      name,
      clientConfig,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
    });
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: fixture.namespace },
      webhooks: [hook('a.example.com'), hook('b.example.com')],
    };
  };

  const webhookRef = (): ObjectReference => ({
    gvk: { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration' },
    name: fixture.namespace,
  });
  interface WebhookConfiguration {
    readonly webhooks: readonly { readonly clientConfig: { readonly caBundle: string } }[];
  }

  it("that applies one webhook's caBundle keeps it", async () => {
    const client = fixture.client;
    const [mine, theirs] = [Buffer.from('mine').toString('base64'), Buffer.from('theirs').toString('base64')];
    await fixture.apply(webhooks(mine), undefined);
    const injector = { ...asController, fieldManager: 'ca-injector' };
    await adminClient(CLUSTER).apply(
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: fixture.namespace },
        webhooks: [{ name: 'b.example.com', clientConfig: { caBundle: theirs } }],
      },
      injector,
      { force: true },
    );
    client.takeRequests();
    const outcome = await fixture.apply(webhooks(mine), undefined);
    expect(client.takeRequests()).toEqual([`get ValidatingWebhookConfiguration/${fixture.namespace}`]);
    const held = {
      path: '.webhooks[name="b.example.com"].clientConfig.caBundle',
      manager: 'ca-injector',
      why: 'applier',
    };
    expect(outcome).toMatchObject({ result: 'unchanged', left: [held] });
    const changed = { ...webhooks(mine), metadata: { name: fixture.namespace, labels: { changed: 'yes' } } };
    await fixture.apply(changed, await adminClient(CLUSTER).get(webhookRef()));
    expect(client.takeRequests()).toEqual([`apply ValidatingWebhookConfiguration/${fixture.namespace}`]);
    const { webhooks: after } = (await adminClient(CLUSTER).get(webhookRef())) as unknown as WebhookConfiguration;
    expect(after.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([mine, theirs]);
    await fixture.remove(webhookRef());
  });

  it('that owns a whole list blocks the object, and nothing is sent', async () => {
    const web = await keep(fixture.deployment());
    await edit((live) => withContainer(live, { args: ['--theirs'] }), asController);
    await web.atRest();
    expect(web.last()).toMatchObject({ result: 'blocked', held: [{ manager: 'some-controller', why: 'controller' }] });
    await web.want(fixture.deployment('web:2'));
    await web.restart();
    expect(await written.take()).toEqual([]);
  });

  it('that changes a field by agreement is not told of, and not asked', async () => {
    const ignore = [{ path: 'spec.template.spec.containers[name="app"].image', mode: 'Adopt' as const }];
    const web = await keep(fixture.deployment(), { ignore });
    await edit((live) => withContainer(live, { image: 'web:theirs' }), asController);
    await web.atRest();
    expect(await written.take()).toEqual([]);
    await web.want(withSpec(fixture.deployment('web:git'), { replicas: 3 }));
    expect(await written.take()).toEqual([APPLY]);
    expect(JSON.stringify(await specOf())).toContain('web:theirs');
    await web.want(withSpec(fixture.deployment('web:other'), { replicas: 3 }));
    expect(await written.take()).toEqual([]);
  });

  it('that takes a label away each time is noticed after the second round', async () => {
    const web = await keep(fixture.deployment());
    for (let round = 0; round < 4; round += 1) {
      await edit(
        (live) => ({ ...live, metadata: { ...live.metadata, labels: without(live.metadata.labels, 'tier') } }),
        asController,
      );
      await web.atRest();
    }
    expect(await written.take()).toEqual([APPLY, APPLY]);
    expect(leftBy(web)).toEqual([{ path: '.metadata.labels.tier', manager: '', why: 'flipping' }]);
  });
});

function without(labels: Readonly<Record<string, string>> = {}, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== name));
}

describe('a policy', () => {
  it('that is changed counts at once, although nothing else has', async () => {
    const web = await keep(fixture.deployment());
    await edit((live) => withSpec(live, { replicas: 5 }), asController);
    await web.atRest();
    expect(await written.take()).toEqual([]);
    await web.under({ force: true });
    expect(await written.take()).toEqual([FORCED]);
    expect(await specOf()).toMatchObject({ replicas: 0 });
  });
});

describe('adopting what kubectl apply made', () => {
  it('hands its ownership over without touching the pods, so that what Git drops later goes', async () => {
    const annotations = { 'example.com/a': '1' };
    const made = fixture.deployment();
    const manifest = JSON.stringify({ ...made, metadata: { ...made.metadata, annotations } });
    await fixture.kubectlWith(manifest, 'apply', '--filename=-');
    const before = await fixture.liveOf(DEPLOYMENT, 'web');
    kept = new KeptObject(
      { ...made, metadata: { ...made.metadata, annotations } },
      { owner: fixture.owner, adoption: 'Adopt' },
    );
    await kept.start();
    expect(await written.take()).toEqual([APPLY, APPLY]);
    const adopted = await fixture.liveOf(DEPLOYMENT, 'web');
    expect(adopted['spec']).toEqual(before['spec']);
    expect(Object.keys(adopted.metadata.annotations ?? {})).not.toContain(
      'kubectl.kubernetes.io/last-applied-configuration',
    );
    await kept.want(made);
    expect(await written.take()).toEqual([APPLY]);
    expect((await fixture.liveOf(DEPLOYMENT, 'web')).metadata.annotations).not.toHaveProperty('example.com/a');
  });
});
