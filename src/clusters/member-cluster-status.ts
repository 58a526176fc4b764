import type { MemberCluster } from '../api/index.ts';
import { errorMessage, mergeConditions, requestedAt } from '../kernel/index.ts';
import type { Condition, ConditionDraft } from '../kernel/index.ts';
import { ForbiddenError, KubeconfigError, UnauthorizedError, UnreachableError } from '../kubernetes/index.ts';
import { IdentityChangedError, NotWatchedError } from './engagement.ts';
import { FencedOffError } from './fence.ts';
import { AlreadyMemberError } from './first-name.ts';

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
  [
    AlreadyMemberError,
    { reason: 'AlreadyMember', aspects: { Reachable: 'True', Authorized: 'True', IdentityKnown: 'False' } },
  ],
  [FencedOffError, { reason: 'FencedOff', aspects: { Reachable: 'True', Authorized: 'True' } }],
  [NotWatchedError, { reason: 'NotWatched', aspects: { Reachable: 'True', Authorized: 'True' } }],
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
  const handled = requestedAt(member);
  const observedGeneration = member.metadata.generation ?? 0;
  const isReady = observation.kind === 'ready';
  const drafts = isReady ? readyConditions() : failedConditions(observation.error, before?.conditions);
  return {
    ...before,
    ...(isReady ? { version: observation.version, uid: observation.uid } : {}),
    observedGeneration,
    conditions: mergeConditions(
      before?.conditions,
      drafts.map((draft) => ({ ...draft, observedGeneration })),
      observer.now,
    ),
    owner: observer.replica,
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
  };
}

type Draft = Omit<ConditionDraft, 'observedGeneration'>;
type PreviousCondition = Pick<Condition, 'type' | 'status'>;

const SAME_CLUSTER: Draft = {
  type: 'IdentityKnown',
  status: 'True',
  reason: 'SameCluster',
  message: 'the kube-system UID is the recorded one',
};

function readyConditions(): Draft[] {
  return [
    { type: 'Ready', status: 'True', reason: 'Ready', message: 'connected, and every informer is synced' },
    { type: 'Reachable', status: 'True', reason: 'Reachable', message: 'the API server answers' },
    { type: 'Authorized', status: 'True', reason: 'Authorized', message: 'the credentials are accepted' },
    SAME_CLUSTER,
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
  const staysKnown = aspects.IdentityKnown === undefined && before?.some(isKnownIdentity) === true;
  return [
    { type: 'Ready', status: 'False', reason, message },
    aspect('Reachable'),
    aspect('Authorized'),
    staysKnown ? SAME_CLUSTER : aspect('IdentityKnown'),
  ];
}

function isKnownIdentity(condition: PreviousCondition): boolean {
  return condition.type === 'IdentityKnown' && condition.status === 'True';
}
