import type { KubernetesObject, ManagedFieldsEntry } from '../kernel/index.ts';

/** Distinct texts that are shared at most; beyond, sharing begins anew. */
const SHARED = 20_000;

/** The fields of any number of equal entries: kept as text, and made a tree of when somebody looks. */
class SharedFields {
  readonly text: string;
  #tree: WeakRef<Record<string, unknown>> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  tree(): Record<string, unknown> {
    const known = this.#tree?.deref();
    if (known !== undefined) return known;
    const tree = JSON.parse(this.text) as Record<string, unknown>;
    this.#tree = new WeakRef(tree);
    return tree;
  }
}

/** An entry of `managedFields` whose fields are shared with all entries that have the same. */
class ReducedEntry implements ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly shared: SharedFields;

  constructor({ fieldsV1: _tree, ...entry }: ManagedFieldsEntry, shared: SharedFields) {
    Object.assign(this, entry);
    this.shared = shared;
  }

  get fieldsV1(): Record<string, unknown> {
    return this.shared.tree();
  }

  /** What is sent or printed is the entry as an API server wrote it. */
  toJSON(): ManagedFieldsEntry {
    const { shared, ...entry } = this;
    return { ...(entry as ManagedFieldsEntry), fieldsV1: shared.tree() };
  }
}

/** The fields of an entry as text. An API server writes them in order, so that equal fields are equal texts. */
export function fieldsText(entry: ManagedFieldsEntry): string {
  return entry instanceof ReducedEntry ? entry.shared.text : JSON.stringify(entry.fieldsV1 ?? {});
}

/**
 * An informer's transform that keeps `managedFields` in a form that takes a fraction of the memory and loses nothing.
 * Objects that were made from one template have the same fields: they share one text.
 */
export function managedFieldsReducer(): (object: KubernetesObject) => KubernetesObject {
  const texts = new Map<string, SharedFields>();
  const share = (text: string): SharedFields => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size >= SHARED) texts.clear();
    const fields = new SharedFields(text);
    texts.set(text, fields);
    return fields;
  };
  return (object) => {
    const { managedFields } = object.metadata;
    if (managedFields === undefined) return object;
    const reduced = managedFields.map((entry) =>
      entry instanceof ReducedEntry ? entry : new ReducedEntry(entry, share(JSON.stringify(entry.fieldsV1 ?? {}))),
    );
    return { ...object, metadata: { ...object.metadata, managedFields: reduced } };
  };
}
