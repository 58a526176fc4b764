import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisCluster } from '../../src/api/index.ts';
import { applied, emptied, membersReady, readyIn, removedFrom, startReady } from '../installation/index.ts';
import type { Fleet } from '../installation/index.ts';
import { eventually } from '../support/lab.ts';
import { SHORT_LEASES, installFleet, manifest, removeFleet } from './play.ts';

const FILE = 'apps/sessions.yaml';
const PROD = '{selector: {matchLabels: {tier: prod}}}';
const EU_MEMORY =
  '[{name: eu-memory, selector: {matchLabels: {region: eu}}, patches: [{op: replace, path: /spec/resources/limits/memory, value: 512Mi}]}]';

describe('the way of a commit', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await installFleet(SHORT_LEASES);
    await Promise.all([startReady(fleet, 'atoll-a'), startReady(fleet, 'atoll-b')]);
    await membersReady(fleet);
  });

  afterAll(() => removeFleet(fleet));

  it('joins members that show their version, their identity and who works them', async () => {
    const members = await Promise.all(fleet.members.map((name) => fleet.member(name)));
    expect(members.map((member) => member?.status?.version)).toEqual(['v1.37.2', 'v1.37.2', 'v1.37.2']);
    expect(new Set(members.map((member) => member?.status?.uid)).size).toBe(3);
    const replicas = fleet.replicas.map(({ name }) => name);
    expect(members.every((member) => replicas.includes(member?.status?.owner ?? ''))).toBe(true);
  });

  it('brings a committed object to the placed members and no others, and its state back to the hub', async () => {
    const oid = await fleet.commit({ [FILE]: manifest('sessions', { placement: PROD }) }, 'Add sessions');
    await applied(fleet, oid);
    const { status } = await readyIn(fleet, 'sessions', ['eu-1', 'us-1']);
    expect(status?.sourceRevision).toBe(`main@sha1:${oid}`);
    expect(status?.clusters).toEqual({ desired: 2, synced: 2, ready: 2, summary: '2/2' });
    expect(status?.phase).toBe('Running');
    expect(status?.observed).toEqual({ readyReplicas: 2, currentVersion: '8.2' });
    expect(status?.currentRevision).toBe(status?.updateRevision);
    expect(await fleet.names('ap-1', 'RedisCluster')).toEqual([]);
    expect(await fleet.names('eu-1', 'Service')).toEqual(['sessions', 'sessions-headless']);
  });

  it('satisfies kubectl wait', async () => {
    const wait = ['-n', fleet.team, 'wait', '--for=condition=Available', 'frc/sessions', '--timeout=10s'];
    expect(await fleet.kubectl('hub', ...wait)).toContain('condition met');
  });

  it('applies an override where its selector says', async () => {
    const oid = await fleet.commit(
      { [FILE]: manifest('sessions', { placement: PROD, overrides: EU_MEMORY }) },
      'More memory',
    );
    await applied(fleet, oid);
    await readyIn(fleet, 'sessions', ['eu-1', 'us-1']);
    const memory = async (cluster: string): Promise<unknown> => {
      const live = await fleet.read(cluster, 'RedisCluster', 'sessions');
      return (live as RedisCluster | undefined)?.spec.resources?.limits?.memory;
    };
    expect([await memory('eu-1'), await memory('us-1')]).toEqual(['512Mi', '256Mi']);
  });

  it('applies nothing of a commit with one bad manifest, and says file, line and why', async () => {
    const good = manifest('carts', { placement: PROD });
    const bad = manifest('sessions', { placement: PROD }).replace('version:', 'verzion:');
    await fleet.commit({ 'apps/carts.yaml': good, [FILE]: bad }, 'A mistake');
    const message = await eventually(async () => {
      const ready = (await fleet.source())?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'False' ? ready.message : undefined;
    });
    expect(message).toMatch(/apps\/sessions\.yaml:6:\d+: spec\.template\.spec\.verzion/);
    expect(message).toContain('kept revision main@sha1:');
    expect(await fleet.federated('carts')).toBeUndefined();
    const corrected = {
      'apps/carts.yaml': undefined,
      [FILE]: manifest('sessions', { placement: PROD, overrides: EU_MEMORY }),
    };
    await applied(fleet, await fleet.commit(corrected, 'Correct it'));
  });

  it('takes back what somebody edits by hand: a child, a member object and the hub object', async () => {
    const patch = async (cluster: string, kind: string, change: string): Promise<void> => {
      await fleet.kubectl(cluster, '-n', fleet.team, 'patch', kind, 'sessions', '--type', 'merge', '-p', change);
    };
    await patch('us-1', 'statefulset', '{"spec":{"replicas":3}}');
    await patch('eu-1', 'rediscluster', '{"spec":{"resources":{"limits":{"memory":"1Gi"}}}}');
    await patch('hub', 'federatedrediscluster', '{"spec":{"template":{"spec":{"version":"7.4"}}}}');
    await eventually(async () => {
      const child = await fleet.read('us-1', 'StatefulSet', 'sessions');
      const object = await fleet.read('eu-1', 'RedisCluster', 'sessions');
      const hub = await fleet.federated('sessions');
      expect(child?.['spec']).toMatchObject({ replicas: 1 });
      expect(object?.['spec']).toMatchObject({ version: '8.2', resources: { limits: { memory: '512Mi' } } });
      expect(hub?.spec.template.spec).toMatchObject({ version: '8.2' });
      return true;
    });
    await readyIn(fleet, 'sessions', ['eu-1', 'us-1']);
  });

  it('follows the labels of a member: in when it is selected, out, with everything, when it is not', async () => {
    await fleet.kubectl('hub', 'label', '--overwrite', 'membercluster', 'ap-1', 'tier=prod');
    await readyIn(fleet, 'sessions', ['ap-1', 'eu-1', 'us-1']);
    await fleet.kubectl('hub', 'label', '--overwrite', 'membercluster', 'ap-1', 'tier=staging');
    await readyIn(fleet, 'sessions', ['eu-1', 'us-1']);
    await emptied(fleet, 'ap-1');
  });

  it('removes an object that a newer commit lacks from the hub and from every member', async () => {
    await applied(fleet, await fleet.commit({ [FILE]: undefined }, 'Remove sessions'));
    await removedFrom(fleet, 'sessions', fleet.members);
  });
});
