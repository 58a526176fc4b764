import type { MemberCluster } from '../api/index.ts';
import { errorMessage, mergeConditions } from '../kernel/index.ts';
import type { Condition, ConditionDraft } from '../kernel/index.ts';
import { ForbiddenError, KubeconfigError, UnauthorizedError, UnreachableError } from '../kubernetes/index.ts';
import { IdentityChangedError } from './engagement.ts';

/** What a look at a member found. */
export type Observation =
  | { readonly kind: 'ready'; readonly version: string; readonly uid: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Who looked: the replica that owns the member's shard. (Its epoch stands in the shard's Lease.) */
export interface Observer {
  readonly replica: string;
  readonly now: string;
}

type Aspect = 'Reachable' | 'Authorized' | 'IdentityKnown';

/** Why a member is not Ready, and which of its aspects that says something about. */
interface Diagnosis {
  readonly reason: string;
  readonly message: string;
  readonly aspects: Readonly<Partial<Record<Aspect, 'True' | 'False'>>>;
}

const diagnoses: readonly [new (...parameters: never[]) => Error, Omit<Diagnosis, 'message'>][] = [
  [KubeconfigError, { reason: 'InvalidKubeconfig', aspects: {} }],
  [UnreachableError, { reason: 'Unreachable', aspects: { Reachable: 'False' } }],
  [UnauthorizedError, { reason: 'Unauthorized', aspects: { Reachable: 'True', Authorized: 'False' } }],
  [ForbiddenError, { reason: 'Forbidden', aspects: { Reachable: 'True', Authorized: 'False' } }],
  [
    IdentityChangedError,
    { reason: 'IdentityChanged', aspects: { Reachable: 'True', Authorized: 'True', IdentityKnown: 'False' } },
  ],
];

/** Tells the causes of a failed look apart: by class, never by message. */
function diagnose(error: unknown): Diagnosis {
  const found = diagnoses.find(([type]) => error instanceof type)?.[1];
  return { ...(found ?? { reason: 'EngageFailed', aspects: {} }), message: errorMessage(error) };
}

/** The status of a member after a look at it. Version and UID of an earlier, successful look are kept. */
export function memberClusterStatus(
  member: MemberCluster,
  observation: Observation,
  observer: Observer,
): NonNullable<MemberCluster['status']> {
  const before = member.status;
  const observedGeneration = member.metadata.generation ?? 0;
  const drafts =
    observation.kind === 'ready' ? readyConditions() : failedConditions(observation.error, before?.conditions);
  const seen = observation.kind === 'ready' ? observation : { version: before?.version, uid: before?.uid };
  return {
    ...before,
    observedGeneration,
    conditions: mergeConditions(
      before?.conditions,
      drafts.map((draft) => ({ ...draft, observedGeneration })),
      observer.now,
    ),
    ...(seen.version === undefined ? {} : { version: seen.version }),
    ...(seen.uid === undefined ? {} : { uid: seen.uid }),
    owner: observer.replica,
    ...handledRequest(member),
  };
}

type Draft = Omit<ConditionDraft, 'observedGeneration'>;
type PreviousCondition = Pick<Condition, 'type' | 'status'>;

function readyConditions(): Draft[] {
  return [
    { type: 'Ready', status: 'True', reason: 'Ready', message: 'connected, and every informer is synced' },
    { type: 'Reachable', status: 'True', reason: 'Reachable', message: 'the API server answers' },
    { type: 'Authorized', status: 'True', reason: 'Authorized', message: 'the credentials are accepted' },
    {
      type: 'IdentityKnown',
      status: 'True',
      reason: 'SameCluster',
      message: 'the kube-system UID is the recorded one',
    },
  ];
}

function failedConditions(error: unknown, before: readonly PreviousCondition[] | undefined): Draft[] {
  const { reason, message, aspects } = diagnose(error);
  const aspect = (type: Aspect): Draft => {
    const known = aspects[type];
    if (known === undefined)
      return { type, status: 'Unknown', reason: 'NotChecked', message: 'an earlier check failed' };
    return { type, status: known, reason: known === 'True' ? type : reason, message: known === 'True' ? '' : message };
  };
  const identity = aspects.IdentityKnown === undefined && before?.some(isKnownIdentity) === true;
  return [
    { type: 'Ready', status: 'False', reason, message },
    aspect('Reachable'),
    aspect('Authorized'),
    identity
      ? {
          type: 'IdentityKnown',
          status: 'True',
          reason: 'SameCluster',
          message: 'the kube-system UID is the recorded one',
        }
      : aspect('IdentityKnown'),
  ];
}

function isKnownIdentity(condition: PreviousCondition): boolean {
  return condition.type === 'IdentityKnown' && condition.status === 'True';
}

function handledRequest(member: MemberCluster): { lastHandledReconcileAt?: string } {
  const requestedAt = member.metadata.annotations?.['atoll.dev/requestedAt'];
  return requestedAt === undefined ? {} : { lastHandledReconcileAt: requestedAt };
}
