/** One requirement of a {@link LabelSelector}. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For In and NotIn. */
  readonly values?: readonly string[];
}

/** metav1.LabelSelector. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** metav1.LabelSelector: every matchLabel and every expression must hold; an empty selector matches everything. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labelOf(labels, key) === value);
  return equal && (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels));
}

/** Labels come from anybody: one named as what every object inherits is there only when it was set. */
function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** One requirement; NotIn and DoesNotExist hold for a label that is absent, as in apimachinery's selectors. */
function holds(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labelOf(labels, requirement.key);
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
