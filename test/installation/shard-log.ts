import type { Fleet } from './fleet.ts';
import type { Replica } from './replica.ts';

/** A replica got a shard, as it logged it. */
export interface ShardGain {
  readonly shard: string;
  readonly replica: string;
  readonly epoch: number;
  /** Milliseconds since the epoch, by the replica's clock. */
  readonly time: number;
}

/** Every shard that these replicas ever gained, newest last. */
export function gains(replicas: readonly Replica[]): readonly ShardGain[] {
  return replicas
    .flatMap((replica) => replica.log.filter(({ msg }) => msg === 'shard gained').map((line) => ({ line, replica })))
    .map(({ line, replica }) => ({
      shard: String(line['shard']),
      replica: replica.name,
      epoch: Number(line['epoch']),
      time: Date.parse(String(line['time'])),
    }))
    .toSorted((a, b) => a.time - b.time);
}

/** The shards that a replica of a fleet gained and that no other gained since. */
export function held(fleet: Fleet, replica: Replica): readonly string[] {
  const last = new Map(gains(fleet.replicas).map(({ shard, replica: owner }) => [shard, owner]));
  return [...last].filter(([, owner]) => owner === replica.name).map(([shard]) => shard);
}
