import { federatedKinds } from './api/index.ts';
import { engagementMemberRules, memberClusterHubRules, memberClusterNamespaceRules } from './clusters/index.ts';
import { eventRules } from './events/index.ts';
import {
  FederatedReconciler,
  GitSourceReconciler,
  MemberNamespaces,
  PropagationReconciler,
  inventoryRules,
} from './federation/index.ts';
import type { PolicyRule } from './kernel/index.ts';
import { leaseRules } from './leadership/index.ts';
import { installationRules } from './runtime/index.ts';
import { WorkloadReconciler } from './workloads/index.ts';

/** What Atoll may do on the hub, everywhere. Composed of what each reconciler declares beside itself. */
export const hubClusterRules: readonly PolicyRule[] = [
  ...memberClusterHubRules,
  ...GitSourceReconciler.rules(federatedKinds),
  ...FederatedReconciler.rules(federatedKinds),
  ...eventRules,
];

/** What Atoll may do in its own namespace on the hub. */
export const hubNamespaceRules: readonly PolicyRule[] = [
  ...memberClusterNamespaceRules,
  ...leaseRules,
  ...inventoryRules,
  ...installationRules,
];

/** What a namespace with GitSources grants to Atoll, by a RoleBinding of its own. */
export const tenantRules: readonly PolicyRule[] = GitSourceReconciler.tenantRules;

/** What `atoll join` grants to Atoll in a member. */
export const memberRules: readonly PolicyRule[] = [
  ...engagementMemberRules,
  ...MemberNamespaces.rules,
  ...PropagationReconciler.rules(federatedKinds),
  ...WorkloadReconciler.rules,
];

/** What a namespace of a member grants to Atoll besides, by a RoleBinding of its own. */
export const memberTenantRules: readonly PolicyRule[] = PropagationReconciler.tenantRules;
