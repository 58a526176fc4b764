import { mergeRules } from '../../src/kernel/index.ts';
import type { PolicyRule } from '../../src/kernel/index.ts';
import { hubClusterRules, hubNamespaceRules, tenantRules } from '../../src/roles.ts';
import type { Generator } from './generator.ts';
import { yamlFile } from './yaml.ts';

const NAMESPACE = 'atoll-system';
const FILE = 'deploy/kustomize/rbac/roles.yaml';

/** The roles of Atoll's service account on the hub. Who gets them is in `bindings.yaml` beside it. */
export const roleManifests: Generator = {
  owns: [FILE],
  files: () =>
    new Map([
      [
        FILE,
        yamlFile([
          role({ kind: 'ClusterRole', name: 'atoll' }, hubClusterRules),
          role({ kind: 'ClusterRole', name: 'atoll-tenant' }, tenantRules),
          role({ kind: 'Role', name: 'atoll', namespace: NAMESPACE }, hubNamespaceRules),
        ]),
      ],
    ]),
};

interface Identity {
  readonly kind: 'ClusterRole' | 'Role';
  readonly name: string;
  readonly namespace?: string;
}

function role({ kind, ...metadata }: Identity, rules: readonly PolicyRule[]): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { ...metadata, labels: { 'app.kubernetes.io/part-of': 'atoll' } },
    rules: mergeRules(rules),
  };
}
