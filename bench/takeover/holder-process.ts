import { readFileSync } from 'node:fs';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import { parseKubeconfig } from '../../src/kubernetes/index.ts';
import { LeaseEpochStore, Shards } from '../../src/leadership/index.ts';
import { RedisConnections } from '../../src/redis/index.ts';
import { openClient } from '../hub.ts';
import type { HolderArguments, ShardEvent } from './holder.ts';

// A replica as far as its shards go, at the real lease times: leases in Redis, epochs on the hub. Writes a line for each shard that it
// gains or loses. SIGTERM stops it in order.
const { redisUrl, kubeconfigPath, group, name, shards } = JSON.parse(process.argv[2] ?? '') as HolderArguments;

const redis = new RedisConnections({
  url: redisUrl,
  keyPrefix: group,
  allowNoPassword: false,
  logger: silentLogger,
  metrics: noMetrics,
});
const hub = openClient(parseKubeconfig(readFileSync(kubeconfigPath, 'utf8')));
const held = new Shards({
  redis,
  replica: name,
  times: { duration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 },
  epochs: new LeaseEpochStore({ client: hub, namespace: group, clock: systemClock, leaseDurationSeconds: 15 }),
  clock: systemClock,
  random: Math.random,
  logger: silentLogger,
  metrics: noMetrics,
});

function tell(event: ShardEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function stop(): Promise<void> {
  await held.stop();
  await redis.close();
  await hub.close();
}

held.onGained((shard) => tell({ kind: 'gained', shard, at: systemClock.now() }));
held.onLost((shard) => tell({ kind: 'lost', shard, at: systemClock.now() }));
process.once('SIGTERM', () => void stop());
held.setShards(shards);
held.start();
