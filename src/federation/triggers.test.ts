import { describe, expect, it } from 'vitest';
import {
  added,
  deleted,
  federatedObject,
  gitSource,
  listerOf,
  memberCluster,
  memberStatus,
  placementRow,
  updated,
} from '../../test/support/builders.ts';
import type { Event } from '../../test/support/builders.ts';
import { playEvent } from '../../test/support/play-event.ts';
import { PlayedInformers } from '../../test/support/played-informers.ts';
import { federatedKinds, gitSourceKind, memberClusterKind } from '../api/index.ts';
import type { FederatedKind, FederatedObject, GitSource, MemberCluster } from '../api/index.ts';
import { withMark } from '../apply/index.ts';
import type { OwnerMark } from '../apply/index.ts';
import { HUB, kindName, noMetrics, silentLogger, systemClock } from '../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';
import { CONTROLLER_REVISION, newRevision } from './revisions.ts';
import {
  federatedController,
  gitSourceController,
  keysOfCluster,
  memberClusterController,
  propagationController,
  recordController,
} from './triggers.ts';
import type { TriggerContext } from './triggers.ts';

const kind = federatedKinds[0] as FederatedKind;
const FEDERATED = kind.federated.gvk;
const GIT_SOURCE = gitSourceKind.gvk;
const MEMBER_CLUSTER = memberClusterKind.gvk;

const sessions = federatedObject({ status: { placements: [placementRow('eu-1'), placementRow('us-1')] } });
const cache = federatedObject({ metadata: { name: 'cache', uid: 'uid-of-cache' } });
const eu1 = memberCluster('eu-1', { region: 'eu' }, { status: memberStatus(true) });
const us1 = memberCluster('us-1', {}, { spec: { connection: { kubeconfigSecretRef: { name: 'shared' } } } });
const ap1 = memberCluster('ap-1', {}, { spec: { connection: { kubeconfigSecretRef: { name: 'shared' } } } });

const context: TriggerContext = {
  kinds: federatedKinds,
  objects: new Map([[kindName(FEDERATED), listerOf(sessions, cache)]]),
  members: listerOf(eu1, us1, ap1),
  namespace: 'atoll-system',
};
const onHub = [
  memberClusterController(context),
  federatedController(kind, context),
  recordController(kind, context),
  gitSourceController(context),
];

function play(gvk: GroupVersionKind, event: Event): string[] {
  return playEvent({ cluster: HUB, controllers: onHub, gvk, event });
}

/** The object after a change: of its spec when nothing else is said. */
function changed<T extends FederatedObject | GitSource | MemberCluster>(object: T, metadata = {}): T {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

function withStatus<T extends KubernetesObject>(object: T, status: unknown): T {
  return { ...object, status };
}

function statusEntry(manager: string): ManagedFieldsEntry {
  return { manager, operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } };
}

const sourceMark: OwnerMark = {
  installation: 'i',
  kind: kindName(GIT_SOURCE),
  namespace: 'shop',
  name: 'apps',
  uid: 'u',
};
const inGit = withMark(sessions, sourceMark) as FederatedObject;

const sessionsOnHub = 'hub FederatedRedisCluster shop/sessions event';
const sessionsInMembers = [
  'eu-1 FederatedRedisCluster shop/sessions event',
  'us-1 FederatedRedisCluster shop/sessions event',
];
const source = 'hub GitSource shop/apps event';
const everyFederated = [sessionsOnHub, 'hub FederatedRedisCluster shop/cache event'];
const apps = gitSource();

describe('on the hub', () => {
  it.each<[string, GroupVersionKind, Event, string[]]>([
    ['a GitSource that appears enqueues itself', GIT_SOURCE, added(apps), [source]],
    ['a GitSource whose spec changes', GIT_SOURCE, updated(apps, changed(apps, { generation: 2 })), [source]],
    [
      'a GitSource that is asked to act now',
      GIT_SOURCE,
      updated(apps, changed(apps, { annotations: { 'atoll.dev/requestedAt': '1' } })),
      [source],
    ],
    [
      'a GitSource that is being deleted',
      GIT_SOURCE,
      updated(apps, changed(apps, { deletionTimestamp: '2026-01-01T00:00:00Z' })),
      [source],
    ],
    ['a GitSource whose status changes enqueues nothing', GIT_SOURCE, updated(apps, withStatus(apps, {})), []],

    [
      'a federated object that appears: itself, there and in every recorded cluster',
      FEDERATED,
      added(sessions),
      [sessionsOnHub, ...sessionsInMembers],
    ],
    [
      'a federated object whose spec changes',
      FEDERATED,
      updated(sessions, changed(sessions, { generation: 2 })),
      [sessionsOnHub, ...sessionsInMembers],
    ],
    [
      'a federated object whose labels change',
      FEDERATED,
      updated(sessions, changed(sessions, { labels: { a: 'b' } })),
      [sessionsOnHub, ...sessionsInMembers],
    ],
    [
      'a federated object whose status changes: only the recorded clusters, not the hub, which wrote it',
      FEDERATED,
      updated(sessions, withStatus(sessions, { ...sessions.status, phase: 'Running' })),
      sessionsInMembers,
    ],
    [
      'a federated object whose status somebody else changes: itself, there too',
      FEDERATED,
      updated(sessions, changed(sessions, { managedFields: [statusEntry('kubectl-patch')] })),
      [sessionsOnHub, ...sessionsInMembers],
    ],
    [
      'a federated object whose status we change: not itself, there',
      FEDERATED,
      updated(sessions, changed(sessions, { managedFields: [statusEntry('atoll-status')] })),
      sessionsInMembers,
    ],
    [
      'a federated object of which a cluster is recorded',
      FEDERATED,
      updated(cache, withStatus(cache, { placements: [placementRow('ap-1')] })),
      ['ap-1 FederatedRedisCluster shop/cache event'],
    ],
    ['a federated object that is gone', FEDERATED, deleted(sessions), [sessionsOnHub, ...sessionsInMembers]],
    [
      'a federated object from Git whose spec changes: its source too',
      FEDERATED,
      updated(inGit, changed(inGit, { generation: 2 })),
      [sessionsOnHub, ...sessionsInMembers, source],
    ],
    [
      'a federated object from Git that is gone',
      FEDERATED,
      deleted(inGit),
      [sessionsOnHub, ...sessionsInMembers, source],
    ],
    [
      'a federated object from Git whose status changes: not its source',
      FEDERATED,
      updated(inGit, withStatus(inGit, { ...inGit.status, phase: 'Running' })),
      sessionsInMembers,
    ],
    [
      'a federated object with a mark that was copied from another: not the source that the mark names',
      FEDERATED,
      added({ ...cache, metadata: { ...inGit.metadata, name: 'cache' } }),
      ['hub FederatedRedisCluster shop/cache event'],
    ],

    [
      'a MemberCluster that appears: itself in its own shard, and every federated object',
      MEMBER_CLUSTER,
      added(eu1),
      ['eu-1 MemberCluster /eu-1 event', ...everyFederated],
    ],
    [
      'a MemberCluster whose connection changes: only itself',
      MEMBER_CLUSTER,
      updated(eu1, changed(eu1, { generation: 2 })),
      ['eu-1 MemberCluster /eu-1 event'],
    ],
    [
      'a MemberCluster whose labels change: what it has, too, because overrides select by labels',
      MEMBER_CLUSTER,
      updated(eu1, changed(eu1, { labels: { region: 'us' } })),
      ['eu-1 MemberCluster /eu-1 event', ...everyFederated, sessionsInMembers[0] ?? ''],
    ],
    [
      'a MemberCluster that is not ready any more: every federated object, but not itself',
      MEMBER_CLUSTER,
      updated(eu1, withStatus(eu1, memberStatus(false))),
      everyFederated,
    ],
    [
      'a MemberCluster that is not ready for another reason',
      MEMBER_CLUSTER,
      updated(withStatus(eu1, memberStatus(false)), withStatus(eu1, memberStatus(false, 'Unauthorized'))),
      everyFederated,
    ],
    [
      'a MemberCluster that stays as ready as it was enqueues nothing',
      MEMBER_CLUSTER,
      updated(eu1, withStatus(eu1, { ...eu1.status, version: 'v1.37.3' })),
      [],
    ],
    [
      'a MemberCluster that is gone',
      MEMBER_CLUSTER,
      deleted(eu1),
      ['eu-1 MemberCluster /eu-1 event', ...everyFederated],
    ],

    [
      'a ControllerRevision that is gone: its owner',
      CONTROLLER_REVISION,
      deleted(newRevision(sessions, 1)),
      [sessionsOnHub],
    ],
    ['a ControllerRevision that appears enqueues nothing', CONTROLLER_REVISION, added(newRevision(sessions, 1)), []],
    [
      'a ControllerRevision of another kind enqueues nothing',
      CONTROLLER_REVISION,
      deleted(newRevision(sessionsAsStatefulSet(), 1)),
      [],
    ],

    [
      'a Secret: every member that names it',
      CORE.Secret,
      added(secret('shared')),
      ['us-1 MemberCluster /us-1 event', 'ap-1 MemberCluster /ap-1 event'],
    ],
    [
      'a Secret that changes',
      CORE.Secret,
      updated(secret('member-eu-1'), secret('member-eu-1')),
      ['eu-1 MemberCluster /eu-1 event'],
    ],
    ['a Secret that is gone', CORE.Secret, deleted(secret('member-eu-1')), ['eu-1 MemberCluster /eu-1 event']],
    ['a Secret that no member names enqueues nothing', CORE.Secret, added(secret('other')), []],
  ])('%s', (_, gvk, event, expected) => {
    expect(play(gvk, event)).toEqual(expected);
  });

  it('what is there already comes after what happens', () => {
    expect(play(GIT_SOURCE, added(apps, true))).toEqual(['hub GitSource shop/apps resync']);
  });

  it('a resync looks at everything again, after what happens', () => {
    expect(play(FEDERATED, updated(cache, cache))).toEqual(['hub FederatedRedisCluster shop/cache resync']);
  });

  it('only the Secrets of Atoll’s own namespace are watched', () => {
    const informers = new PlayedInformers();
    const ports = { clock: systemClock, logger: silentLogger, metrics: noMetrics };
    memberClusterController(context).attach({ cluster: HUB, informers, queue: { add: () => undefined }, ...ports });
    expect(informers.all().map(({ gvk, scope }) => [gvk.kind, scope])).toContainEqual([
      'Secret',
      { namespace: 'atoll-system' },
    ]);
  });
});

describe('in a member', () => {
  const controllers = [propagationController(kind, 'eu-1', context)];
  const target = { apiVersion: 'workloads.atoll.dev/v1', kind: 'RedisCluster' };
  const ours = { ...target, metadata: { name: 'sessions', namespace: 'shop', uid: 'm' } };

  it.each<[string, Event, string[]]>([
    [
      'an object enqueues the federated object of its name',
      added(ours),
      ['eu-1 FederatedRedisCluster shop/sessions event'],
    ],
    [
      'a change of its status does, too',
      updated(ours, withStatus(ours, { phase: 'Running' })),
      ['eu-1 FederatedRedisCluster shop/sessions event'],
    ],
    [
      'its end does, also of an object that was not ours and in the way',
      deleted(ours),
      ['eu-1 FederatedRedisCluster shop/sessions event'],
    ],
    [
      'a copy under another name enqueues nothing, whatever mark it bears',
      added({ ...ours, metadata: { ...ours.metadata, name: 'copy' } }),
      [],
    ],
    [
      'an object of a federated object that is not recorded for this cluster enqueues nothing',
      added({ ...ours, metadata: { ...ours.metadata, name: 'cache' } }),
      [],
    ],
  ])('%s', (_, event, expected) => {
    expect(playEvent({ cluster: 'eu-1', controllers, gvk: kind.target.gvk, event })).toEqual(expected);
  });
});

describe('keys by hand', () => {
  it('of a cluster are the federated objects that are recorded for it', () => {
    const keys = keysOfCluster('us-1', context);
    expect(keys).toEqual([{ cluster: 'us-1', kind: kindName(FEDERATED), namespace: 'shop', name: 'sessions' }]);
    expect(keysOfCluster('ap-1', context)).toEqual([]);
  });
});

function secret(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'atoll-system' } };
}

function sessionsAsStatefulSet(): FederatedObject {
  return { ...sessions, apiVersion: 'apps/v1', kind: 'StatefulSet' };
}
