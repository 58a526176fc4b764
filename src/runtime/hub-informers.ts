import { federatedKinds, gitSourceKind, memberClusterKind } from '../api/index.ts';
import {
  CONTROLLER_REVISION,
  GIT_SOURCE,
  MEMBER_CLUSTER,
  OWNER_INDEX,
  REVISION,
  REVISION_LABEL,
  SECRET,
} from '../federation/index.ts';
import type { TriggerContext } from '../federation/index.ts';
import type { Lister, SharedInformer, SharedInformerFactory } from '../informers/index.ts';
import { formatGvk, kindName } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';

/** The hub's informers that every replica runs, whichever shards it owns. */
export class HubInformers {
  readonly members: SharedInformer;
  readonly sources: SharedInformer;
  readonly revisions: SharedInformer;
  readonly secrets: SharedInformer;
  /** By {@link kindName}. */
  readonly federated: ReadonlyMap<string, SharedInformer>;

  /** @param namespace Atoll's own, the only one whose Secrets are watched */
  constructor(factory: SharedInformerFactory, namespace: string) {
    this.members = factory.informer(memberClusterKind.gvk);
    this.sources = factory.informer(gitSourceKind.gvk);
    this.revisions = factory.informer(CONTROLLER_REVISION, { labelSelector: REVISION_LABEL });
    this.revisions.addIndex(OWNER_INDEX, (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid));
    this.secrets = factory.informer(CORE.Secret, { namespace });
    this.federated = new Map(
      federatedKinds.map(({ federated }) => [kindName(federated.gvk), factory.informer(federated.gvk)]),
    );
  }

  /** The informers whose events are in the table of triggers, by {@link kindName}. */
  watched(): ReadonlyMap<string, SharedInformer> {
    return new Map([
      [GIT_SOURCE, this.sources],
      [MEMBER_CLUSTER, this.members],
      [REVISION, this.revisions],
      [SECRET, this.secrets],
      ...this.federated,
    ]);
  }

  /** What the triggers look things up in. */
  triggerContext(): TriggerContext {
    const objects = new Map([...this.federated].map(([kind, { lister }]) => [kind, lister]));
    return { kinds: federatedKinds, objects, members: this.members.lister };
  }

  /** Listers for reading hub objects that come from Git, by `formatGvk`. */
  listers(): ReadonlyMap<string, Lister> {
    return new Map([...this.federated.values()].map(({ gvk, lister }) => [formatGvk(gvk), lister]));
  }
}
