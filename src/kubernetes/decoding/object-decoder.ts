import { apiVersionOf } from '../../kernel/index.ts';
import type { GroupVersionKind, Json, KubernetesObject, ObjectMeta } from '../../kernel/index.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import type { ObjectForm } from '../client-options.ts';
import { isFields } from '../fields.ts';
import type { Fields } from '../fields.ts';
import type { StringPool } from './string-pool.ts';

/** Objects of which only the metadata is sent (metav1). Plain JSON is for servers that do not cut it out. */
const PARTIAL_API_VERSION = 'meta.k8s.io/v1';
const PARTIAL_KIND = 'PartialObjectMetadata';
const PLAIN = 'application/json';

/** Makes what a server sends for one kind into objects of that kind, in the form that was asked for. */
export class ObjectDecoder {
  readonly gvk: GroupVersionKind;
  readonly #apiVersion: string;
  readonly #form: ObjectForm;
  readonly #strings: StringPool | undefined;
  #hasUnnamedItems = false;

  /** @param strings where to share texts with other objects, for those that are kept */
  constructor(gvk: GroupVersionKind, form: ObjectForm = {}, strings?: StringPool) {
    this.gvk = gvk;
    this.#apiVersion = apiVersionOf(gvk);
    this.#form = form;
    this.#strings = strings;
  }

  /** Whether an {@link item} so far left to its list what it is. */
  get hasUnnamedItems(): boolean {
    return this.#hasUnnamedItems;
  }

  /** What the request accepts as answer: one object (or a watch's), or a list. */
  accept(answer: '' | 'List'): string {
    return this.#form.metadataOnly === true
      ? `${PLAIN};as=${PARTIAL_KIND}${answer};g=meta.k8s.io;v=v1,${PLAIN}`
      : PLAIN;
  }

  /** An object that says what it is: the answer to a get, or what a watch event bears. */
  object(fields: Fields, what: string): KubernetesObject {
    if (!this.isOfKind(fields) || !isNamed(fields)) throw notOfKind(this.gvk, what);
    return this.#formed(fields);
  }

  /** What a bookmark bears: nothing but the version up to which the watch has come. */
  bookmark(fields: Fields, what: string): KubernetesObject {
    const { metadata } = fields;
    if (!this.isOfKind(fields) || !isFields(metadata) || !isText(metadata['resourceVersion'])) {
      throw notOfKind(this.gvk, what);
    }
    return { apiVersion: this.#apiVersion, kind: this.gvk.kind, metadata };
  }

  /** An item of a list: it may leave to the list what it is. */
  item(value: Json, what: string): KubernetesObject {
    if (!isFields(value) || !isNamed(value)) {
      throw new UnexpectedAnswerError(`${what}: an item of the answer is no object with a name`);
    }
    const isUnnamed = value['kind'] === undefined && value['apiVersion'] === undefined;
    if (isUnnamed) this.#hasUnnamedItems = true;
    else if (!this.isOfKind(value)) throw notOfKind(this.gvk, what);
    return this.#formed(value);
  }

  /** Whether these are the kind and apiVersion that were asked for, or the metadata only, if that was. */
  isOfKind({ kind, apiVersion }: Fields, suffix: '' | 'List' = ''): boolean {
    if (kind === this.gvk.kind + suffix && apiVersion === this.#apiVersion) return true;
    return this.#form.metadataOnly === true && kind === PARTIAL_KIND + suffix && apiVersion === PARTIAL_API_VERSION;
  }

  #formed(fields: Fields & { readonly metadata: ObjectMeta & Json }): KubernetesObject {
    const { metadataOnly, transform } = this.#form;
    const named = { apiVersion: this.#apiVersion, kind: this.gvk.kind };
    const kept = metadataOnly === true ? { metadata: fields.metadata } : fields;
    this.#strings?.share(kept);
    const object = { ...named, ...kept, ...named };
    return transform ? transform(object) : object;
  }
}

/** The object of whatever kind that a subresource answers with: `scale` with a Scale, `eviction` with a Status. */
export function decodeAnyKind(fields: Fields, what: string): KubernetesObject {
  const { apiVersion, kind, metadata } = fields;
  if (typeof apiVersion === 'string' && typeof kind === 'string' && isFields(metadata)) {
    return { ...fields, apiVersion, kind, metadata };
  }
  throw new UnexpectedAnswerError(`${what}: the answer is no object`);
}

/** Whether it bears what objects are told apart by, as texts. What else it holds is for those who read it. */
function isNamed(fields: Fields): fields is Fields & { readonly metadata: ObjectMeta & Json } {
  const { metadata } = fields;
  if (!isFields(metadata) || !isText(metadata['name'])) return false;
  const { namespace = '', uid = '', resourceVersion } = metadata;
  const isVersioned = resourceVersion === undefined || isText(resourceVersion);
  return typeof namespace === 'string' && typeof uid === 'string' && isVersioned;
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function notOfKind(gvk: GroupVersionKind, what: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(`${what}: the answer is no ${gvk.kind}`);
}
