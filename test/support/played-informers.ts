import type { EventHandler, HandlerRegistration, IndexValues, Lister, Scope } from '../../src/informers/index.ts';
import type { SharedInformer } from '../../src/informers/index.ts';
import { formatGvk, objectKey } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';

interface Registered {
  readonly handler: EventHandler;
  readonly synced: PromiseWithResolvers<void>;
  hasSynced: boolean;
}

/** An informer whose server is the test: it says what is there, what changes and when the initial list ends. */
export class PlayedInformer implements SharedInformer {
  readonly gvk: GroupVersionKind;
  readonly scope: Scope;
  readonly lister: Lister;
  /** How many of those who asked for it still need it. */
  references = 0;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #indices = new Map<string, IndexValues>();
  readonly #handlers = new Set<Registered>();
  #version: string | undefined;
  #hasSynced = false;

  constructor(gvk: GroupVersionKind, scope: Scope) {
    this.gvk = gvk;
    this.scope = scope;
    this.lister = {
      get: (key) => this.#objects.get(key),
      list: () => [...this.#objects.values()],
      byIndex: (index, value) =>
        [...this.#objects.values()].filter((object) => this.#indices.get(index)?.(object).includes(value)),
    };
  }

  /** How many handlers listen. */
  get handlers(): number {
    return this.#handlers.size;
  }

  addIndex(name: string, values: IndexValues): void {
    this.#indices.set(name, values);
  }

  addHandler(handler: EventHandler): HandlerRegistration {
    const registered: Registered = { handler, synced: Promise.withResolvers(), hasSynced: false };
    this.#handlers.add(registered);
    for (const object of this.#objects.values()) handler.onAdd?.(object, true);
    if (this.#hasSynced) this.#sync(registered);
    return {
      hasSynced: () => registered.hasSynced,
      synced: registered.synced.promise,
      remove: () => void this.#handlers.delete(registered),
    };
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  lastError(): Error | undefined {
    return undefined;
  }

  resourceVersion(): string | undefined {
    return this.#version;
  }

  release(): void {
    this.references -= 1;
  }

  /** The object is there, in this state. Before {@link sync} it belongs to the initial list. */
  set(object: KubernetesObject): void {
    const previous = this.#objects.get(objectKey(object));
    this.#objects.set(objectKey(object), object);
    this.passed(object.metadata.resourceVersion);
    this.play((handler) =>
      previous === undefined ? handler.onAdd?.(object, !this.#hasSynced) : handler.onUpdate?.(previous, object),
    );
  }

  /** The object is gone; `last` is the state that is told of it. */
  delete(last: KubernetesObject): void {
    this.#objects.delete(objectKey(last));
    this.passed(last.metadata.resourceVersion);
    this.play((handler) => handler.onDelete?.(last, false));
  }

  /** The informer has come to a version without an event, as by a bookmark. */
  passed(resourceVersion: string | undefined): void {
    const isOlder = Number(resourceVersion ?? 0) < Number(this.#version ?? 0);
    if (resourceVersion !== undefined && !isOlder) this.#version = resourceVersion;
  }

  /** The initial list ends. */
  sync(): void {
    this.#hasSynced = true;
    this.#version ??= '1';
    for (const registered of this.#handlers) this.#sync(registered);
  }

  /** Tells every handler something, whatever the informer has. */
  play(event: (handler: EventHandler) => unknown): void {
    for (const { handler } of this.#handlers) event(handler);
  }

  #sync(registered: Registered): void {
    registered.hasSynced = true;
    registered.synced.resolve();
  }
}

/** A factory of such informers, one per kind and scope. */
export class PlayedInformers {
  readonly #informers = new Map<string, PlayedInformer>();
  readonly #isSynced: boolean;

  /** @param isSynced every informer has synced, with nothing in it, when it is asked for first */
  constructor(isSynced = false) {
    this.#isSynced = isSynced;
  }

  informer(gvk: GroupVersionKind, scope: Scope = {}): PlayedInformer {
    const name = `${formatGvk(gvk)} ${JSON.stringify(scope)}`;
    const informer = this.#informers.get(name) ?? new PlayedInformer(gvk, scope);
    if (this.#isSynced && !this.#informers.has(name)) informer.sync();
    this.#informers.set(name, informer);
    informer.references += 1;
    return informer;
  }

  /** Those that were asked for, in order. */
  all(): readonly PlayedInformer[] {
    return [...this.#informers.values()];
  }
}
