import { canonicalJson } from './canonical-json.ts';

/** One step into an object, as structured-merge-diff counts them: a field, a list item by its keys, a set item, an index. */
export type PathElement =
  | { readonly field: string }
  | { readonly key: Readonly<Record<string, unknown>> }
  | { readonly value: unknown }
  | { readonly index: number };

/** From the root of an object to one of its fields. */
export type FieldPath = readonly PathElement[];

/** A map of fields; no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In the notation of API servers' messages: `.spec.containers[name="app"].image`, `.metadata.finalizers[="a"]`. */
export function formatPath(path: FieldPath): string {
  return path.map((element) => formatElement(element)).join('');
}

function formatElement(element: PathElement): string {
  if ('field' in element) return `.${element.field}`;
  if ('index' in element) return `[${element.index}]`;
  if ('value' in element) return `[=${canonicalJson(element.value)}]`;
  const keys = Object.entries(element.key).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `[${keys.map(([name, value]) => `${name}=${canonicalJson(value)}`).join(',')}]`;
}

/**
 * Finds what a text names in an object. Names of labels and annotations hold dots, so that a text alone is ambiguous:
 * it is read against the fields that are there. The dot at the beginning may be missing.
 * @returns undefined when the object has no such field
 */
export function resolvePath(root: unknown, text: string): FieldPath | undefined {
  return resolve(root, text.startsWith('.') || text.startsWith('[') ? text : `.${text}`);
}

function resolve(value: unknown, rest: string): FieldPath | undefined {
  if (rest === '') return [];
  for (const [element, length] of stepsInto(value, rest)) {
    const tail = resolve(child(value, element), rest.slice(length));
    if (tail !== undefined) return [element, ...tail];
  }
  return undefined;
}

/** The steps that the beginning of a text can mean in a value, with how much of the text each takes. */
function stepsInto(value: unknown, rest: string): (readonly [PathElement, number])[] {
  if (Array.isArray(value)) {
    const selector = readSelector(rest);
    if (selector === undefined || child(value, selector.element) === undefined) return [];
    return [[selector.element, selector.length]];
  }
  if (!isRecord(value)) return [];
  return Object.keys(value)
    .filter((name) => rest.startsWith(`.${name}`) && /^(?:$|[.[])/.test(rest.slice(name.length + 1)))
    .map((field): [PathElement, number] => [{ field }, field.length + 1]);
}

const TERM = /(?:"(?:[^"\\]|\\.)*"|[^",\]])*/.source;
const SELECTOR = new RegExp(`^\\[(?:(\\d+)|=(${TERM})|([^=\\]]+=${TERM}(?:,[^=\\]]+=${TERM})*))\\]`);
const KEY = new RegExp(`([^=,]+)=(${TERM})`, 'g');

/** `[0]`, `[="a"]`, `[name="app"]`, `[containerPort=80,protocol="TCP"]`; undefined for anything else. */
function readSelector(text: string): { readonly element: PathElement; readonly length: number } | undefined {
  const [whole, index, value, keys] = SELECTOR.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const { length } = whole;
  if (index !== undefined) return { element: { index: Number(index) }, length };
  if (value !== undefined) return { element: { value: readTerm(value) }, length };
  const pairs = [...(keys ?? '').matchAll(KEY)].map(([, name = '', term = '']) => [name, readTerm(term)]);
  return { element: { key: Object.fromEntries(pairs) as Record<string, unknown> }, length };
}

/** A JSON scalar; a text without quotation marks is taken as it stands. */
function readTerm(term: string): unknown {
  if (!/^(?:".*"|-?\d+(?:\.\d+)?|true|false)$/.test(term)) return term;
  return JSON.parse(term) as unknown;
}

/** The value at a path; undefined when there is none. */
export function valueAt(root: unknown, path: FieldPath): unknown {
  return path.reduce((value, element) => child(value, element), root);
}

function child(value: unknown, element: PathElement): unknown {
  if ('field' in element) return isRecord(value) ? value[element.field] : undefined;
  if (!Array.isArray(value)) return undefined;
  const index = indexOf(value, element);
  return index < 0 ? undefined : (value[index] as unknown);
}

function indexOf(list: readonly unknown[], element: PathElement): number {
  if ('index' in element) return element.index < list.length ? element.index : -1;
  if ('value' in element) {
    const text = canonicalJson(element.value);
    return list.findIndex((item) => canonicalJson(item) === text);
  }
  if ('field' in element) return -1;
  const exact = list.findIndex((item) => hasKey(item, element.key, 'all'));
  return exact < 0 ? list.findIndex((item) => hasKey(item, element.key, 'given')) : exact;
}

/** Whether a list item is the one of a key. `given`: keys that the item leaves out, which are defaulted, do not count. */
export function hasKey(item: unknown, key: Readonly<Record<string, unknown>>, which: 'all' | 'given'): boolean {
  if (!isRecord(item)) return false;
  const keys = Object.entries(key);
  const given = keys.filter(([name]) => item[name] !== undefined);
  if (given.length === 0 || (which === 'all' && given.length < keys.length)) return false;
  return given.every(([name, value]) => canonicalJson(item[name]) === canonicalJson(value));
}

/** Whether a path is another one or leads on from it. A key of the shorter one may leave out defaulted parts. */
export function isUnder(path: FieldPath, ancestor: FieldPath): boolean {
  return (
    path.length >= ancestor.length &&
    ancestor.every((element, position) => isSameStep(path[position] as PathElement, element))
  );
}

function isSameStep(element: PathElement, step: PathElement): boolean {
  if ('key' in step && 'key' in element) return hasKey(step.key, element.key, 'given');
  return formatElement(element) === formatElement(step);
}

/**
 * The same value without what is at a path. Parents that become empty by it go as well: an empty map that is sent means
 * something else than none.
 */
export function withoutPath<T>(root: T, path: FieldPath): T {
  return (remove(root, path) ?? {}) as T;
}

function remove(value: unknown, [element, ...rest]: FieldPath): unknown {
  if (element === undefined) return undefined;
  const inner = child(value, element);
  if (inner === undefined) return value;
  return replaceChild(value, element, remove(inner, rest));
}

/** The same value with another one at a path; the way there must exist. */
export function withValue<T>(root: T, path: FieldPath, value: unknown): T {
  const [element, ...rest] = path;
  if (element === undefined) return value as T;
  return replaceChild(root, element, withValue(child(root, element), rest, value)) as T;
}

/** @param inner undefined takes the child away. @returns undefined when nothing is left */
function replaceChild(value: unknown, element: PathElement, inner: unknown): unknown {
  if ('field' in element) {
    const { [element.field]: _replaced, ...others } = value as Record<string, unknown>;
    if (inner !== undefined) return { ...(value as object), [element.field]: inner };
    return Object.keys(others).length === 0 ? undefined : others;
  }
  const list = value as readonly unknown[];
  const index = indexOf(list, element);
  const items = list.flatMap((item, position) => (position === index ? (inner === undefined ? [] : [inner]) : [item]));
  return items.length === 0 ? undefined : items;
}
