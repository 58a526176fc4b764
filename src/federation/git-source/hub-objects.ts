import type { Lister } from '../../informers/index.ts';
import { formatGvk, gvkOf } from '../../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../kernel/index.ts';
import type { Identity, KubernetesClient } from '../../kubernetes/index.ts';

/**
 * Reads hub objects where that is cheapest: from an informer when there is one for the kind, else by a GET as the
 * identity that would write them.
 */
export class HubObjects {
  readonly #hub: KubernetesClient;
  readonly #listers: ReadonlyMap<string, Lister>;

  /** @param listers hub informers by {@link formatGvk} */
  constructor(hub: KubernetesClient, listers: ReadonlyMap<string, Lister>) {
    this.#hub = hub;
    this.#listers = listers;
  }

  /** The object as the hub has it; undefined when it certainly has none. */
  async find(object: KubernetesObject, identity: Identity): Promise<KubernetesObject | undefined> {
    return this.get(gvkOf(object), object.metadata.namespace ?? '', object.metadata.name ?? '', identity);
  }

  /** As {@link find}, by kind and name; an empty namespace means cluster-scoped. */
  // oxlint-disable-next-line max-params -- the four parts of a reference as whom
  async get(
    gvk: GroupVersionKind,
    namespace: string,
    name: string,
    identity: Identity,
  ): Promise<KubernetesObject | undefined> {
    const lister = this.#listers.get(formatGvk(gvk));
    if (lister !== undefined) return lister.get(namespace === '' ? name : `${namespace}/${name}`);
    return this.#hub.get({ gvk, name, ...(namespace === '' ? {} : { namespace }) }, { identity });
  }
}
