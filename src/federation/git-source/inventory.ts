import { applyObject } from '../../apply/index.ts';
import { TerminalError } from '../../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject, PolicyRule } from '../../kernel/index.ts';
import { CORE } from '../../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../../kubernetes/index.ts';

/** One object that a source applied, or is about to. */
export interface InventoryEntry {
  readonly gvk: GroupVersionKind;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** Empty between the intent to apply and the answer. */
  readonly uid: string;
}

/** Entries per ConfigMap: some 150 bytes each, well below the 1 MiB that an object may have. */
const CHUNK = 2000;
const SOURCE_LABEL = 'atoll.dev/inventory-of';

/** What keeping inventories needs, in Atoll's own namespace on the hub. */
export const inventoryRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
];

/**
 * What each source has applied, as ConfigMaps in Atoll's own namespace, where no tenant can change them. An entry is
 * written before its object is applied, so that nothing can be applied and then forgotten.
 */
export class Inventories {
  readonly #hub: KubernetesClient;
  readonly #namespace: string;

  constructor(hub: KubernetesClient, namespace: string) {
    this.#hub = hub;
    this.#namespace = namespace;
  }

  /** Every entry of a source (by UID). @throws TerminalError when a chunk cannot be read: nothing is pruned by guess */
  async read(sourceUid: string): Promise<readonly InventoryEntry[]> {
    return (await this.#chunks(sourceUid)).flatMap((chunk) => entriesOf(chunk));
  }

  /** Replaces a source's entries. Chunks that do not change are not written. */
  async replace(sourceUid: string, entries: readonly InventoryEntry[], write: WriteContext): Promise<void> {
    const chunks = await this.#chunks(sourceUid);
    const sorted = entries.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const count = Math.ceil(sorted.length / CHUNK);
    for (let index = 0; index < count; index += 1) {
      const desired = this.#chunk(sourceUid, index, sorted.slice(index * CHUNK, (index + 1) * CHUNK));
      const live = chunks.find((chunk) => chunk.metadata.name === desired.metadata.name);
      await applyObject({ client: this.#hub, desired, live, adoption: 'Adopt', force: true, write });
    }
    const kept = new Set(Array.from({ length: count }, (_, index) => nameOf(sourceUid, index)));
    for (const chunk of chunks.filter(({ metadata }) => !kept.has(metadata.name ?? ''))) {
      const { name = '', uid = '' } = chunk.metadata;
      await this.#hub.delete({ gvk: CORE.ConfigMap, namespace: this.#namespace, name }, { uid }, write);
    }
  }

  async #chunks(sourceUid: string): Promise<readonly KubernetesObject[]> {
    const labelSelector = `${SOURCE_LABEL}=${sourceUid}`;
    const { items } = await this.#hub.list(CORE.ConfigMap, { namespace: this.#namespace, labelSelector });
    return items;
  }

  #chunk(sourceUid: string, index: number, entries: readonly InventoryEntry[]): KubernetesObject {
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: nameOf(sourceUid, index),
        namespace: this.#namespace,
        labels: { [SOURCE_LABEL]: sourceUid, 'app.kubernetes.io/managed-by': 'atoll' },
      },
      data: { entries: entries.map((entry) => JSON.stringify(toLine(entry))).join('\n') },
    };
  }
}

/** "group/Kind/namespace/name": the same for all versions of a kind. */
export function idOf(entry: Pick<InventoryEntry, 'gvk' | 'namespace' | 'name'>): string {
  return `${entry.gvk.group}/${entry.gvk.kind}/${entry.namespace}/${entry.name}`;
}

function nameOf(sourceUid: string, index: number): string {
  return `inventory-${sourceUid}-${index}`;
}

function toLine({ gvk, namespace, name, uid }: InventoryEntry): string[] {
  return [gvk.group, gvk.version, gvk.kind, namespace, name, uid];
}

function entriesOf(chunk: KubernetesObject): InventoryEntry[] {
  const lines = (chunk['data'] as { entries?: string } | undefined)?.entries ?? '';
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseLine(line, chunk.metadata.name ?? ''));
}

function parseLine(line: string, chunk: string): InventoryEntry {
  const fields: unknown = JSON.parse(line);
  if (!Array.isArray(fields) || fields.length !== 6 || !fields.every((field) => typeof field === 'string')) {
    throw new TerminalError(`ConfigMap ${chunk} is not an inventory: ${line.slice(0, 100)}`);
  }
  const [group = '', version = '', kind = '', namespace = '', name = '', uid = ''] = fields;
  return { gvk: { group, version, kind }, namespace, name, uid };
}
