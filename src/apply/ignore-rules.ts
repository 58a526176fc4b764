import { isUnder, resolvePath } from './field-path.ts';
import type { FieldPath } from './field-path.ts';
import type { KubernetesObject } from '../kernel/index.ts';

/** A field that is somebody else's by agreement. */
export interface IgnoreRule {
  /** In the notation of server-side apply: `spec.template.spec.containers[name="app"].image`. */
  readonly path: string;
  /**
   * Strip: the field is never sent, not even when the object is created. Adopt: it is sent when the object is created, and
   * from then on with the value that it has in the cluster, so that it stays when nobody else holds it.
   */
  readonly mode: 'Strip' | 'Adopt';
}

/** An {@link IgnoreRule} that fits an object. */
export interface FittingRule {
  readonly mode: IgnoreRule['mode'];
  readonly path: FieldPath;
}

/** The rules that name a field of an object; the others have nothing to say about it. */
export function fittingRules(object: KubernetesObject, rules: readonly IgnoreRule[]): readonly FittingRule[] {
  return rules.flatMap(({ path: text, mode }) => {
    const path = resolvePath(object, text);
    return path === undefined ? [] : [{ mode, path }];
  });
}

/** The rule that a field falls under. */
export function ruleFor(path: FieldPath, rules: readonly FittingRule[]): FittingRule | undefined {
  return rules.find((rule) => isUnder(path, rule.path));
}
