import { createHash } from 'node:crypto';

/** What an assignment is made from. Every replica that has the same makes the same. */
export interface AssignmentInput {
  readonly shards: readonly string[];
  /** The replicas that live. */
  readonly replicas: readonly string[];
  /** Shard → the replica that has it. Replicas that do not live count as none. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * Says who should own each shard. Loads differ by one at most. A replica keeps what it has up to its share, and gives up what
 * it ranks lowest by rendezvous hashing; what is free goes to the replica that ranks highest and has room. So a replica that
 * comes takes only its share, and one that goes leaves only its own.
 */
export function assignShards({ shards, replicas, owners }: AssignmentInput): Map<string, string> {
  const room = new Room(shards.length, replicas);
  const assignment = new Map<string, string>();
  const ownedBy = (replica: string): string[] => shards.filter((shard) => owners.get(shard) === replica);
  // Those that have most come first: they get the places beyond the equal share, so that these shards need not move.
  for (const replica of byDescending(replicas.toSorted(), (one) => ownedBy(one).length)) {
    for (const shard of byDescending(ownedBy(replica), (one) => rank(one, replica))) {
      if (room.take(replica)) assignment.set(shard, replica);
    }
  }
  for (const shard of shards.toSorted()) {
    if (assignment.has(shard)) continue;
    const replica = byDescending(replicas.toSorted(), (one) => rank(shard, one)).find((one) => room.take(one));
    if (replica !== undefined) assignment.set(shard, replica);
  }
  return assignment;
}

/** How many shards each replica can still take: an equal share each, and what that leaves over once each. */
class Room {
  readonly #share: number;
  readonly #loads = new Map<string, number>();
  #leftOver: number;

  constructor(shards: number, replicas: readonly string[]) {
    this.#share = Math.floor(shards / replicas.length);
    this.#leftOver = shards - this.#share * replicas.length;
  }

  /** Takes a place of a replica. Returns whether there was one. */
  take(replica: string): boolean {
    const load = this.#loads.get(replica) ?? 0;
    if (load > this.#share || (load === this.#share && this.#leftOver === 0)) return false;
    if (load === this.#share) this.#leftOver -= 1;
    this.#loads.set(replica, load + 1);
    return true;
  }
}

/** The weight of a replica for a shard: evenly spread, and the same everywhere. */
export function rank(shard: string, replica: string): number {
  return createHash('sha256').update(`${shard}\n${replica}`).digest().readUIntBE(0, 6);
}

function byDescending<T>(values: readonly T[], weight: (value: T) => number): T[] {
  const weighted = values.map((value) => ({ value, weight: weight(value) }));
  return weighted.toSorted((a, b) => b.weight - a.weight).map(({ value }) => value);
}
