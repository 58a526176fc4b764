import { federatedKinds, memberClusterKind } from '../api/index.ts';
import { CONTROLLER_REVISION, REVISION_SCOPE } from '../federation/index.ts';
import type { TriggerContext } from '../federation/index.ts';
import type { SharedInformer, SharedInformerFactory } from '../informers/index.ts';
import { kindName } from '../kernel/index.ts';
import { CORE } from '../kubernetes/index.ts';

/** What of the hub is looked things up in by more than one controller, or by a member's. */
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
    this.revisions = factory.informer(CONTROLLER_REVISION, REVISION_SCOPE);
    this.secrets = factory.informer(CORE.Secret, { namespace });
    this.federated = new Map(
      federatedKinds.map(({ federated }) => [kindName(federated.gvk), factory.informer(federated.gvk)]),
    );
    const objects = new Map([...this.federated].map(([kind, { lister }]) => [kind, lister]));
    this.triggers = { kinds: federatedKinds, objects, members: this.members.lister, namespace };
  }
}
