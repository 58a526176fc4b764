import type { PolicyRule } from './policy-rule.ts';

/** What may be done with one resource, all of its objects or those of some names. */
interface Grant {
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[];
  readonly verbs: ReadonlySet<string>;
}

/**
 * The same rights in as few rules as say them: the verbs of a resource together, resources with the same verbs in one
 * rule, nothing for single objects that is granted for all. Sorted, so that the order of declarations does not show.
 */
export function mergeRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const grants = [...byResource(rules).values()];
  const needed = grants.map((grant) => withoutGeneral(grant, grants)).filter(({ verbs }) => verbs.size > 0);
  return [...byVerbs(needed).values()].toSorted((a, b) => compare(sortKey(a), sortKey(b)));
}

function byResource(rules: readonly PolicyRule[]): ReadonlyMap<string, Grant> {
  const grants = new Map<string, Grant>();
  for (const rule of rules) {
    const names = (rule.resourceNames ?? []).toSorted(compare);
    for (const [group, resource] of rule.apiGroups.flatMap((one) => rule.resources.map((two) => [one, two] as const))) {
      const key = JSON.stringify([group, resource, names]);
      const verbs = new Set([...(grants.get(key)?.verbs ?? []), ...rule.verbs]);
      grants.set(key, { group, resource, names, verbs });
    }
  }
  return grants;
}

/** Less the verbs that are granted for every object of the resource. */
function withoutGeneral(grant: Grant, all: readonly Grant[]): Grant {
  if (grant.names.length === 0) return grant;
  const { group, resource } = grant;
  const general = all.find((other) => other.group === group && other.resource === resource && other.names.length === 0);
  return { ...grant, verbs: new Set([...grant.verbs].filter((verb) => general?.verbs.has(verb) !== true)) };
}

function byVerbs(grants: readonly Grant[]): ReadonlyMap<string, PolicyRule> {
  const rules = new Map<string, PolicyRule>();
  for (const { group, resource, names, verbs } of grants) {
    const sorted = [...verbs].toSorted(compare);
    const key = JSON.stringify([group, sorted, names]);
    const resources = [...(rules.get(key)?.resources ?? []), resource].toSorted(compare);
    const resourceNames = names.length === 0 ? {} : { resourceNames: names };
    rules.set(key, { apiGroups: [group], resources, ...resourceNames, verbs: sorted });
  }
  return rules;
}

function sortKey({ apiGroups, resources, resourceNames = [] }: PolicyRule): string {
  return [apiGroups, resources, resourceNames].map((part) => part.join(',')).join('\n');
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
