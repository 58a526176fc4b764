import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/index.ts';
import { held, membersReady, startReady } from '../installation/index.ts';
import type { Fleet, Replica } from '../installation/index.ts';
import { eventually, lab } from '../support/lab.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { SHORT_LEASES, installFleet, removeFleet } from './play.ts';

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

describe('the process', () => {
  let fleet: Fleet;
  let replica: Replica;

  beforeAll(async () => {
    fleet = await installFleet(SHORT_LEASES);
    replica = await startReady(fleet, 'atoll-a');
    await membersReady(fleet);
  });

  afterAll(() => removeFleet(fleet));

  it('answers /livez and /readyz', async () => {
    expect(await replica.page('livez')).toEqual({ status: 200, text: 'ok' });
    expect(await replica.page('readyz')).toEqual({ status: 200, text: 'ok' });
  });

  it.each([
    'workqueue_depth',
    'workqueue_adds_total',
    'controller_runtime_reconcile_total',
    'controller_runtime_reconcile_time_seconds_bucket',
    'leader_election_master_status',
    'rest_client_requests_total',
    'nodejs_eventloop_lag_seconds',
  ])('exposes %s under controller-runtime’s name', async (name) => {
    await eventually(async () => (await replica.page('metrics'))?.text.includes(name), {
      message: `${name} is not exposed`,
    });
  });

  it('logs JSON lines with a level, a time and its name, and no token of anybody', () => {
    expect(replica.log.length).toBeGreaterThan(0);
    expect(replica.log.every(({ level, time, replica: name }) => level && time && name === 'atoll-a')).toBe(true);
    expect(JSON.stringify(replica.log)).not.toContain('eyJhbGciOi');
    expect(JSON.stringify(replica.log)).not.toContain(lab().git.password);
  });

  it('refuses to start on a bad environment and names every variable', () => {
    const { status, stderr } = spawnSync(process.execPath, [entry], {
      env: { ATOLL_HEALTH_PORT: 'eighty', ATOLL_HUB_KUBECONFIG: 'hub.kubeconfig' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/ATOLL_REDIS_URL[^]*ATOLL_HEALTH_PORT/);
  });

  it('names a kubeconfig that cannot be read', () => {
    const { status, stderr } = spawnSync(process.execPath, [entry], {
      env: { ATOLL_REDIS_URL: lab().redis.url, ATOLL_HUB_KUBECONFIG: '/nowhere/hub.kubeconfig' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^atoll: ATOLL_HUB_KUBECONFIG: cannot be read: .*nowhere.*\n$/);
  });

  it('waits for a hub that lacks the CRDs, and says for which', async () => {
    // A member serves none of the hub's kinds.
    const early = await fleet.startReplica('atoll-early', {
      ATOLL_HUB_KUBECONFIG: fleet.cluster('ap-1').kubeconfigPath,
    });
    const unserved = /does not serve MemberCluster.*, GitSource.*, FederatedRedisCluster/;
    await eventually(async () => unserved.test((await early.page('readyz'))?.text ?? ''), {
      message: `it does not say what it waits for: ${JSON.stringify(early.log.at(-1))}`,
    });
    expect(await early.page('readyz')).toMatchObject({ status: 503 });
    await eventually(() => early.log.filter(({ msg }) => msg.startsWith('kind is not served')).length === 3);
    expect(await early.end('SIGTERM')).toBe(0);
  });

  it('exits 0 when it is told to stop in the first second of its start', async () => {
    const hasty = await fleet.startReplica('atoll-hasty');
    await systemClock.sleep(1000);
    expect(await hasty.end('SIGTERM')).toBe(0);
  });

  it('exits 0 when it is told to stop while Redis is down, be it from the start or since a moment ago', async () => {
    const redis = new URL(fleet.lab.redis.url);
    const proxy = await TcpProxy.start(() => Number(redis.port));
    const url = fleet.lab.redis.url.replace(`:${redis.port}`, `:${proxy.port}`);
    const worker = await startReady(fleet, 'atoll-worker', { ATOLL_REDIS_URL: url });
    await eventually(() => held(fleet, worker).length > 0, { timeout: 30_000, message: 'it gets no shard' });
    await proxy.stop();
    expect(await worker.end('SIGTERM')).toBe(0);
    const early = await startReady(fleet, 'atoll-idle', { ATOLL_REDIS_URL: url });
    expect(await early.end('SIGTERM')).toBe(0);
  });

  it('has no more rights on the hub than it declares', async () => {
    const may = async (...question: string[]): Promise<string> => {
      const who = ['--as', 'system:serviceaccount:atoll-system:atoll'];
      const answer = await fleet.kubectl('hub', 'auth', 'can-i', ...question, ...who).catch(() => 'no');
      return answer.trim();
    };
    expect(await may('list', 'memberclusters')).toBe('yes');
    expect(await may('get', 'secrets', '-n', 'kube-system')).toBe('no');
    expect(await may('create', 'clusterrolebindings')).toBe('no');
    expect(await may('*', '*')).toBe('no');
  });
});
