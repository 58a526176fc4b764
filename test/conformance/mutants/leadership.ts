import type { Mutant } from './mutant.ts';

export const leadershipMutants: readonly Mutant[] = [
  {
    name: 'a replica takes the epoch that another one has recorded',
    file: 'src/leadership/lease-epoch-store.ts',
    search: '(recorded === epoch && holder === replica)',
    replacement: 'recorded === epoch',
    test: "TestTryAcquireOrRenewLeases/don't acquire from led, acked object",
  },
  {
    name: 'a new holder is not counted',
    file: 'src/leadership/lease-epoch-store.ts',
    search: '(isNew && live !== undefined ? 1 : 0)',
    replacement: '0',
    test: 'TestTryAcquireOrRenewLeases/acquire from led, unacked object',
  },
  {
    name: 'each heartbeat counts as a new holder',
    file: 'src/leadership/lease-epoch-store.ts',
    search: 'isNew && live !== undefined ? 1',
    replacement: 'live !== undefined ? 1',
    test: 'TestTryAcquireOrRenewLeases/renew already acquired object',
  },
  {
    name: 'each heartbeat reads the Lease',
    file: 'src/leadership/lease-epoch-store.ts',
    search: 'this.#written.get(holding.shard) ?? ',
    replacement: '',
    test: 'TestFastPathLeaderElection/Exercise fast path after lock acquired',
  },
  {
    name: 'a Lease that somebody else wrote is not read again',
    file: 'src/leadership/lease-epoch-store.ts',
    search: 'attempt === ATTEMPTS || !isOutdated(error)',
    replacement: 'attempt <= ATTEMPTS || !isOutdated(error)',
    test: 'TestFastPathLeaderElection/Fallback to slow path after fast path fails',
  },
  {
    name: 'the labels of others are dropped from a Lease',
    file: 'src/leadership/lease-epoch-store.ts',
    search: '...live?.metadata.labels, ',
    replacement: '',
    test: 'TestLabelUpdate',
  },
  {
    name: 'the deadline may leave no room for a jittered retry',
    file: 'src/leadership/shards.ts',
    search: 'renewDeadline > 1.2 * retryPeriod',
    replacement: 'renewDeadline > retryPeriod',
    test: 'TestLeaderElectionConfigValidation',
  },
];
