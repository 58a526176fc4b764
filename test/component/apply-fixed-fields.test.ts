import { describe, expect, it } from 'vitest';
import { withoutAllocated } from '../../src/apply/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { InvalidError } from '../../src/kubernetes/index.ts';
import { ApplyFixture, withSpec } from '../support/apply-fixture.ts';

const fixture = ApplyFixture.install();
const SERVICE = { group: '', version: 'v1', kind: 'Service' };

function object(apiVersion: string, kind: string, fields: Record<string, unknown>): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'it', namespace: fixture.namespace }, ...fields };
}

function service(spec: Record<string, unknown>): KubernetesObject {
  return object('v1', 'Service', { spec: { selector: { app: 'web' }, ...spec } });
}

describe('an immutable field', () => {
  const job = (image: string, annotations: Record<string, string> = {}): KubernetesObject => {
    const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image }] };
    const made = object('batch/v1', 'Job', { spec: { template: { spec } } });
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  const claim = (size: string, annotations: Record<string, string> = {}): KubernetesObject => {
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: size,
    };
    const made = object('v1', 'PersistentVolumeClaim', { spec });
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  const recreate = { 'atoll.dev/recreate': 'enabled' };

  it.each<[string, KubernetesObject['kind'], () => readonly [KubernetesObject, KubernetesObject], string]>([
    [
      'selector',
      'Deployment',
      () => [fixture.deployment(), withSpec(fixture.deployment(), { selector: { matchLabels: { app: 'other' } } })],
      'spec.selector',
    ],
    [
      'address',
      'Service',
      () => [service({ ports: [{ port: 80 }] }), service({ ports: [{ port: 80 }], clusterIP: 'None' })],
      'spec.clusterIPs[0]',
    ],
    [
      'data that was declared final',
      'ConfigMap',
      () => [
        object('v1', 'ConfigMap', { immutable: true, data: { a: '1' } }),
        object('v1', 'ConfigMap', { immutable: true, data: { a: '2' } }),
      ],
      'data',
    ],
    ['pod template', 'Job', () => [job('a'), job('b')], 'spec.template'],
  ])('(%s of a %s) is refused with its path, and not recreated', async (_, __, make, path) => {
    const [before, after] = make();
    await fixture.created(before);
    const error = await fixture.apply(after, undefined).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidError);
    expect((error as InvalidError).fields.map((field) => field.path)).toContain(path);
    expect(fixture.client.takeRequests().filter((request) => request.startsWith('delete'))).toEqual([]);
  });

  it('has the object made anew when the object says that it may', async () => {
    const live = await fixture.created(job('a', recreate));
    await expect(fixture.apply(job('b', recreate), live)).resolves.toMatchObject({
      result: 'recreating',
      message: expect.stringContaining('spec.template') as string,
    });
    expect(fixture.client.takeRequests()).toEqual(['apply Job/it', 'delete Job/it']);
  });

  it('of a claim needs a second word', async () => {
    const live = await fixture.created(claim('slow', recreate));
    await expect(fixture.apply(claim('fast', recreate), live)).rejects.toThrow(InvalidError);
    const both = { ...recreate, 'atoll.dev/recreate-data': 'enabled' };
    await expect(fixture.apply(claim('fast', both), live)).resolves.toMatchObject({ result: 'recreating' });
  });
});

describe('what a cluster allocates', () => {
  it('is kept when a Service is applied again, and not taken along to another cluster', async () => {
    const desired = service({ type: 'NodePort', ports: [{ name: 'http', port: 80 }] });
    const live = await fixture.created(desired);
    const changed = service({ type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 8080 }] });
    await fixture.apply(changed, live);
    const allocated = (found: KubernetesObject): unknown => {
      const { clusterIP, ports } = found['spec'] as { clusterIP: string; ports: { nodePort: number }[] };
      return [clusterIP, ports[0]?.nodePort];
    };
    const after = await fixture.liveOf(SERVICE, 'it');
    expect(allocated(after)).toEqual(allocated(live));
    expect(JSON.stringify(withoutAllocated(after)['spec'])).not.toMatch(/"clusterIPs?"|nodePort/);
  });

  it('does not stand in the way of a port that changes its number', async () => {
    const live = await fixture.created(service({ ports: [{ name: 'http', port: 80 }] }));
    await expect(fixture.apply(service({ ports: [{ name: 'http', port: 81 }] }), live)).resolves.toMatchObject({
      result: 'updated',
    });
    expect((await fixture.liveOf(SERVICE, 'it'))['spec']).toMatchObject({ ports: [{ name: 'http', port: 81 }] });
  });
});
