import { AtollError, apiVersionOf, gvkOf } from '../kernel/index.ts';
import type { KubernetesObject, OwnerReference } from '../kernel/index.ts';
import { describeObject } from '../kubernetes/index.ts';

/** The object is controlled by another one already: there is at most one controller. */
export class AlreadyOwnedError extends AtollError {
  override name = 'AlreadyOwnedError';
}

/** The object cannot have this owner: its garbage collector would not find it, and collect the object. */
export class InvalidOwnerError extends AtollError {
  override name = 'InvalidOwnerError';
}

/** The owner that controls an object; there is at most one. (apimachinery, metav1.GetControllerOf) */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * The object as controlled by an owner, by the rules of controllerutil.SetControllerReference: a reference to the same
 * group, kind and name is replaced, whatever its version; others stay.
 * @throws AlreadyOwnedError when another object controls it
 * @throws InvalidOwnerError when the owner is in another namespace, or in one while the object is in none
 */
export function withControllerReference(
  object: KubernetesObject,
  owner: KubernetesObject,
  { blockOwnerDeletion = true }: { readonly blockOwnerDeletion?: boolean } = {},
): KubernetesObject {
  requireReachable(object, owner);
  const reference: OwnerReference = {
    apiVersion: apiVersionOf(gvkOf(owner)),
    kind: owner.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion,
  };
  const existing = controllerOf(object);
  if (existing !== undefined && !isSameOwner(existing, reference)) {
    throw new AlreadyOwnedError(`${describeObject(object)} is controlled by ${existing.kind} ${existing.name}`);
  }
  const references = object.metadata.ownerReferences ?? [];
  const index = references.findIndex((other) => isSameOwner(other, reference));
  const ownerReferences = index < 0 ? [...references, reference] : references.with(index, reference);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Same group, kind and name: the version is how it was read, and the UID may be a predecessor's. */
function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.kind === b.kind && a.name === b.name && gvkOf(a).group === gvkOf(b).group;
}

function requireReachable(object: KubernetesObject, owner: KubernetesObject): void {
  const { namespace = '' } = object.metadata;
  const { namespace: ownerNamespace = '' } = owner.metadata;
  if (ownerNamespace === '' || ownerNamespace === namespace) return;
  const why =
    namespace === ''
      ? 'a cluster-scoped object cannot be owned by an object of a namespace'
      : 'an owner must be in the same namespace';
  throw new InvalidOwnerError(`${describeObject(object)} cannot be owned by ${describeObject(owner)}: ${why}`);
}
