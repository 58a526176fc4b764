import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { done, noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { Shards } from '../../src/leadership/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import type { RedisOptions } from '../../src/redis/index.ts';
import { Workqueues } from '../../src/workqueue/index.ts';
import { CertificateAuthority } from '../lab/certificates.ts';
import type { KeyPair } from '../lab/certificates.ts';
import { freePort } from '../lab/ports.ts';
import { eventually } from '../support/eventually.ts';
import { keyOf } from '../support/queue-replica.ts';
import { RedisTopology } from '../support/redis-topology.ts';
import { EpochsInMemory } from '../support/shard-replica.ts';

let topology: RedisTopology;
let closing: (() => Promise<void>)[];

/** A queue that is worked, with what a replica does when Redis lost something: it adds the key "again". */
function replica(options: Pick<RedisOptions, 'url' | 'mode' | 'sentinel' | 'tls'>): {
  readonly redis: RedisConnections;
  readonly queues: Workqueues;
  readonly ran: string[];
  readonly losses: () => number;
} {
  const logger = silentLogger;
  const metrics = noMetrics;
  const redis = new RedisConnections({ ...options, keyPrefix: 'test', allowNoPassword: false, logger, metrics });
  const queues = new Workqueues({ maxConcurrency: 8, redis, clock: systemClock, random: Math.random, logger, metrics });
  let losses = 0;
  const ran: string[] = [];
  queues.onDataLoss(() => {
    losses += 1;
    queues.queue('m1').add(keyOf('again'));
  });
  const reconcile = ({ name }: { readonly name: string }): Promise<typeof done> => {
    ran.push(name);
    return Promise.resolve(done);
  };
  queues.queue('m1').start(reconcile, { concurrency: 2, guard: () => undefined });
  closing.push(async () => {
    await queues.close();
    await redis.close();
  });
  return { redis, queues, ran, losses: () => losses };
}

beforeEach(async () => {
  topology = await RedisTopology.create();
  closing = [];
});

afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  await topology.stop();
});

describe('behind Sentinels', () => {
  it('a failed master is replaced by the one that they name; what may have been lost is added again', async () => {
    const master = await topology.server();
    const heir = await topology.server(`replicaof 127.0.0.1 ${master.port}`);
    const sentinel = await topology.sentinel(master);
    const { queues, ran, redis, losses } = replica({
      url: topology.url(sentinel),
      mode: 'sentinel',
      sentinel: { master: 'shared', password: topology.password },
    });
    queues.queue('m1').add(keyOf('before'));
    await eventually(() => ran.includes('before'));
    await eventually(async () => String(await heir.client.call('INFO', 'replication')).includes('link_status:up'));
    await eventually(async () =>
      String(await sentinel.client.call('SENTINEL', 'REPLICAS', 'shared')).includes(String(heir.port)),
    );
    await master.service.kill();
    queues.queue('m1').add(keyOf('meanwhile'));
    await eventually(() => ran.includes('meanwhile') && ran.includes('again'), { timeout: 60_000 });
    expect(losses()).toBe(1);
    expect(await heir.client.call('ROLE')).toContain('master');
    expect(redis.healthy()).toBe(true);
  });
});

describe('in a Redis Cluster', () => {
  it('queues and leases work, on whichever node their keys lie', async () => {
    const nodes = await topology.cluster();
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster has nodes');
    const { queues, ran, redis } = replica({ url: topology.url(first), mode: 'cluster' });
    queues.queue('m1').add(keyOf('a'));
    queues.queue('m1').addAfter(keyOf('b'), 100);
    await eventually(() => ran.includes('a') && ran.includes('b'));
    const times = { duration: 1500, renewDeadline: 1000, retryPeriod: 200 };
    const ports = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };
    const shards = new Shards({ redis, replica: 'a', times, epochs: new EpochsInMemory(), ...ports });
    shards.setShards(['hub', 'm1']);
    shards.start();
    await eventually(() => shards.holds('hub') && shards.holds('m1'));
    await shards.stop();
    await queues.remove('m1');
    const left = await Promise.all(nodes.map(({ client }) => client.keys('test:queue:{m1}:*')));
    expect(left.flat()).toEqual([]);
  });

  it('a node that comes back empty is noticed by the queues that lie on it, and every key is added again', async () => {
    const nodes = await topology.cluster();
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster has nodes');
    const { queues, ran, losses } = replica({ url: topology.url(first), mode: 'cluster' });
    queues.queue('m1').add(keyOf('before'));
    await eventually(() => ran.includes('before'));
    const slot = Number(await first.client.call('CLUSTER', 'KEYSLOT', '{m1}'));
    const holder = nodes[[5461, 10_923, 16_384].findIndex((end) => slot < end)];
    await holder?.service.kill();
    queues.queue('m1').add(keyOf('meanwhile'));
    await holder?.service.start();
    await eventually(() => ran.includes('meanwhile') && ran.includes('again'), { timeout: 60_000 });
    expect(losses()).toBe(1);
  });
});

describe('on one server', () => {
  it('that asks for TLS with a client certificate and knows us by an ACL user, queues work', async () => {
    const authority = await CertificateAuthority.create('redis');
    const files = await topology.files({
      'ca.pem': authority.certificate,
      ...named('server', await authority.server({ names: ['localhost'], addresses: ['127.0.0.1'] })),
    });
    const tlsPort = await freePort();
    await topology.server(
      `tls-port ${tlsPort}`,
      'tls-auth-clients yes',
      `tls-ca-cert-file ${files('ca.pem')}`,
      `tls-cert-file ${files('server.pem')}`,
      `tls-key-file ${files('server.key')}`,
      'user atoll on >s%cret ~test:* resetchannels -@all +@connection +@read +@write +@scripting -@dangerous +info +time',
    );
    const { certificate, key } = await authority.client('atoll', []);
    const url = `rediss://atoll:s%25cret@127.0.0.1:${tlsPort}`;
    const { queues, ran, redis } = replica({ url, tls: { ca: authority.certificate, cert: certificate, key } });
    queues.queue('m1').add(keyOf('a'));
    queues.queue('m1').addAfter(keyOf('b'), 50);
    await eventually(() => ran.includes('a') && ran.includes('b'));
    expect(redis.healthy()).toBe(true);
    const stranger = replica({ url });
    await eventually(() => stranger.redis.lastError()?.includes('certificate'));
  });

  it('that is full, no key is lost: what it does not take is kept until it does', async () => {
    const server = await topology.server();
    const { queues, ran } = replica({ url: topology.url(server) });
    queues.queue('m1').add(keyOf('before'));
    await eventually(() => ran.includes('before'));
    await server.client.config('SET', 'maxmemory', '1');
    for (let index = 0; index < 50; index += 1) queues.queue('m1').add(keyOf(`k${index}`));
    await systemClock.sleep(2500);
    expect(ran).not.toContain('k0');
    await server.client.config('SET', 'maxmemory', '0');
    await eventually(() => Array.from({ length: 50 }, (_, index) => `k${index}`).every((name) => ran.includes(name)));
  });
});

function named(name: string, { certificate, key }: KeyPair): Record<string, string> {
  return { [`${name}.pem`]: certificate, [`${name}.key`]: key };
}
