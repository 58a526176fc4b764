import { beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { ApiError } from '../../src/kubernetes/index.ts';
import type { KubernetesClient } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, uniqueName } from '../support/lab.ts';

const VALUE = 'swordfish';

let client: KubernetesClient;
let namespace: string;

beforeAll(async () => {
  client = adminClient('eu-1');
  namespace = await createNamespace('eu-1');
});

describe('an invalid Secret', () => {
  const secret = (rest: Record<string, unknown>): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'credentials', namespace },
    ...rest,
  });
  test.each<[string, Record<string, unknown>, string?]>([
    ['a number', { data: { password: 4711 } }, '.data.password'],
    ['an object', { data: { password: { [VALUE]: VALUE } } }, '.data.password'],
    ['a list', { stringData: [VALUE] }, '.stringData'],
    ['no base64', { data: { password: `${VALUE}!` } }],
    ['a key that is none', { data: { 'pass word': 'eA==' } }, 'data[pass word]'],
    ['an unknown field', { dota: VALUE }, '.dota'],
    ['a type that needs a key', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==' } }, 'tls.key'],
    [
      'no JSON where it is needed',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': VALUE } },
      'data[.dockerconfigjson]',
    ],
  ])('with %s is refused without a word of its data', async (_behaviour, rest, path) => {
    for (const verb of ['apply', 'create'] as const) {
      const error = (await client[verb](secret(rest), asTester).catch((reason: unknown) => reason)) as ApiError;
      expect(error).toBeInstanceOf(ApiError);
      expect(JSON.stringify([error.message, error.stack, error.cause, error])).not.toMatch(/swordfish|4711/);
    }
    await expect(client.apply(secret(rest), asTester)).rejects.toThrow(path ?? 'credentials');
  });

  test('that an admission policy quotes is not quoted on', async () => {
    const name = uniqueName('quoting');
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
    };
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE'] }];
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    const validations = [{ expression: 'false', messageExpression: '"quoting " + object.stringData.password' }];
    const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules, namespaceSelector }, validations };
    const created = await client.create({ ...policy, spec }, asTester);
    const binding = { policyName: name, validationActions: ['Deny'] };
    const bound = await client.create({ ...policy, kind: 'ValidatingAdmissionPolicyBinding', spec: binding }, asTester);
    try {
      const denied = await eventually(
        async () => {
          const dryRun = client.create(secret({ stringData: { password: VALUE } }), asTester, { dryRun: true });
          return dryRun.then(
            () => undefined,
            (reason: unknown) => reason as ApiError,
          );
        },
        { message: 'the policy does not take effect' },
      );
      expect(denied).toMatchObject({ status: 422 });
      expect(JSON.stringify([denied.message, denied])).not.toContain(VALUE);
    } finally {
      const gvk = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingAdmissionPolicy' };
      await client.delete({ gvk, name }, { uid: created.metadata.uid ?? '' }, asTester);
      await client.delete({ gvk: { ...gvk, kind: bound.kind }, name }, { uid: bound.metadata.uid ?? '' }, asTester);
    }
  });
});
