import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../kernel/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';

/**
 * Writes the whole status of an object through its `status` subresource, by one forced server-side apply as the
 * write's field manager, and only when it differs from the status last seen. An API server ignores everything but
 * `status` on that subresource (conformance: an entry `subresource: status` of its own), so nothing else is sent.
 *
 * The UID goes along, so that an object deleted meanwhile is not taken for its successor.
 *
 * @param object the object as last seen, with its `status`
 * @returns the object as written, or undefined when there was nothing to write
 */
export async function applyStatus(
  client: KubernetesClient,
  object: KubernetesObject,
  status: Readonly<Record<string, unknown>>,
  write: WriteContext,
): Promise<KubernetesObject | undefined> {
  const wanted = withoutUndefined(status);
  if (isDeepStrictEqual(wanted, object['status'] ?? {})) return undefined;
  const { name, namespace, uid } = object.metadata;
  const metadata = withoutUndefined({ name, namespace, uid }) as KubernetesObject['metadata'];
  const body = { apiVersion: object.apiVersion, kind: object.kind, metadata, status: wanted };
  return client.apply(body, write, { subresource: 'status', force: true });
}

/**
 * The same JSON without fields that are undefined, as an API server would send it back, and without empty maps: a map
 * whose last field its owner gives up becomes null on the server, which a schema then refuses.
 */
function withoutUndefined(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]): [string, unknown] => [name, clean(field)])
      .filter(([, field]) => field !== undefined),
  );
}

function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => clean(item) ?? {});
  if (typeof value !== 'object' || value === null) return value;
  const fields = withoutUndefined(value);
  return Object.keys(fields).length === 0 ? undefined : fields;
}
