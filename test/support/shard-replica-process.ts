import { ShardReplica } from './shard-replica.ts';

// A replica in a process of its own, for tests that kill it. Writes a line for each shard that it gains.
const [url = '', keyPrefix = '', name = '', ...shards] = process.argv.slice(2);
const replica = new ShardReplica({ url, keyPrefix, name });
replica.shards.onGained((shard) => process.stdout.write(`${shard}\n`));
replica.start(shards);
