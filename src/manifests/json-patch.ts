import { isDeepStrictEqual } from 'node:util';

import type { Json } from '../kernel/index.ts';
import { JsonPatchError } from './json-patch-error.ts';
import { formatPointer, insertionIndex, memberOf, parsePointer, valueAt } from './json-pointer.ts';

/** One operation of RFC 6902. `value` belongs to add, replace and test, `from` to move and copy. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: unknown;
}

/** What an operation does to the list or object that holds its target. `at` is that one's pointer. */
type Change = (container: Json, name: string, at: string) => Json;

/**
 * The document after one operation. The document itself stays as it is; what did not change is shared with it.
 *
 * @throws JsonPatchError
 */
export function applyOperation(document: Json, operation: JsonPatchOperation): Json {
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case 'add':
      return add(document, path, valueOf(operation));
    case 'remove':
      return remove(document, path);
    case 'replace':
      return replace(document, path, valueOf(operation));
    case 'move':
      return move(document, sourceOf(operation), path);
    case 'copy':
      return add(document, path, valueAt(document, sourceOf(operation)));
    case 'test':
      test(document, path, valueOf(operation));
      return document;
  }
}

function valueOf({ value }: JsonPatchOperation): Json {
  if (value === undefined) throw new JsonPatchError('the operation has no value');
  return value as Json;
}

function sourceOf({ from }: JsonPatchOperation): readonly string[] {
  if (from === undefined) throw new JsonPatchError('the operation has no "from"');
  return parsePointer(from);
}

function add(document: Json, path: readonly string[], value: Json): Json {
  return change(document, path, {
    whole: () => value,
    within: (container, name, at) => withAdded({ container, name, at }, value),
  });
}

function replace(document: Json, path: readonly string[], value: Json): Json {
  const within: Change = (container, name, at) => {
    memberOf(container, name, at);
    return withMember(container, name, value);
  };
  return change(document, path, { whole: () => value, within });
}

function remove(document: Json, path: readonly string[]): Json {
  const whole = (): never => {
    throw new JsonPatchError('the whole document cannot be removed');
  };
  const within: Change = (container, name, at) => {
    memberOf(container, name, at);
    if (Array.isArray(container)) return container.toSpliced(Number(name), 1);
    return Object.fromEntries(Object.entries(container as object).filter(([field]) => field !== name));
  };
  return change(document, path, { whole, within });
}

/** Integers compare well: they are bigint exactly when they are beyond 2^53. */
function test(document: Json, path: readonly string[], value: Json): void {
  if (!isDeepStrictEqual(valueAt(document, path), value)) throw new JsonPatchError('the value there is another');
}

function move(document: Json, from: readonly string[], path: readonly string[]): Json {
  const value = valueAt(document, from);
  const leadsInto = from.length <= path.length && from.every((name, depth) => path[depth] === name);
  if (leadsInto && from.length === path.length) return document;
  if (leadsInto) throw new JsonPatchError(`${formatPointer(from)} cannot be moved into itself`);
  return add(remove(document, from), path, value);
}

/** Copies the containers along the path and changes the last of them. */
function change(document: Json, path: readonly string[], how: { whole: () => Json; within: Change }): Json {
  const step = (container: Json, depth: number): Json => {
    const name = path[depth];
    if (name === undefined) return how.whole();
    const at = formatPointer(path.slice(0, depth));
    if (depth === path.length - 1) return how.within(container, name, at);
    return withMember(container, name, step(memberOf(container, name, at), depth + 1));
  };
  return step(document, 0);
}

function withAdded({ container, name, at }: { container: Json; name: string; at: string }, value: Json): Json {
  if (Array.isArray(container)) return container.toSpliced(insertionIndex(container, name, at), 0, value);
  if (typeof container !== 'object' || container === null) {
    throw new JsonPatchError(`nothing can be added to the value at ${at === '' ? 'the root' : at}`);
  }
  return withMember(container, name, value);
}

function withMember(container: Json, name: string, value: Json): Json {
  if (Array.isArray(container)) return container.with(Number(name), value);
  // Assigning would call the setter of a name like __proto__.
  const copy = { ...(container as Record<string, Json>) };
  Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true });
  return copy;
}
