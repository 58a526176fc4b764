/**
 * One rule of a Kubernetes Role or ClusterRole (rbac.authorization.k8s.io/v1). Each reconciler declares beside itself
 * what it needs; the roles in `deploy/` and the ones that `atoll join` creates are composed of these.
 */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}
