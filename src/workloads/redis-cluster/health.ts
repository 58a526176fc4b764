import type { RedisCluster } from '../../api/index.ts';
import { mergeConditions } from '../../kernel/index.ts';
import type { Condition, ConditionDraft, KubernetesObject } from '../../kernel/index.ts';
import type { Observation, Problem } from '../workload.ts';
import { VERSION_LABEL } from './stateful-set.ts';

type Status = NonNullable<RedisCluster['status']>;
type Phase = NonNullable<Status['phase']>;

/** What a RedisCluster's StatefulSet tells. */
interface Pods {
  readonly existing: number;
  readonly ready: number;
  /** Every pod runs the latest template, and the controller has seen that template. */
  readonly rolledOut: boolean;
  /** Version label of the latest template. */
  readonly version: string | undefined;
}

/** Where a RedisCluster stands. Each state fixes phase, conditions and message, so that equal states are equal statuses. */
interface State {
  readonly phase: Phase;
  readonly progressing: boolean;
  readonly degraded: boolean;
  readonly reason: string;
  readonly message: string;
}

const PENDING: State = {
  phase: 'Pending',
  progressing: true,
  degraded: false,
  reason: 'NoReadyReplica',
  message: 'No replica is ready yet.',
};
const SCALING: State = {
  phase: 'Scaling',
  progressing: true,
  degraded: false,
  reason: 'Scaling',
  message: 'The number of replicas is being brought to what is wanted.',
};
const ROLLING_OUT: State = {
  phase: 'Running',
  progressing: true,
  degraded: false,
  reason: 'RollingOut',
  message: 'Replicas are being replaced by such with the wanted configuration.',
};
const REPLICAS_NOT_READY: State = {
  phase: 'Running',
  progressing: false,
  degraded: true,
  reason: 'ReplicasNotReady',
  message: 'Some replicas are not ready.',
};
const RUNNING: State = {
  phase: 'Running',
  progressing: false,
  degraded: false,
  reason: 'AllReplicasReady',
  message: 'Every replica is ready.',
};

/**
 * The status of a RedisCluster:
 *
 * ```
 *              ┌──────── no ready pod ────────┐
 *              ▼                              │
 *  (new) ─▶ Pending ─ first pod ready ─▶ Scaling ─ all ready ─▶ Running ◀─▶ Running, Progressing (rolling out)
 *                                             ▲                    │  ▲
 *                                             └─ replicas changed ─┘  └──▶ Running, Degraded (pods lost)
 *  any ── a child is refused for good ─▶ Failed (Stalled)
 * ```
 */
export function redisClusterHealth(
  cluster: RedisCluster,
  children: readonly KubernetesObject[],
  observation: Observation,
): Readonly<Record<string, unknown>> {
  const pods = podsOf(children);
  const state = stateOf(cluster, pods, observation.problems);
  const observedGeneration = cluster.metadata.generation ?? 0;
  const previous = cluster.status?.conditions as readonly Condition[] | undefined;
  const drafts = [...draftsOf(state, pods, observedGeneration), ...leftDrafts(observation, observedGeneration)];
  const conditions = mergeConditions(previous, drafts, observation.now);
  return {
    observedGeneration,
    phase: state.phase,
    replicas: pods.existing,
    readyReplicas: pods.ready,
    conditions,
    ...versionField(pods, cluster.status),
    ...successFields(state, conditions, cluster.status),
  };
}

/** The version stays the old one until the last pod runs the new one. */
function versionField(pods: Pods, previous: Status | undefined): Pick<Status, 'currentVersion'> {
  const currentVersion = pods.rolledOut && pods.ready > 0 ? pods.version : previous?.currentVersion;
  return currentVersion === undefined ? {} : { currentVersion };
}

/** When all was well last; and, while it is not, why. */
function successFields(
  state: State,
  conditions: readonly Condition[],
  previous: Status | undefined,
): Pick<Status, 'lastSuccessTime' | 'message'> {
  const since = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  const lastSuccessTime = isReady(state) ? since : previous?.lastSuccessTime;
  return {
    ...(lastSuccessTime === undefined ? {} : { lastSuccessTime }),
    ...(isReady(state) ? {} : { message: state.message }),
  };
}

function isReady({ phase, progressing, degraded }: State): boolean {
  return phase === 'Running' && !progressing && !degraded;
}

function podsOf(children: readonly KubernetesObject[]): Pods {
  const statefulSet = children.find((child) => child.kind === 'StatefulSet');
  const status = (statefulSet?.['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const generation = statefulSet?.metadata.generation ?? 0;
  return {
    existing: Number(status['replicas'] ?? 0),
    ready: Number(status['readyReplicas'] ?? 0),
    rolledOut:
      Number(status['observedGeneration'] ?? -1) >= generation &&
      status['updateRevision'] !== undefined &&
      status['currentRevision'] === status['updateRevision'],
    version: templateLabels(statefulSet)[VERSION_LABEL],
  };
}

function templateLabels(statefulSet: KubernetesObject | undefined): Readonly<Record<string, string>> {
  const spec = statefulSet?.['spec'] as { template?: { metadata?: { labels?: Record<string, string> } } } | undefined;
  return spec?.template?.metadata?.labels ?? {};
}

function stateOf(cluster: RedisCluster, pods: Pods, problems: readonly Problem[]): State {
  const wanted = cluster.spec.replicas;
  const [problem] = problems;
  if (problem?.permanent === true) return troubled({ ...RUNNING, phase: 'Failed' }, problem);
  const state = stateOfPods(wanted, pods, cluster.status?.phase);
  return problem === undefined ? state : troubled(state, problem);
}

function stateOfPods(wanted: number, pods: Pods, previous: Phase | undefined): State {
  if (pods.ready === 0) return PENDING;
  if (pods.existing !== wanted) return SCALING;
  if (!pods.rolledOut) return ROLLING_OUT;
  if (pods.ready >= wanted) return RUNNING;
  // The last pod of a growing set exists before it is ready; a set that was complete has lost one.
  return previous === 'Running' ? REPLICAS_NOT_READY : SCALING;
}

function troubled(state: State, { reason, message }: Problem): State {
  return { ...state, degraded: true, reason, message };
}

/** Only while something is left to others. */
function leftDrafts({ left }: Observation, observedGeneration: number): ConditionDraft[] {
  if (left === '') return [];
  return [{ type: 'FieldsLeft', status: 'True', reason: 'HeldByOthers', message: left, observedGeneration }];
}

function draftsOf(state: State, pods: Pods, observedGeneration: number): ConditionDraft[] {
  const { reason, message } = state;
  const draft = (type: string, holds: boolean): ConditionDraft => ({
    type,
    status: holds ? 'True' : 'False',
    reason,
    message,
    observedGeneration,
  });
  const drafts = [
    draft('Ready', isReady(state)),
    draft('Available', pods.ready > 0),
    draft('Progressing', state.progressing),
    draft('Degraded', state.degraded),
  ];
  return state.phase === 'Failed' ? [...drafts, draft('Stalled', true)] : drafts;
}
