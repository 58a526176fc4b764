import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Applier } from '../../src/apply/index.ts';
import type { ApplyOutcome } from '../../src/apply/index.ts';
import { noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { FieldManagerConflictError } from '../../src/kubernetes/index.ts';
import {
  ApplyFixture,
  asAtoll,
  asController,
  asPerson,
  CLUSTER,
  DEPLOYMENT,
  updateAs,
  withContainer,
  withSpec,
} from '../support/apply-fixture.ts';
import { adminClient, eventually } from '../support/lab.ts';

const fixture = ApplyFixture.install();
const asRival = { ...asController, fieldManager: 'rival' };

/** One field of a Deployment, and how it gets a value. */
const FIELDS = {
  replicas: (live: KubernetesObject, value: number) => withSpec(live, { replicas: value }),
  image: (live: KubernetesObject, value: number) => withContainer(live, { image: `web:${value}` }),
  label: (live: KubernetesObject, value: number) => withLabel(live, 'tier', `tier-${value}`),
  unlabel: (live: KubernetesObject) => withLabel(live, 'tier', undefined),
  foreign: (live: KubernetesObject, value: number) => withLabel(live, 'foreign', `v${value}`),
  env: (live: KubernetesObject, value: number) => withContainer(live, { env: [{ name: 'A', value: `${value}` }] }),
} as const;

type Field = keyof typeof FIELDS;
const fields = Object.keys(FIELDS) as Field[];

/** What somebody does. A rival applies some fields, by force or not; the others write the whole object. */
type Step =
  | { readonly by: 'person' | 'controller'; readonly field: Field; readonly value: number }
  | { readonly by: 'rival'; readonly replicas: number; readonly label: boolean; readonly force: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    by: fc.constantFrom('person' as const, 'controller' as const),
    field: fc.constantFrom(...fields),
    value: fc.integer({ min: 1, max: 2 }),
  }),
  fc.record({
    by: fc.constant('rival' as const),
    replicas: fc.integer({ min: 1, max: 2 }),
    label: fc.boolean(),
    force: fc.boolean(),
  }),
);

function withLabel(live: KubernetesObject, name: string, value: string | undefined): KubernetesObject {
  const { [name]: _former, ...others } = live.metadata.labels ?? {};
  const labels = { ...others, ...(value !== undefined && { [name]: value }) };
  return { ...live, metadata: { ...live.metadata, labels } };
}

async function play(played: Step): Promise<void> {
  if (played.by === 'rival') return applyAsRival(played);
  const as = played.by === 'person' ? asPerson : asController;
  await eventually(async () => {
    const live = await fixture.liveOf(DEPLOYMENT, 'web');
    return updateAs(as, FIELDS[played.field](live, played.value));
  });
}

async function applyAsRival({ replicas, label, force }: Extract<Step, { by: 'rival' }>): Promise<void> {
  const labels = label ? { tier: 'rival' } : { other: 'rival' };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: fixture.namespace, labels },
  };
  try {
    await adminClient(CLUSTER).apply({ ...body, spec: { replicas } }, asRival, { force });
  } catch (error) {
    if (!(error instanceof FieldManagerConflictError)) throw error;
  }
}

function newApplier(): Applier {
  return new Applier({ client: fixture.client, clock: systemClock, metrics: noMetrics });
}

/** Looks until nothing is to be done. @returns the requests that it took */
async function settle(applier: Applier): Promise<readonly string[]> {
  fixture.client.takeRequests();
  for (let look = 0; look < 5; look += 1) {
    const outcome = await lookOnce(applier);
    if (outcome.result === 'unchanged' || outcome.result === 'blocked') break;
  }
  return fixture.client.takeRequests();
}

async function lookOnce(applier: Applier): Promise<ApplyOutcome> {
  const live = await fixture.liveOf(DEPLOYMENT, 'web');
  return applier.apply({ desired: fixture.deployment(), live, owner: fixture.owner, write: asAtoll });
}

/** Whom the steps give a right to a field. A person has none: every edit of theirs came after our apply. */
const RIGHTFUL: readonly string[] = ['applier', 'controller', 'flipping'];

/** Every field is as Git has it, or is named as left to somebody who has a right to it. */
async function expectOursOrLeft(applier: Applier): Promise<void> {
  const outcome = await settledOutcome(applier);
  if (!('left' in outcome)) throw new Error(outcome.message);
  expect(outcome.left.filter(({ why }) => !RIGHTFUL.includes(why))).toEqual([]);
  const left = outcome.left.map(({ path }) => path);
  const wanted = valuesOf(fixture.deployment());
  const live = valuesOf(await fixture.liveOf(DEPLOYMENT, 'web'));
  const different = Object.keys(wanted).filter((path) => wanted[path] !== live[path]);
  expect(different.filter((path) => !left.includes(path))).toEqual([]);
}

async function settledOutcome(applier: Applier): Promise<ApplyOutcome> {
  const outcome = await lookOnce(applier);
  fixture.client.takeRequests();
  return outcome;
}

/** What the steps write to, by path. */
function valuesOf(object: KubernetesObject): Readonly<Record<string, unknown>> {
  const spec = object['spec'] as { replicas: number; template: { spec: { containers: Container[] } } };
  const [container] = spec.template.spec.containers;
  return {
    '.spec.replicas': spec.replicas,
    '.metadata.labels.tier': object.metadata.labels?.['tier'],
    '.spec.template.spec.containers[name="app"].image': container?.image,
    '.spec.template.spec.containers[name="app"].env[name="A"].value': container?.env?.[0]?.value,
  };
}

interface Container {
  readonly image?: string;
  readonly env?: readonly { readonly value?: string }[];
}

describe('three other managers', () => {
  it('writing at random cost at most one write of ours each, and none afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const applier = newApplier();
        await fixture.remove(fixture.refOf(DEPLOYMENT, 'web'));
        await applier.apply({ desired: fixture.deployment(), live: undefined, owner: fixture.owner, write: asAtoll });
        for (const played of steps) {
          await play(played);
          const requests = await settle(applier);
          expect(requests.length, `after ${JSON.stringify(played)}: ${requests.join(', ')}`).toBeLessThanOrEqual(1);
          expect(await settle(applier)).toEqual([]);
          await expectOursOrLeft(applier);
        }
        const before = await settledOutcome(applier);
        const flips = 'left' in before && before.left.some(({ why }) => why === 'flipping');
        // A field that went back and forth is tried again by one who does not know that it did.
        expect((await settle(newApplier())).length, 'by one who knows nothing').toBeLessThanOrEqual(flips ? 1 : 0);
      }),
      { numRuns: 30 },
    );
  });
});
