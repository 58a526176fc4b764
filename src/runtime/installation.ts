import { randomUUID } from 'node:crypto';
import { TerminalError } from '../kernel/index.ts';
import type { KubernetesObject, PolicyRule } from '../kernel/index.ts';
import { AlreadyExistsError, CORE, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';

const NAME = 'atoll-installation';

/** What finding the installation id needs, in Atoll's own namespace. */
export const installationRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
];

/**
 * The id under which this installation owns objects in its members, kept in a ConfigMap on the hub. The first start
 * creates it, once and for all replicas: a create that loses the race reads the winner's. (This one write happens
 * without a lease; it can only ever succeed once.)
 * @param wanted the configured id, when there is one
 * @throws TerminalError when the hub records another id than the configured one
 */
export async function installationId(
  hub: KubernetesClient,
  namespace: string,
  wanted: string | undefined,
): Promise<string> {
  const recorded = idOf(await read(hub, namespace)) ?? (await create(hub, namespace, wanted ?? randomUUID()));
  if (wanted !== undefined && wanted !== recorded) {
    const where = `ConfigMap ${namespace}/${NAME}`;
    throw new TerminalError(`ATOLL_INSTALLATION_ID is ${wanted}, but ${where} records ${recorded}: change one of them`);
  }
  return recorded;
}

function read(hub: KubernetesClient, namespace: string): Promise<KubernetesObject | undefined> {
  return hub.get({ gvk: CORE.ConfigMap, namespace, name: NAME });
}

function idOf(configMap: KubernetesObject | undefined): string | undefined {
  return (configMap?.['data'] as { id?: string } | undefined)?.id;
}

async function create(hub: KubernetesClient, namespace: string, id: string): Promise<string> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME, namespace }, data: { id } };
  try {
    await hub.create(object, writeAs('atoll', { guard: () => undefined }));
    return id;
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    const recorded = idOf(await read(hub, namespace));
    if (recorded === undefined)
      throw new TerminalError(`ConfigMap ${namespace}/${NAME} has no key "id"`, { cause: error });
    return recorded;
  }
}
