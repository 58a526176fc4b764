import { gvkOf } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { contentHash } from './canonical-json.ts';

/** Annotation that holds an {@link OwnerMark} together with the identity of the object it was made for. */
export const OWNER_ANNOTATION = 'atoll.dev/owner';
/** Label with {@link ownerHash}: selects everything of one owner. */
const OWNER_LABEL = 'atoll.dev/owner';
/** Label on every object that Atoll made; informative, ownership is judged by the annotation. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
/** Value of {@link MANAGED_BY_LABEL}. */
export const MANAGED_BY = 'atoll';

/** Who owns an object: an object of an installation of Atoll. */
export interface OwnerMark {
  /** Identifies Atoll's hub; a hub rebuilt from Git under the same id owns what the old one owned. */
  readonly installation: string;
  /** Kind with group: "FederatedRedisCluster.federation.atoll.dev". */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Informative: owners are told apart by name, because a rebuilt hub gives its objects new UIDs. */
  readonly uid: string;
}

/** A mark as found on an object. */
export interface FoundMark {
  readonly mark: OwnerMark;
  /** The mark was made for the object that bears it, and not copied from another one. */
  readonly valid: boolean;
  /** The object was there before its owner: it was taken over. */
  readonly adopted: boolean;
}

/** The object with the annotation and labels that name its owner. What it says under these names itself is replaced. */
export function withMark(
  desired: KubernetesObject,
  mark: OwnerMark,
  { adopted = false }: { readonly adopted?: boolean } = {},
): KubernetesObject {
  const { installation, kind, namespace, name, uid } = mark;
  const object = identityOf(desired);
  const annotation = JSON.stringify({ installation, kind, namespace, name, uid, object, ...(adopted && { adopted }) });
  const metadata = {
    ...desired.metadata,
    labels: { ...desired.metadata.labels, [MANAGED_BY_LABEL]: MANAGED_BY, [OWNER_LABEL]: ownerHash(mark) },
    annotations: { ...desired.metadata.annotations, [OWNER_ANNOTATION]: annotation },
  };
  return { ...desired, metadata };
}

/** The mark that an object bears; undefined when there is none, or none that can be read. */
export function markOf(object: KubernetesObject): FoundMark | undefined {
  const fields = parseFields(object.metadata.annotations?.[OWNER_ANNOTATION]);
  if (fields === undefined) return undefined;
  const { installation, kind, namespace, name, uid, object: identity, adopted } = fields;
  if (!areTexts(installation, kind, namespace, name, uid)) return undefined;
  const mark = { installation, kind, namespace, name, uid } as OwnerMark;
  return { mark, valid: identity === identityOf(object), adopted: adopted === true };
}

/** A label value that is the same for all objects of an owner, whatever its UID. */
export function ownerHash(mark: OwnerMark): string {
  return contentHash([mark.installation, mark.kind, mark.namespace, mark.name]);
}

/** Whether two marks name the same owner; UIDs may differ. */
function isSameOwner(a: OwnerMark, b: OwnerMark): boolean {
  return a.installation === b.installation && a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

/** Whether an object bears a mark of this owner that was made for it. */
export function isOwnedBy(object: KubernetesObject, owner: OwnerMark): boolean {
  const found = markOf(object);
  return found !== undefined && found.valid && isSameOwner(found.mark, owner);
}

/** "group/kind/namespace/name": without the version, which may change under an object. */
function identityOf(object: KubernetesObject): string {
  const { group, kind } = gvkOf(object);
  const { namespace = '', name = '' } = object.metadata;
  return `${group}/${kind}/${namespace}/${name}`;
}

/** The annotation is anybody's text: what is not a JSON object is no mark. */
function parseFields(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
