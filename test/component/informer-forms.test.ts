import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { SharedInformerFactoryOptions } from '../../src/informers/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { adminClient, asTester, createNamespace, eventually } from '../support/lab.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

let namespace: string;
let factory: SharedInformerFactory;

beforeEach(async () => {
  namespace = await createNamespace('eu-1');
});

afterEach(() => factory.stop());

function newFactory(options: Partial<SharedInformerFactoryOptions> = {}): SharedInformerFactory {
  const ports = { clock: systemClock, random: () => 0, logger: silentLogger, metrics: noMetrics };
  return new SharedInformerFactory({ client: adminClient('eu-1'), ...ports, ...options });
}

async function put(name: string, data: Record<string, string>, labels = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
  await adminClient('eu-1').apply(object, asTester);
}

describe('what is kept of objects', () => {
  test('is their metadata alone, where no more is asked for, under the kind that was asked for', async () => {
    await put('first', { colour: 'red' }, { team: 'shop' });
    factory = newFactory();
    const informer = factory.informer(CONFIG_MAP, { namespace }, { metadataOnly: true });
    const seen: KubernetesObject[] = [];
    informer.addHandler({ onUpdate: (_previous, current) => void seen.push(current) });
    factory.start();
    await factory.waitForSync();
    const first = informer.lister.get(`${namespace}/first`);
    expect(first).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { team: 'shop' } } });
    expect(first).not.toHaveProperty('data');
    await put('first', { colour: 'blue' }, { team: 'web' });
    await eventually(() => seen.length > 0);
    expect(seen[0]).toMatchObject({ kind: 'ConfigMap', metadata: { labels: { team: 'web' } } });
    expect(seen[0]).not.toHaveProperty('data');
  });

  test('is up to a transform, which lists and watches pass through', async () => {
    factory = newFactory({
      transform: ({ metadata: { managedFields: _managedFields, ...metadata }, ...object }) => ({ ...object, metadata }),
    });
    await put('first', {});
    const { lister } = factory.informer(CONFIG_MAP, { namespace });
    factory.start();
    await factory.waitForSync();
    await put('second', {});
    await eventually(() => lister.get(`${namespace}/second`) !== undefined);
    for (const { metadata } of lister.list()) expect(metadata.managedFields).toBeUndefined();
  });
});

describe('a handler that is slow', () => {
  test('keeps nobody waiting, and is told in the end what there is', async () => {
    factory = newFactory();
    const informer = factory.informer(CONFIG_MAP, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
    const colours = new Map<string, unknown>();
    const told: unknown[] = [];
    const see = async ({ metadata, data }: KubernetesObject): Promise<void> => {
      await systemClock.sleep(50);
      colours.set(metadata.name ?? '', (data as Record<string, string>)['colour']);
    };
    const slow = informer.addHandler({ onAdd: see, onUpdate: (_previous, current) => see(current) });
    informer.addHandler({ onAdd: ({ metadata }) => told.push(metadata.name), onUpdate: () => told.push('update') });
    factory.start();
    await factory.waitForSync();
    for (const colour of ['red', 'green', 'blue']) {
      await Promise.all(['a', 'b', 'c'].map((name) => put(name, { colour })));
    }
    await eventually(() => told.length === 9);
    await eventually(() => [...colours.values()].join(' ') === 'blue blue blue');
    expect(slow.hasSynced()).toBe(true);
  });
});
