import { federatedKinds, gitSourceKind, memberClusterKind } from '../api/index.ts';
import { CONTROLLER_REVISION, REVISION_SCOPE } from '../federation/index.ts';
import type { TriggerContext } from '../federation/index.ts';
import type { SharedInformer, SharedInformerFactory } from '../informers/index.ts';
import { kindName } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';

/** The informers of the hub that every replica runs from its start on; several controllers look things up in them. */
export class HubInformers {
  readonly members: SharedInformer;
  readonly revisions: SharedInformer;
  readonly secrets: SharedInformer;
  /** By {@link kindName}. */
  readonly federated: ReadonlyMap<string, SharedInformer>;
  readonly triggers: TriggerContext;

  /** @param namespace Atoll's own, the only one whose Secrets are watched */
  constructor(factory: SharedInformerFactory, namespace: string) {
    this.members = factory.informer(memberClusterKind.gvk);
    // For its controller alone, which comes later; a replica says from its start on which kind it waits for.
    factory.informer(gitSourceKind.gvk);
    this.revisions = factory.informer(CONTROLLER_REVISION, REVISION_SCOPE);
    this.secrets = factory.informer(CORE.Secret, { namespace });
    this.federated = new Map(
      federatedKinds.map(({ federated }) => [kindName(federated.gvk), factory.informer(federated.gvk)]),
    );
    const objects = new Map([...this.federated].map(([kind, { lister }]) => [kind, lister]));
    this.triggers = { kinds: federatedKinds, objects, members: this.members.lister, namespace };
  }
}
