import type { Lister } from '../../informers/index.ts';
import { formatGvk, gvkOf, objectKey } from '../../kernel/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { KindNotFoundError, referenceOf } from '../../kubernetes/index.ts';
import type { Identity, KubernetesClient, ObjectReference } from '../../kubernetes/index.ts';

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

  /** The object as the hub had it a moment ago; what is not there may be there by now. */
  async find(object: KubernetesObject, identity: Identity): Promise<KubernetesObject | undefined> {
    const lister = this.#listers.get(formatGvk(gvkOf(object)));
    return lister === undefined ? this.read(referenceOf(object), identity) : lister.get(objectKey(object));
  }

  /** The object as the hub has it now; undefined when it certainly has none. */
  async read(reference: ObjectReference, identity: Identity): Promise<KubernetesObject | undefined> {
    try {
      return await this.#hub.get(reference, { identity });
    } catch (error) {
      if (error instanceof KindNotFoundError) return undefined;
      throw error;
    }
  }
}
