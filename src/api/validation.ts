import type { z } from 'zod';

import { explainIssue } from './explanation.ts';
import { withoutNulls } from './null-pruning.ts';
import { publishedKinds } from './published-kinds.ts';

/** Something wrong with an object: where, and what would be right. */
export interface FieldError {
  /** The field, as `kubectl explain` would write it, with list indexes: `spec.overrides[0].patches[1].op`. */
  readonly path: string;
  readonly message: string;
}

/** What can be validated: any Kubernetes object. */
export interface ValidatedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/**
 * Everything that is wrong with an object of a published kind, as far as it can be known without a cluster; nothing
 * for other kinds. As in the API server, rules between fields are looked at once every field has the right form, and
 * a null counts as an absent field.
 */
export function validateObject(object: ValidatedObject): readonly FieldError[] {
  const [group] = object.apiVersion.split('/', 1);
  const kind = publishedKinds.find(({ gvk }) => gvk.group === group && gvk.kind === object.kind);
  if (kind === undefined) return [];
  const result = kind.schema.safeParse(withoutNulls(kind.schema, object), { error: explainIssue });
  return result.success ? [] : result.error.issues.flatMap(fieldErrors);
}

function fieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return paths.map((path) => ({ path: formatPath(path), message: issue.message }));
}

/** `metadata.labels["example.com/team"]`, `spec.overrides[0].name`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((parent, step) => {
    if (typeof step === 'number') return `${parent}[${step}]`;
    const name = String(step);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${parent}[${JSON.stringify(name)}]`;
    return parent === '' ? name : `${parent}.${name}`;
  }, '');
}
