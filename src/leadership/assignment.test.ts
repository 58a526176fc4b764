import { describe, expect, it } from 'vitest';
import { array, assert, boolean, integer, nat, property, record } from 'fast-check';
import { assignShards, rank } from './assignment.ts';

const none = new Map<string, string>();
const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function loadsOf(assignment: ReadonlyMap<string, string>, replicas: readonly string[]): number[] {
  return replicas.map((replica) => [...assignment.values()].filter((one) => one === replica).length);
}

function movesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  return [...before].filter(([shard, replica]) => after.get(shard) !== replica).length;
}

const setting = record({
  shards: integer({ min: 0, max: 40 }).map((count) => names('m', count)),
  replicas: integer({ min: 1, max: 6 }).map((count) => names('r', count)),
  seed: array(nat(9), { minLength: 40, maxLength: 40 }),
});

/** Shards that are spread evenly, as they are when nothing has changed for a while: from any beginning. */
const evenSetting = setting.map(({ shards, replicas, seed }) => ({
  shards,
  replicas,
  before: assignShards({ shards, replicas, owners: ownersFrom(shards, seed) }),
}));

/** Owners in any state: some shards unowned, some owned by replicas that are gone, loads uneven. */
function ownersFrom(shards: readonly string[], seed: readonly number[]): Map<string, string> {
  return new Map(shards.flatMap((shard, index) => (seed[index] === 9 ? [] : [[shard, `r${seed[index]}`] as const])));
}

describe('the assignment of shards', () => {
  it('gives every shard to a living replica, with loads that differ by one at most', () => {
    assert(
      property(setting, ({ shards, replicas, seed }) => {
        const assignment = assignShards({ shards, replicas, owners: ownersFrom(shards, seed) });
        const loads = loadsOf(assignment, replicas);
        expect(assignment.size).toBe(shards.length);
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('does not depend on the order in which shards and replicas are named', () => {
    assert(
      property(setting, ({ shards, replicas, seed }) => {
        const owners = ownersFrom(shards, seed);
        const reversed = { shards: shards.toReversed(), replicas: replicas.toReversed(), owners };
        expect(new Map(assignShards(reversed))).toEqual(new Map(assignShards({ shards, replicas, owners })));
      }),
    );
  });

  it('moves nothing when it is followed', () => {
    assert(
      property(setting, ({ shards, replicas, seed }) => {
        const first = assignShards({ shards, replicas, owners: ownersFrom(shards, seed) });
        expect(movesBetween(first, assignShards({ shards, replicas, owners: first }))).toBe(0);
      }),
    );
  });

  it('moves to the same end when only a part of the moves has happened', () => {
    assert(
      property(setting, array(boolean(), { minLength: 40 }), ({ shards, replicas, seed }, released) => {
        const owners = ownersFrom(shards, seed);
        const end = assignShards({ shards, replicas, owners });
        const underway = new Map(
          [...owners].filter(([shard, owner]) => end.get(shard) === owner || !released[shards.indexOf(shard)]),
        );
        const kept = [...assignShards({ shards, replicas, owners: underway })].filter(
          ([shard, replica]) => owners.get(shard) === replica,
        );
        for (const [shard, replica] of kept) expect(end.get(shard)).toBe(replica);
      }),
    );
  });

  it('moves only to a replica that comes, and no more than its share', () => {
    assert(
      property(evenSetting, ({ shards, replicas, before }) => {
        const after = assignShards({ shards, replicas: [...replicas, 'new'], owners: before });
        const [share = 0] = loadsOf(after, ['new']);
        expect(movesBetween(before, after)).toBe(share);
        expect(share).toBeLessThanOrEqual(Math.ceil(shards.length / (replicas.length + 1)));
      }),
    );
  });

  it('moves only the shards of a replica that goes', () => {
    assert(
      property(evenSetting, nat(), ({ shards, replicas, before }, index) => {
        const gone = replicas[index % replicas.length] ?? '';
        const rest = replicas.filter((replica) => replica !== gone);
        const after = assignShards({ shards, replicas: rest, owners: before });
        const moved = shards.filter((shard) => rest.length > 0 && after.get(shard) !== before.get(shard));
        expect(moved).toEqual(shards.filter((shard) => rest.length > 0 && before.get(shard) === gone));
      }),
    );
  });

  it('moves nothing back and forth while replicas come one after the other', () => {
    assert(
      property(evenSetting, integer({ min: 1, max: 4 }), ({ shards, replicas, before }, coming) => {
        let owners: ReadonlyMap<string, string> = before;
        let living = replicas;
        for (const replica of names('new', coming)) {
          living = [...living, replica];
          const after = assignShards({ shards, replicas: living, owners });
          const moved = shards.filter((shard) => after.get(shard) !== owners.get(shard));
          expect(moved.every((shard) => after.get(shard) === replica)).toBe(true);
          owners = after;
        }
      }),
    );
  });

  it('starts from rendezvous hashing: free shards go where they rank highest while there is room', () => {
    const replicas = names('r', 3);
    const assignment = assignShards({ shards: ['m0'], replicas, owners: none });
    const best = replicas.toSorted((a, b) => rank('m0', b) - rank('m0', a))[0];
    expect(assignment.get('m0')).toBe(best);
  });
});
