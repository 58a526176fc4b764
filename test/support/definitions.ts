import { customResourceDefinition, publishedKinds } from '../../src/api/index.ts';
import { adminClient, asTester, eventually } from './lab.ts';

/** The CRDs that Atoll publishes for hubs or for members, in a cluster of the lab; returns when all are served. */
export async function installDefinitions(cluster: string, location: 'hub' | 'member'): Promise<void> {
  const kinds = publishedKinds.filter((kind) => kind.location === location);
  const client = adminClient(cluster);
  for (const kind of kinds) {
    const definition = customResourceDefinition(kind);
    await client.apply(definition, { ...asTester, fieldManager: 'atoll-crds' }, { force: true });
  }
  // Established comes a moment before the kind is served.
  for (const { gvk } of kinds) {
    await eventually(() => client.list(gvk, { limit: 1 }), { message: `${gvk.kind} was not served` });
  }
}
