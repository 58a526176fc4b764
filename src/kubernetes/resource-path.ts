import type { KubernetesObject } from '../kernel/index.ts';
import type { Resource } from './resource.ts';
import { UnsendableError } from './unsendable-error.ts';

/** Where an object is: what an ObjectReference says beside the kind. */
export interface ObjectPlace {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Path of all objects of a resource, in one namespace or everywhere. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const { group, version, plural } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  if (namespace === undefined || namespace === '') return `${root}/${plural}`;
  if (!resource.namespaced) {
    throw new UnsendableError(`${resource.kind} is cluster-scoped, there is none in namespace ${namespace}`);
  }
  return `${root}/namespaces/${segment(namespace)}/${plural}`;
}

/** Path of one object or of a subresource of it. @throws UnsendableError when a part is missing or is no path segment */
export function objectPath(resource: Resource, place: ObjectPlace, subresource?: string): string {
  const { namespace, name } = place;
  if (resource.namespaced && (namespace === undefined || namespace === '')) {
    throw new UnsendableError(`${resource.kind} ${name}: the namespace is missing`);
  }
  const path = `${collectionPath(resource, namespace)}/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${segment(subresource)}`;
}

/** The place of an object that is to be written. @throws UnsendableError when it has no name */
export function placeOf({ kind, metadata }: KubernetesObject): ObjectPlace {
  const { namespace, name } = metadata;
  if (name === undefined) throw new UnsendableError(`${kind}: the name is missing`);
  return { namespace, name };
}

/** A name as a path segment. Names come from repositories: "../.." must not lead to another object. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw new UnsendableError(`${JSON.stringify(name)} is no name that an API server accepts in a path`);
  }
  return encodeURIComponent(name);
}
