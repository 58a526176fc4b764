import { beforeAll, describe, expect, test } from 'vitest';
import { silentLogger, systemClock, noMetrics } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import {
  AlreadyExistsError,
  ApiError,
  BadRequestError,
  ConflictError,
  FieldManagerConflictError,
  ForbiddenError,
  InvalidError,
  KubernetesClient,
  NamespaceTerminatingError,
  NotFoundError,
  ResourceVersionTooLargeError,
  UnauthorizedError,
  UnknownFieldError,
  parseKubeconfig,
} from '../../src/kubernetes/index.ts';
import type { WriteContext } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, labCluster } from '../support/lab.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const NOBODY = '00000000-0000-0000-0000-000000000000';

let client: KubernetesClient;
let namespace: string;

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
});

const as = (fieldManager: string): WriteContext => ({ ...asTester, fieldManager });

function configMap(name: string, rest: Record<string, unknown> = {}, metadata = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, ...rest };
}

function deployment(name: string, { replicas = 0, app = name, container = {}, metadata = {} } = {}): KubernetesObject {
  const selector = { matchLabels: { app } };
  const containers = [{ name: 'main', image: 'none', ...container }];
  const spec = { replicas, selector, template: { metadata: { labels: { app } }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace, ...metadata }, spec };
}

interface Row {
  readonly given?: () => Promise<unknown>;
  readonly call: () => Promise<unknown>;
  readonly type: new (...options: never[]) => ApiError;
  readonly facts?: object;
}

/** Conformance 3.10 (a): what a real API server of 1.37 answers, and what each answer means. */
const applying: Record<string, Row> = {
  'a field of another applier': {
    given: () => client.apply(deployment('rival', { replicas: 1 }), as('rival')),
    call: () => client.apply(deployment('rival', { replicas: 2 }), asTester),
    type: FieldManagerConflictError,
    facts: { status: 409, conflicts: [{ manager: 'rival', operation: 'Apply', path: '.spec.replicas' }] },
  },
  'two fields of another applier': {
    given: () => client.apply(deployment('rivals', { replicas: 1 }), as('rival')),
    call: () => client.apply(deployment('rivals', { replicas: 2, container: { image: 'other' } }), asTester),
    type: FieldManagerConflictError,
    facts: {
      conflicts: [
        { manager: 'rival', operation: 'Apply', path: '.spec.replicas' },
        { manager: 'rival', operation: 'Apply', path: '.spec.template.spec.containers[name="main"].image' },
      ],
    },
  },
  'a field of an updater': {
    given: () => client.create(deployment('edited', { replicas: 1 }), as('kubectl-edit')),
    call: () => client.apply(deployment('edited', { replicas: 2 }), asTester),
    type: FieldManagerConflictError,
    facts: { conflicts: [{ manager: 'kubectl-edit', operation: 'Update', path: '.spec.replicas' }] },
  },
  'a field that was scaled': {
    given: async () => {
      await client.apply(deployment('scaled', { replicas: 1 }), asTester);
      const of = { gvk: { group: 'apps', version: 'v1', kind: 'Deployment' }, namespace, name: 'scaled' };
      const replicas = [{ op: 'replace', path: '/spec/replicas', value: 3 }] as const;
      await client.jsonPatch(of, replicas, as('autoscaler'), { subresource: 'scale' });
    },
    call: () => client.apply(deployment('scaled', { replicas: 2 }), asTester),
    type: FieldManagerConflictError,
    facts: {
      conflicts: [{ manager: 'autoscaler', operation: 'Update', subresource: 'scale', path: '.spec.replicas' }],
    },
  },
  'managedFields in the body': {
    call: () => client.apply(configMap('managed', {}, { managedFields: [{ manager: 'x' }] }), asTester),
    type: BadRequestError,
  },
  'a version that has passed': {
    given: () => client.apply(configMap('moved'), asTester),
    call: () => client.apply(configMap('moved', { data: { a: 'b' } }, { resourceVersion: '1' }), asTester),
    type: ConflictError,
    facts: { status: 409, reason: 'Conflict', causes: [], details: { kind: 'configmaps', name: 'moved' } },
  },
  'the UID of another object': {
    given: () => client.apply(configMap('another'), asTester),
    call: () => client.apply(configMap('another', {}, { uid: NOBODY }), asTester),
    type: InvalidError,
    facts: { status: 422, fields: [expect.objectContaining({ path: 'metadata.uid', reason: 'FieldValueInvalid' })] },
  },
  'the UID of an object that is gone': {
    call: () => client.apply(configMap('gone', {}, { uid: NOBODY }), asTester),
    type: ConflictError,
    facts: { status: 409, causes: [] },
  },
  'another version of the kind': {
    call: () => client.apply({ ...deployment('old'), apiVersion: 'apps/v1beta1' }, asTester),
    type: ApiError,
    facts: { name: 'KindNotFoundError' },
  },
  'no field manager': {
    call: () => client.apply(configMap('unmanaged'), as('')),
    type: InvalidError,
    facts: { fields: [expect.objectContaining({ path: 'fieldManager', reason: 'FieldValueRequired' })] },
  },
  'too long a field manager': {
    call: () => client.apply(configMap('unmanaged'), as('x'.repeat(129))),
    type: InvalidError,
    facts: { fields: [expect.objectContaining({ path: 'fieldManager', reason: 'FieldValueTooLong' })] },
  },
  'an unknown field': {
    call: () => client.apply(configMap('unknown', { colour: 'red' }), asTester),
    type: UnknownFieldError,
    facts: { status: 500, reason: undefined, message: expect.stringContaining('.colour: field not declared') },
  },
  'a value of the wrong type': {
    call: () => client.apply(configMap('mistyped', { data: { key: 1 } }), asTester),
    type: UnknownFieldError,
  },
  'two items of one key': {
    call: () => client.apply(deployment('twice', { container: { env: [{ name: 'A' }, { name: 'A' }] } }), asTester),
    type: UnknownFieldError,
    facts: { message: expect.stringContaining('duplicate entries for key') },
  },
  'a quantity that is none': {
    call: () => client.apply(deployment('lots', { container: { resources: { limits: { cpu: 'lots' } } } }), asTester),
    type: UnknownFieldError,
    facts: { status: 500, reason: undefined, message: expect.stringContaining('quantities must match') },
  },
  'a selector that cannot change': {
    given: () => client.apply(deployment('fixed'), asTester),
    call: () => client.apply({ ...deployment('fixed', { app: 'other' }) }, asTester, { force: true }),
    type: InvalidError,
    facts: { fields: expect.arrayContaining([expect.objectContaining({ path: 'spec.selector' })]) },
  },
  'data that cannot change': {
    given: () => client.apply(configMap('frozen', { immutable: true }), asTester),
    call: () => client.apply(configMap('frozen', { immutable: true, data: { a: 'b' } }), asTester),
    type: InvalidError,
    facts: { fields: [expect.objectContaining({ path: 'data', reason: 'FieldValueForbidden' })] },
  },
  'the status of an absent object': {
    call: () => client.apply(deployment('absent'), asTester, { subresource: 'status' }),
    type: NotFoundError,
    facts: { details: { name: 'absent' } },
  },
  'a namespace that is not there': {
    call: () => client.apply(configMap('lost', {}, { namespace: 'nowhere' }), asTester),
    type: NotFoundError,
    facts: { details: { kind: 'namespaces', name: 'nowhere' } },
  },
  'a new finalizer of an object that is being deleted': {
    given: async () => {
      const { metadata } = await client.create(configMap('going', {}, { finalizers: ['test.example/a'] }), asTester);
      await client.delete({ gvk: CONFIG_MAP, namespace, name: 'going' }, { uid: metadata.uid ?? '' }, asTester);
    },
    call: () => client.apply(configMap('going', {}, { finalizers: ['test.example/a', 'test.example/b'] }), asTester),
    type: InvalidError,
    facts: { fields: [expect.objectContaining({ path: 'metadata.finalizers', reason: 'FieldValueForbidden' })] },
  },
};

const others: Record<string, Row> = {
  'creating what is there': {
    given: () => client.create(configMap('there'), asTester),
    call: () => client.create(configMap('there'), asTester),
    type: AlreadyExistsError,
    facts: { status: 409, reason: 'AlreadyExists' },
  },
  'creating with an unknown field': {
    call: () => client.create(configMap('strict', { colour: 'red' }), asTester),
    type: BadRequestError,
    facts: { message: expect.stringContaining('unknown field "colour"') },
  },
  'creating what is too large': {
    call: () => client.create(configMap('large', { data: { key: 'x'.repeat(4_000_000) } }), asTester),
    type: ApiError,
    facts: { status: 413, reason: 'RequestEntityTooLarge' },
  },
  'a test of a JSON patch that does not hold': {
    given: () => client.create(configMap('tested'), asTester),
    call: () =>
      client.jsonPatch(
        { gvk: CONFIG_MAP, namespace, name: 'tested' },
        [{ op: 'test', path: '/metadata/name', value: 'other' }],
        asTester,
      ),
    type: InvalidError,
    facts: { fields: [] },
  },
  'deleting another object': {
    given: () => client.create(configMap('kept'), asTester),
    call: () => client.delete({ gvk: CONFIG_MAP, namespace, name: 'kept' }, { uid: NOBODY }, asTester),
    type: ConflictError,
    facts: { causes: [] },
  },
  'evicting a pod that is not there': {
    call: () =>
      client.createSubresource(
        { gvk: { group: '', version: 'v1', kind: 'Pod' }, namespace, name: 'absent' },
        'eviction',
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'absent', namespace } },
        asTester,
      ),
    type: NotFoundError,
    facts: { details: { kind: 'pods', name: 'absent' } },
  },
  'listing at a version that is to come': {
    call: () => client.list(CONFIG_MAP, { resourceVersion: '99999999999', resourceVersionMatch: 'NotOlderThan' }),
    type: ResourceVersionTooLargeError,
    facts: { status: 504, details: { retryAfterSeconds: 1 } },
  },
  'going on with a token that is none': {
    call: () => client.list(CONFIG_MAP, { limit: 1, continue: 'abc' }),
    type: BadRequestError,
  },
  'a field selector that the kind does not know': {
    call: () => client.list(CONFIG_MAP, { fieldSelector: 'spec.x=1' }),
    type: BadRequestError,
  },
  'a streamed list without saying how new': {
    call: async () => {
      const options = { sendInitialEvents: true, signal: new AbortController().signal };
      await client.watch(CONFIG_MAP, options).next();
    },
    type: InvalidError,
    facts: { fields: [expect.objectContaining({ path: 'resourceVersionMatch' })] },
  },
  'a service account without rights': {
    call: () =>
      client.create(configMap('forbidden'), {
        ...asTester,
        identity: { kind: 'serviceAccount', namespace, name: 'nobody' },
      }),
    type: ForbiddenError,
    facts: { status: 403, reason: 'Forbidden' },
  },
  'credentials that are not accepted': {
    call: async () => {
      const { server, caData = '' } = parseKubeconfig(labCluster('eu-1').kubeconfig);
      const options = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
      const stranger = new KubernetesClient({
        cluster: 'eu-1',
        connection: { server, caData, token: 'x' },
        ...options,
      });
      try {
        await stranger.version();
      } finally {
        await stranger.close();
      }
    },
    type: UnauthorizedError,
    facts: { status: 401 },
  },
};

describe.each([
  ['applying', applying],
  ['otherwise', others],
])('%s', (_where, rows) => {
  test.each(Object.entries(rows))('%s', async (_cause, { given, call, type, facts = {} }) => {
    await given?.();
    const error: unknown = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(type);
    // One of a class of its own must not be taken for another cause of the same status.
    if (type !== ApiError) expect((error as Error).constructor).toBe(type);
    expect(error).toMatchObject(facts);
  });
});

test('a namespace that is being deleted is told from a right that is missing', async () => {
  const dying = await createNamespace('eu-1');
  const gvk = { ...CONFIG_MAP, kind: 'Namespace' };
  // A finalizer holds the namespace, so that it stays in this state.
  const finalizers = [{ op: 'add', path: '/metadata/finalizers', value: ['test.example/hold'] }] as const;
  const { metadata } = await client.jsonPatch({ gvk, name: dying }, finalizers, asTester);
  await client.delete({ gvk, name: dying }, { uid: metadata.uid ?? '' }, asTester);
  try {
    const late = configMap('late', {}, { namespace: dying });
    await expect(client.apply(late, asTester)).rejects.toThrow(NamespaceTerminatingError);
    await expect(client.create(late, asTester)).rejects.toThrow(NamespaceTerminatingError);
  } finally {
    await client.jsonPatch({ gvk, name: dying }, [{ op: 'remove', path: '/metadata/finalizers' }], asTester);
  }
});
