import { describe, expect, it } from 'vitest';
import { validateObject } from '../../api/index.ts';
import type { RedisCluster } from '../../api/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import type { Problem } from '../workload.ts';
import { redisClusterHealth } from './health.ts';

const NOW = '2026-01-01T00:01:00Z';
const EARLIER = '2026-01-01T00:00:00Z';

type Status = NonNullable<RedisCluster['status']>;

function redisCluster(status?: Status): RedisCluster {
  return {
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    metadata: { name: 'sessions', namespace: 'shop', uid: 'u', generation: 4 },
    spec: { replicas: 3, version: '8.2', storage: { size: '1Gi', onDelete: 'Delete' } },
    ...(status === undefined ? {} : { status }),
  };
}

interface Pods {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly updateRevision?: string;
  readonly observedGeneration?: number;
  readonly version?: string;
}

function statefulSet(pods: Pods = {}): KubernetesObject {
  const { version = '8.2', ...status } = pods;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'sessions', namespace: 'shop', generation: 2 },
    spec: { template: { metadata: { labels: { 'app.kubernetes.io/version': version } } } },
    status: {
      observedGeneration: 2,
      replicas: 3,
      readyReplicas: 3,
      currentRevision: 'a',
      updateRevision: 'a',
      ...status,
    },
  };
}

function healthOf(
  children: readonly KubernetesObject[],
  options: { previous?: Status; problems?: readonly Problem[]; now?: string } = {},
): Status {
  const { previous, problems = [], now = NOW } = options;
  const status = redisClusterHealth(redisCluster(previous), children, { now, problems, left: '' }) as Status;
  // What the CRD would refuse or prune must not be in a status.
  expect(validateObject({ ...redisCluster(status) })).toEqual([]);
  return status;
}

function conditionsOf(status: Status): Record<string, string> {
  return Object.fromEntries((status.conditions ?? []).map(({ type, status: holds }) => [type, holds]));
}

const refused: Problem = { reason: 'Invalid', message: 'spec.volumeClaimTemplates: Forbidden', permanent: true };
const forbidden: Problem = { reason: 'Forbidden', message: 'no', permanent: false };

const running = healthOf([statefulSet()], { now: EARLIER });

const table: readonly (readonly [
  string,
  readonly KubernetesObject[],
  { readonly previous?: Status; readonly problems?: readonly Problem[] },
  { readonly phase: string; readonly reason: string; readonly trueConditions: readonly string[] },
])[] = [
  ['nothing is there yet', [], {}, { phase: 'Pending', reason: 'NoReadyReplica', trueConditions: ['Progressing'] }],
  [
    'no pod is ready yet',
    [statefulSet({ replicas: 1, readyReplicas: 0 })],
    {},
    { phase: 'Pending', reason: 'NoReadyReplica', trueConditions: ['Progressing'] },
  ],
  [
    'the first pod is ready',
    [statefulSet({ replicas: 2, readyReplicas: 1 })],
    { previous: { observedGeneration: 4, phase: 'Pending' } },
    { phase: 'Scaling', reason: 'Scaling', trueConditions: ['Available', 'Progressing'] },
  ],
  [
    'the last pod of a growing set is not ready yet',
    [statefulSet({ readyReplicas: 2 })],
    { previous: { observedGeneration: 4, phase: 'Scaling' } },
    { phase: 'Scaling', reason: 'Scaling', trueConditions: ['Available', 'Progressing'] },
  ],
  [
    'every pod is ready',
    [statefulSet()],
    {},
    { phase: 'Running', reason: 'AllReplicasReady', trueConditions: ['Ready', 'Available'] },
  ],
  [
    'there are more pods than wanted',
    [statefulSet({ replicas: 5, readyReplicas: 5 })],
    { previous: running },
    { phase: 'Scaling', reason: 'Scaling', trueConditions: ['Available', 'Progressing'] },
  ],
  [
    'pods are being replaced',
    [statefulSet({ updateRevision: 'b', readyReplicas: 2 })],
    { previous: running },
    { phase: 'Running', reason: 'RollingOut', trueConditions: ['Available', 'Progressing'] },
  ],
  [
    'the controller has not seen the latest template',
    [statefulSet({ observedGeneration: 1 })],
    { previous: running },
    { phase: 'Running', reason: 'RollingOut', trueConditions: ['Available', 'Progressing'] },
  ],
  [
    'a complete set has lost a pod',
    [statefulSet({ readyReplicas: 2 })],
    { previous: running },
    { phase: 'Running', reason: 'ReplicasNotReady', trueConditions: ['Available', 'Degraded'] },
  ],
  [
    'a child is refused for good',
    [statefulSet()],
    { previous: running, problems: [refused] },
    { phase: 'Failed', reason: 'Invalid', trueConditions: ['Available', 'Degraded', 'Stalled'] },
  ],
  [
    'a child is refused for now',
    [statefulSet()],
    { previous: running, problems: [forbidden] },
    { phase: 'Running', reason: 'Forbidden', trueConditions: ['Available', 'Degraded'] },
  ],
];

describe.each(table)('when %s', (_, children, options, expected) => {
  const status = healthOf(children, options);

  it(`the phase is ${expected.phase}`, () => {
    expect(status.phase).toBe(expected.phase);
  });

  it(`the conditions that hold are ${expected.trueConditions.join(', ')}`, () => {
    const holding = Object.entries(conditionsOf(status)).filter(([, holds]) => holds === 'True');
    expect(holding.map(([type]) => type)).toEqual(expected.trueConditions);
    expect(status.conditions?.[0]).toMatchObject({ type: 'Ready', reason: expected.reason });
  });

  it('status and every condition speak of the observed generation', () => {
    expect(status.observedGeneration).toBe(4);
    for (const condition of status.conditions ?? []) expect(condition.observedGeneration).toBe(4);
  });

  it('says the same thing again when nothing has changed', () => {
    const again = healthOf(children, { ...options, previous: status, now: '2027-01-01T00:00:00Z' });
    expect(again).toEqual(status);
  });
});

describe('the status of a RedisCluster', () => {
  it('keeps the old version until every pod runs the new one', () => {
    const rolling = healthOf([statefulSet({ version: '8.4', updateRevision: 'b' })], { previous: running });
    expect(rolling.currentVersion).toBe('8.2');
    expect(healthOf([statefulSet({ version: '8.4' })], { previous: rolling }).currentVersion).toBe('8.4');
  });

  it('moves the transition time of a condition only with its status', () => {
    const degraded = healthOf([statefulSet({ readyReplicas: 2 })], { previous: running });
    const timesOf = (status: Status): Record<string, string> =>
      Object.fromEntries((status.conditions ?? []).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    expect(timesOf(degraded)).toEqual({ Ready: NOW, Available: EARLIER, Progressing: EARLIER, Degraded: NOW });
  });

  it('remembers when all was well last, and says why it is not', () => {
    expect(running).toMatchObject({ lastSuccessTime: EARLIER });
    expect(running.message).toBeUndefined();
    const degraded = healthOf([statefulSet({ readyReplicas: 2 })], { previous: running });
    expect(degraded).toMatchObject({ lastSuccessTime: EARLIER, message: 'Some replicas are not ready.' });
  });

  it('drops Stalled when the refusal is over', () => {
    const failed = healthOf([statefulSet()], { previous: running, problems: [refused] });
    expect(conditionsOf(failed)['Stalled']).toBe('True');
    expect(conditionsOf(healthOf([statefulSet()], { previous: failed }))).not.toHaveProperty('Stalled');
  });
});
