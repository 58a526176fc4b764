import type { KubernetesObject } from '../kernel/index.ts';
import type { IgnoreRule } from './ignore-rules.ts';

/** On an object: the rules for what is made of it, as a JSON list, because those who make it see only the object. */
const IGNORE_ANNOTATION = 'atoll.dev/ignore';

/** An {@link IgnoreRule} for the objects of a kind. */
export type KindRule = IgnoreRule & { readonly kind?: string | undefined };

/** The object with the rules for what is made of it. */
export function withChildRules(object: KubernetesObject, rules: readonly KindRule[]): KubernetesObject {
  const others = rules.filter(({ kind }) => kind !== undefined && kind !== object.kind);
  if (others.length === 0) return object;
  const annotations = { ...object.metadata.annotations, [IGNORE_ANNOTATION]: JSON.stringify(others) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The rules for an object itself. */
export function ownRules(object: KubernetesObject, rules: readonly KindRule[]): readonly IgnoreRule[] {
  return rules.filter(({ kind }) => kind === undefined || kind === object.kind);
}

/** The rules that an object bears for what is made of it. What cannot be read is no rule: the annotation is anybody's text. */
export function childRules(object: KubernetesObject): readonly KindRule[] {
  const text = object.metadata.annotations?.[IGNORE_ANNOTATION];
  const value = text === undefined ? [] : parse(text);
  return Array.isArray(value) ? value.filter((rule) => isRule(rule)) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isRule(value: unknown): value is KindRule {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, path, mode } = value as Record<string, unknown>;
  return typeof kind === 'string' && typeof path === 'string' && (mode === 'Strip' || mode === 'Adopt');
}
