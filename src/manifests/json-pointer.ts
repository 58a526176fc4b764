import type { Json } from '../kernel/index.ts';
import { JsonPatchError } from './json-patch-error.ts';

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** The unescaped names along a pointer (RFC 6901); none for the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  if (!POINTER.test(pointer)) throw new JsonPatchError(`${JSON.stringify(pointer)} is not a JSON pointer`);
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of names along a path. */
export function formatPointer(names: readonly string[]): string {
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value at a pointer. @throws JsonPatchError when there is none */
export function valueAt(document: Json, names: readonly string[]): Json {
  let value = document;
  for (const [depth, name] of names.entries()) {
    value = memberOf(value, name, formatPointer(names.slice(0, depth)));
  }
  return value;
}

/** A member of a list or an object; own fields only. @param at - the pointer of the container, for messages */
export function memberOf(container: Json, name: string, at: string): Json {
  if (Array.isArray(container)) {
    const item = INDEX.test(name) ? container[Number(name)] : undefined;
    if (item === undefined) throw new JsonPatchError(`the list at ${shown(at)} has no item ${JSON.stringify(name)}`);
    return item;
  }
  if (typeof container !== 'object' || container === null) {
    throw new JsonPatchError(`the value at ${shown(at)} is neither a list nor an object`);
  }
  const field = Object.hasOwn(container, name) ? container[name] : undefined;
  if (field === undefined) throw new JsonPatchError(`the object at ${shown(at)} has no field ${JSON.stringify(name)}`);
  return field;
}

/** Where an item may be put into a list: before an item that is there, or at the end. */
export function insertionIndex(list: readonly Json[], name: string, at: string): number {
  const index = name === '-' ? list.length : INDEX.test(name) ? Number(name) : Number.NaN;
  if (index <= list.length) return index;
  throw new JsonPatchError(
    `the list at ${shown(at)} has ${list.length} items, so none can be put at ${JSON.stringify(name)}`,
  );
}

function shown(pointer: string): string {
  return pointer === '' ? 'the root' : pointer;
}
