import type { GroupVersionKind } from '../kernel/index.ts';
import { InformerStoppedError } from './informer-errors.ts';
import type { Informer } from './informer.ts';
import type {
  EventHandler,
  HandlerOptions,
  HandlerRegistration,
  IndexValues,
  Lister,
  SharedInformer,
} from './shared-informer.ts';

/** One user's reference to an informer that others may use as well. */
export class InformerHandle implements SharedInformer {
  readonly gvk: GroupVersionKind;
  readonly lister: Lister;
  readonly #informer: Informer;
  #onRelease: (() => void) | undefined;

  constructor(informer: Informer, onRelease: () => void) {
    this.gvk = informer.gvk;
    this.lister = informer.lister;
    this.#informer = informer;
    this.#onRelease = onRelease;
  }

  addIndex(name: string, values: IndexValues): void {
    this.#informer.addIndex(name, values);
  }

  addHandler(handler: EventHandler, options?: HandlerOptions): HandlerRegistration {
    if (!this.#onRelease) throw new InformerStoppedError('this informer was released: nobody would be told');
    return this.#informer.addHandler(handler, options, this);
  }

  hasSynced(): boolean {
    return this.#informer.hasSynced();
  }

  lastError(): Error | undefined {
    return this.#informer.lastError();
  }

  resourceVersion(): string | undefined {
    return this.#informer.resourceVersion();
  }

  release(): void {
    this.#informer.removeHandlers(this);
    this.#onRelease?.();
    this.#onRelease = undefined;
  }
}
