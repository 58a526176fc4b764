import { SERVER_METADATA } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';

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
  const encoded = Object.entries(stringData as Record<string, string>).map(([name, text]) => [
    name,
    Buffer.from(text, 'utf8').toString('base64'),
  ]);
  const data = { ...(object['data'] as Record<string, string> | undefined), ...Object.fromEntries(encoded) };
  return { ...rest, data };
}
