/**
 * The registry of member clusters: from a MemberCluster and its kubeconfig Secret to an engaged `Cluster`.
 *
 * A member is engaged by the replica that owns its shard, and by no other: connection → same cluster as before
 * (kube-system UID) → CRDs → informers synced. What cannot be engaged says why in the MemberCluster's conditions:
 *
 * ```
 *             kubeconfig bad        no answer       401 / 403      another UID
 *  (look) ──▶ InvalidKubeconfig ── Unreachable ── Unauthorized ── IdentityChanged ──▶ (look again after 5 s)
 *     │                                            Forbidden
 *     └──▶ Ready ──(look every 20 s; silent for 30 s → Unreachable; another server in the Secret → engaged anew;
 *                   informers silent for 150 s → NotWatched)
 * ```
 *
 * Other credentials or another CA for the same server are used as soon as the cluster has said with them that it is still
 * this member: informers keep what they have, watches go on from where they are. The change comes with the watch on
 * Secrets, or, when the member answers 401 before that, by reading the Secret from the hub once. Credentials that fail
 * this make the member not Ready, and nothing is written to it; the former ones keep its informers alive meanwhile.
 *
 * A member that was joined with a fence (`fence.ts`) refuses what a former owner sends. Its epoch is raised before the first other
 * write of a tenure; who finds a higher one there lets go of the member (reason FencedOff).
 *
 * Three requests a look (version, the UID that says whether it is still the same cluster, the fence) keep the steady cost at 0.15
 * requests a second and cluster. Between a look that failed and the next good one, no key of the member is worked.
 * Nothing that a member does reaches another member: each has its own client, informers and queue.
 *
 * @module
 */
export type { Cluster, Wire, Wiring } from './cluster.ts';
export { joinCluster } from './join.ts';
export type { JoinRequest } from './join.ts';
export { MemberClusters } from './member-clusters.ts';
export { engagementMemberRules, memberClusterHubRules, memberClusterNamespaceRules } from './rules.ts';
