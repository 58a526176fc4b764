import type { PolicyRule } from '../kernel/index.ts';
import { AlreadyExistsError, CORE } from '../kubernetes/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';

/** Creates the namespaces that federated objects need in a member, and never deletes one. */
export class MemberNamespaces {
  readonly #client: KubernetesClient;

  /** Rights in a member. */
  static readonly rules: readonly PolicyRule[] = [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create'] },
  ];

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /**
   * Creates a namespace if there is none.
   * @returns false when it was there already, so that its absence was not what a write failed for
   */
  async ensure(name: string, write: WriteContext): Promise<boolean> {
    if ((await this.#client.get({ gvk: CORE.Namespace, name })) !== undefined) return false;
    const labels = { 'app.kubernetes.io/managed-by': 'atoll' };
    try {
      await this.#client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, write);
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
    }
    return true;
  }
}
