/**
 * Every kind that Atoll publishes, each from one zod schema: its TypeScript type, its CRD, its reference page and its
 * validation are all read from it.
 *
 * Guarantees:
 * - A CRD made here is structural, describes every field, and is the same for the same schema, byte for byte.
 * - `validateObject` refuses whatever the API server would refuse or silently prune, as far as this can be known without a
 *   cluster, naming the field and what is allowed. It never throws for an object, whatever is in it.
 * - Only fields that do something are in a schema: what is accepted is acted on.
 *
 * Rules between fields are written once, as CEL and as a predicate (`rule.ts`). What the two cannot share is said where it
 * stands: CEL sees no fields without a type, and only CEL sees the old value of an immutable field.
 *
 * The spec in a federated kind's template is the target's own, but its defaults are left to the members: so that a field
 * that Git does not have never becomes part of a revision, and a changed default never makes a new one.
 *
 * Numbers: names of workloads have at most 40 characters because their children append to them within 63; lists and maps
 * have limits because CEL rules can be costed only then, set well above what a person writes by hand (64 overrides of 64
 * patches, 512 clusters); an interval is at least 10 s so that no source hammers its server.
 *
 * @module
 */
export { customResourceDefinition } from './custom-resource-definition.ts';
export { parseDuration } from './duration.ts';
export type { FederatedObject, PlacementRow } from './federated.ts';
export { gitSourceKind, type GitSource } from './git-source.ts';
export { memberClusterKind, type MemberCluster } from './member-cluster.ts';
export type { PublishedKind } from './published-kind.ts';
export { federatedKinds, federatedRedisClusterKind, publishedKinds, type FederatedKind } from './published-kinds.ts';
export { redisClusterKind, type RedisCluster } from './redis-cluster.ts';
export type { StructuralSchema } from './structural-schema.ts';
export { validateObject } from './validation.ts';
