import { describe, expect, it } from 'vitest';
import type { PolicyRule } from './policy-rule.ts';
import { mergeRules } from './merge-rules.ts';

const read = ['get', 'list', 'watch'];

describe('mergeRules', () => {
  it.each<[string, PolicyRule[], PolicyRule[]]>([
    [
      'puts the verbs of a resource together',
      [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['delete', 'get'] },
      ],
      [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'delete', 'get'] }],
    ],
    [
      'puts resources with the same verbs into one rule, but not those of another API group',
      [
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs: read },
        { apiGroups: [''], resources: ['services'], verbs: read },
        { apiGroups: [''], resources: ['configmaps'], verbs: read },
      ],
      [
        { apiGroups: [''], resources: ['configmaps', 'services'], verbs: read },
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs: read },
      ],
    ],
    [
      'keeps what is granted for single objects apart',
      [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'delete'], resourceNames: ['a'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
      ],
      [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get'] },
        { apiGroups: [''], resources: ['namespaces'], resourceNames: ['a'], verbs: ['delete'] },
      ],
    ],
    [
      'drops what is granted for single objects when it is granted for all',
      [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: ['kube-system'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
      ],
      [{ apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get'] }],
    ],
  ])('%s', (_, rules, merged) => {
    expect(mergeRules(rules)).toEqual(merged);
  });

  it('does not depend on the order of the declarations', () => {
    const rules = [
      { apiGroups: ['apps'], resources: ['statefulsets', 'controllerrevisions'], verbs: ['watch', 'get'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      { apiGroups: [''], resources: ['services'], verbs: ['get'] },
    ];
    expect(mergeRules(rules.toReversed())).toEqual(mergeRules(rules));
  });
});
