import { federate } from './federated.ts';
import { gitSourceKind } from './git-source.ts';
import { memberClusterKind } from './member-cluster.ts';
import type { PublishedKind } from './published-kind.ts';
import { redisClusterKind } from './redis-cluster.ts';

/** A federated kind with the kind that it puts into the members. */
export interface FederatedKind {
  readonly federated: PublishedKind;
  readonly target: PublishedKind;
}

/** The kind FederatedRedisCluster. */
export const federatedRedisClusterKind = federate(redisClusterKind, 'frc');

/** Every pair of federated kind and target. */
export const federatedKinds: readonly FederatedKind[] = [
  { federated: federatedRedisClusterKind, target: redisClusterKind },
];

/** Every kind that Atoll publishes. */
export const publishedKinds: readonly PublishedKind[] = [
  memberClusterKind,
  gitSourceKind,
  ...federatedKinds.flatMap(({ federated, target }) => [federated, target]),
];
