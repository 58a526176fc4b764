import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventRecorder, eventRules } from '../../src/events/index.ts';
import type { EventPort } from '../../src/events/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';
import { adminClient, asTester, createNamespace, lab, labCluster, uniqueName } from '../support/lab.ts';
import { recordingClient } from '../support/recording-client.ts';
import type { RecordingClient } from '../support/recording-client.ts';
import { serviceAccountWith } from '../support/service-account.ts';
import type { BoundServiceAccount } from '../support/service-account.ts';

const run = promisify(execFile);
const EVENT = { group: '', version: 'v1', kind: 'Event' };

describe('events on a real API server, with the declared rights only', () => {
  let namespace: string;
  let object: KubernetesObject;
  let account: BoundServiceAccount;
  let client: RecordingClient;
  let recorder: EventRecorder;
  let events: EventPort;

  beforeEach(async () => {
    namespace = await createNamespace('hub');
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace } };
    object = await adminClient('hub').create(settings, asTester);
    account = await serviceAccountWith('hub', eventRules);
    client = recordingClient('hub', account.connection);
    recorder = new EventRecorder({
      client,
      source: { component: 'atoll', host: 'replica-of-the-test' },
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      metrics: noMetrics,
    });
    events = recorder.guardedBy(() => undefined);
  });

  afterEach(async () => {
    await recorder.close();
    await client.close();
    await account.remove();
  });

  async function written(inNamespace = namespace): Promise<readonly KubernetesObject[]> {
    await recorder.close();
    return (await adminClient('hub').list(EVENT, { namespace: inNamespace })).items;
  }

  it('are what kubectl describe shows of the object', async () => {
    events.record(object, { type: 'Warning', reason: 'Burnt', message: 'the toast is black' });
    events.record(object, { type: 'Warning', reason: 'Burnt', message: 'the toast is black' });
    await recorder.close();
    const kubeconfig = `--kubeconfig=${labCluster('hub').kubeconfigPath}`;
    const { stdout } = await run(lab().kubectl, [kubeconfig, 'describe', 'configmap', 'settings', '-n', namespace]);
    expect(stdout).toMatch(/Warning\s+Burnt\s+\S+ \(x2 over .*\)\s+atoll\s+the toast is black/);
  });

  it('name the object by its UID, and who tells', async () => {
    events.record(object, { type: 'Normal', reason: 'Done', message: 'done' });
    const [event] = await written();
    expect(event).toMatchObject({
      involvedObject: { kind: 'ConfigMap', apiVersion: 'v1', name: 'settings', namespace, uid: object.metadata.uid },
      source: { component: 'atoll', host: 'replica-of-the-test' },
      reportingComponent: 'atoll',
      reportingInstance: 'replica-of-the-test',
      type: 'Normal',
      count: 1,
    });
  });

  it('of a cluster-scoped object are in the namespace default', async () => {
    const name = uniqueName('test');
    const fresh = await adminClient('hub').create(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      asTester,
    );
    events.record(fresh, { type: 'Normal', reason: 'Done', message: 'done' });
    const found = (await written('default')).filter(
      (event) => (event['involvedObject'] as { uid: string }).uid === fresh.metadata.uid,
    );
    expect(found).toHaveLength(1);
  });

  it('that differ in their message are one from the tenth on', async () => {
    for (let index = 1; index <= 15; index += 1) {
      events.record(object, { type: 'Normal', reason: 'Similar', message: `similar ${index}` });
    }
    const found = await written();
    expect(found.map((event) => [event['count'], event['message']])).toEqual([
      ...Array.from({ length: 9 }, (_, index) => [1, `similar ${index + 1}`]),
      [6, '(combined from similar events): similar 15'],
    ]);
  });

  it('are 25 of a type about one object at most: the rest costs no request', async () => {
    for (let index = 0; index < 100; index += 1) {
      events.record(object, { type: 'Warning', reason: 'Again', message: 'again' });
    }
    const [event, ...others] = await written();
    expect([event?.['count'], others]).toEqual([25, []]);
    expect(client.requests).toHaveLength(25);
  });

  it('that have expired are created again, with their count', async () => {
    const note = { type: 'Normal', reason: 'Done', message: 'done' } as const;
    events.record(object, note);
    await expect.poll(async () => (await adminClient('hub').list(EVENT, { namespace })).items.length).toBe(1);
    const [first] = (await adminClient('hub').list(EVENT, { namespace })).items;
    const { name = '', uid = '' } = first?.metadata ?? {};
    await adminClient('hub').delete({ gvk: EVENT, namespace, name }, { uid }, asTester);
    events.record(object, note);
    const found = await written();
    expect(found.map((event) => [event.metadata.name, event['count']])).toEqual([[name, 2]]);
  });

  it('are dropped where nothing can be created any more, and the next is written', async () => {
    const going = await createNamespace('hub');
    const { metadata } =
      (await adminClient('hub').get({ gvk: { ...EVENT, kind: 'Namespace' }, name: going })) ?? object;
    await adminClient('hub').delete(
      { gvk: { ...EVENT, kind: 'Namespace' }, name: going },
      { uid: metadata.uid ?? '' },
      asTester,
    );
    const gone = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: going, uid: 'none' } };
    events.record(gone, { type: 'Normal', reason: 'Done', message: 'done' });
    events.record(object, { type: 'Normal', reason: 'Done', message: 'done' });
    await expect(written()).resolves.toHaveLength(1);
  });
});
