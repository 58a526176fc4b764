import type { PolicyRule } from '../kernel/index.ts';

/** What looking after MemberClusters needs on the hub, cluster-wide. */
export const memberClusterHubRules: readonly PolicyRule[] = [
  { apiGroups: ['federation.atoll.dev'], resources: ['memberclusters'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['federation.atoll.dev'], resources: ['memberclusters/status'], verbs: ['patch'] },
];

/** What it needs in Atoll's own namespace on the hub: the members' kubeconfigs. */
export const memberClusterNamespaceRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
];

/** What engaging needs in a member: who it is, and the CRDs. */
export const engagementMemberRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: ['kube-system'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'create', 'patch'] },
];
