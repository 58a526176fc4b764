/**
 * The way of a change: Git → hub → members → status. Reconcilers, and the pure decisions that they act on.
 *
 * | step | where | who works it |
 * | --- | --- | --- |
 * | sync | `git-source/` | the owner of the hub shard |
 * | place, revise, fold the status | `federated-reconciler.ts` | the owner of the hub shard |
 * | propagate, withdraw | `propagation-reconciler.ts` | the owner of the member's shard |
 *
 * The hub's worker decides and records, in the object's status, which revision each cluster shall have; a member's
 * worker applies exactly that. So a decision survives any process, and a cluster is healed to its own revision.
 *
 * Nothing here is deleted because it could not be seen: a member object goes only when the hub object is being deleted
 * or records a withdrawal for the cluster, and bears our mark for itself; a hub object goes only when a fully read
 * newer commit lacks it. Status rows in Redis are hints: a row that is missing keeps what the hub showed last.
 *
 * @module
 */
export { FederatedReconciler } from './federated-reconciler.ts';
export { GitSourceReconciler, HubObjects, Inventories, inventoryRules } from './git-source/index.ts';
export { MemberNamespaces } from './member-namespaces.ts';
export { PropagationReconciler } from './propagation-reconciler.ts';
export { isShown } from './propagation-report.ts';
export { CONTROLLER_REVISION, REVISION_SCOPE } from './revisions.ts';
export { RedisStatusRows } from './status-rows.ts';
export type { StatusRow, StatusRows } from './status-rows.ts';
export {
  MEMBER_CLUSTER,
  federatedController,
  gitSourceController,
  keysOfCluster,
  memberClusterController,
  memberKey,
  propagationController,
  recordController,
} from './triggers.ts';
export type { TriggerContext } from './triggers.ts';
