import { SERVER_METADATA } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { UnsendableError, describeObject } from '../kubernetes/index.ts';
import { canonicalJson, hashOfText } from './canonical-json.ts';
import { withoutPath } from './field-path.ts';
import { fittingRules } from './ignore-rules.ts';
import type { FittingRule, IgnoreRule } from './ignore-rules.ts';

/** Annotation with the hash of what was applied last. A Secret's hash lies on the Secret itself and nowhere else. */
export const APPLIED_HASH_ANNOTATION = 'atoll.dev/applied-hash';

/** etcd takes requests of 1.5 MiB by default, managedFields and all; API servers refuse ConfigMaps and Secrets above 1 MiB. */
const MAX_BYTES = 1024 * 1024;

/** What shall be, ready to be compared and sent. */
export interface WantedObject {
  /** Normalized, with the annotation that says which desired state it is. */
  readonly body: KubernetesObject;
  /** Of all that is ours to decide: without the fields that fall under a rule. */
  readonly hash: string;
  /** The rules that fit. */
  readonly rules: readonly FittingRule[];
}

/**
 * A desired object as it is compared and sent: {@link normalize}d, with its hash.
 * @throws UnsendableError when it is larger than 1 MiB
 */
export function wantedObject(desired: KubernetesObject, ignore: readonly IgnoreRule[] = []): WantedObject {
  const normal = normalize(desired);
  const { [APPLIED_HASH_ANNOTATION]: _own, ...others } = normal.metadata.annotations ?? {};
  const bare = { ...normal, metadata: { ...normal.metadata, annotations: others } };
  const rules = fittingRules(bare, ignore);
  const text = canonicalJson(rules.reduce((object, { path }) => withoutPath(object, path), bare));
  refuseTooLarge(bare, rules.length === 0 ? text : canonicalJson(bare));
  const hash = hashOfText(text);
  const annotations = { ...others, [APPLIED_HASH_ANNOTATION]: hash };
  return { body: { ...normal, metadata: { ...normal.metadata, annotations } }, hash, rules };
}

function refuseTooLarge(object: KubernetesObject, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return;
  const size = (bytes / 1024 / 1024).toFixed(2);
  throw new UnsendableError(`${describeObject(object)} is ${size} MiB; an API server takes at most 1 MiB`);
}

/** The hash of what was applied last, as the object says. */
export function appliedHash(object: KubernetesObject): string | undefined {
  return object.metadata.annotations?.[APPLIED_HASH_ANNOTATION];
}

/**
 * What is sent of a wanted object: without nulls (an API server defaults them and lets us own the default), without
 * `status` and what the server sets in `metadata` (sent, it is refused or changes what an apply means), and a Secret's
 * `stringData` as `data` (a key dropped from `stringData` would stay in `data` for ever).
 */
export function normalize(desired: KubernetesObject): KubernetesObject {
  const { status: _status, ...rest } = withoutNulls(desired) as KubernetesObject;
  const metadata = Object.fromEntries(Object.entries(rest.metadata).filter(([name]) => !SERVER_METADATA.has(name)));
  return foldStringData({ ...rest, metadata });
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

function foldStringData(object: KubernetesObject): KubernetesObject {
  const { stringData, ...rest } = object;
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret' || stringData === undefined) return object;
  const encoded = Object.entries(stringData as object).map(([name, text]: [string, unknown]) => {
    if (typeof text === 'string') return [name, Buffer.from(text, 'utf8').toString('base64')];
    throw new UnsendableError(`${describeObject(object)}: stringData.${name} must be a text`);
  });
  const data = { ...(object['data'] as Record<string, string> | undefined), ...Object.fromEntries(encoded) };
  return { ...rest, data };
}
