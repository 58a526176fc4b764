import { applyObject, isEstablished } from '../apply/index.ts';
import { WaitingError } from '../kernel/index.ts';
import type { Clock, KubernetesObject } from '../kernel/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';

/** Which of two versions of a CRD is newer; raised with every change of a published schema. */
const SCHEMA_REVISION = 1;

const REVISION_ANNOTATION = 'atoll.dev/schema-revision';
const CRD = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
const CHECKS = 50;
const BETWEEN_CHECKS = 200;

/**
 * Brings CustomResourceDefinitions into a cluster and waits until each is Established. One that is already there in
 * the same form costs one GET; one that a newer Atoll installed is left alone.
 * @throws WaitingError when a CRD is not Established after 10 s
 */
export async function installCrds(
  client: KubernetesClient,
  definitions: readonly KubernetesObject[],
  write: WriteContext,
  clock: Clock,
): Promise<void> {
  for (const definition of definitions) {
    await installCrd(client, withRevision(definition), write);
  }
  for (const definition of definitions) {
    await waitUntilEstablished(client, definition.metadata.name ?? '', clock);
  }
}

/** The definition with the annotation by which an older Atoll recognises a newer one's work. */
function withRevision(definition: KubernetesObject): KubernetesObject {
  const annotations = { ...definition.metadata.annotations, [REVISION_ANNOTATION]: String(SCHEMA_REVISION) };
  return { ...definition, metadata: { ...definition.metadata, annotations } };
}

async function installCrd(client: KubernetesClient, desired: KubernetesObject, write: WriteContext): Promise<void> {
  const live = await client.get({ gvk: CRD, name: desired.metadata.name ?? '' });
  const installed = Number(live?.metadata.annotations?.[REVISION_ANNOTATION] ?? 0);
  if (installed > SCHEMA_REVISION) return;
  await applyObject({ client, desired, live, adoption: 'Adopt', force: true, write });
}

async function waitUntilEstablished(client: KubernetesClient, name: string, clock: Clock): Promise<void> {
  for (let check = 0; check < CHECKS; check += 1) {
    const live = await client.get({ gvk: CRD, name });
    if (live !== undefined && isEstablished(live)) return;
    await clock.sleep(BETWEEN_CHECKS);
  }
  throw new WaitingError(`CustomResourceDefinition ${name} is not Established yet`);
}
