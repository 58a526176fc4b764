import { mergeRules } from '../../src/kernel/index.ts';
import type { PolicyRule } from '../../src/kernel/index.ts';
import { hubClusterRules, hubNamespaceRules, memberRules, memberTenantRules, tenantRules } from '../../src/roles.ts';
import type { Generator } from './generator.ts';
import { page, section, table } from './markdown.ts';

const FILE = 'docs/reference/rights.md';
const INTRODUCTION =
  "What Atoll's service account may do, made of what each reconciler declares beside itself. The manifests in " +
  '`deploy/kustomize/rbac` and the roles that `atoll join` creates in a member hold the same rules.';

/** The page of Atoll's rights, on the hub and in a member. */
export const rightsPage: Generator = {
  owns: [FILE],
  files: () => new Map([[FILE, page('Rights', INTRODUCTION, rights())]]),
};

function rights(): readonly string[] {
  return [
    ...section('On the hub, everywhere (ClusterRole `atoll`)', ruleTable(hubClusterRules)),
    ...section("On the hub, in Atoll's own namespace (Role `atoll`)", ruleTable(hubNamespaceRules)),
    ...section('On the hub, in a namespace whose owner binds it (ClusterRole `atoll-tenant`)', ruleTable(tenantRules)),
    ...section('In a member, everywhere (ClusterRole `atoll-member`)', ruleTable(memberRules)),
    ...section(
      'In a member, in a namespace whose owner binds it (ClusterRole `atoll-tenant`)',
      ruleTable(memberTenantRules),
    ),
  ];
}

function ruleTable(rules: readonly PolicyRule[]): string {
  return table(
    ['API group', 'Resources', 'Verbs', 'Only'],
    mergeRules(rules).map(({ apiGroups, resources, verbs, resourceNames = [] }) => [
      apiGroups.map((group) => (group === '' ? 'core' : code(group))).join(', '),
      resources.map(code).join(', '),
      verbs.join(', '),
      resourceNames.map(code).join(', '),
    ]),
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
