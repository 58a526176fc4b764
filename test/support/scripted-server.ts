import type { KubernetesObject } from '../../src/kernel/index.ts';
import type { ListOptions, ListPage, WatchEvent, WatchOptions } from '../../src/kubernetes/index.ts';

/** What the server does when it is called: a page, or the events of a watch and how it ends; an error is thrown. */
export type Answer = ListPage | Error | { readonly events: readonly WatchEvent[]; readonly end?: Error | 'closed' };

/**
 * A reflector’s source: a server that answers by a script, and notes what it was asked. After the script, watches stay open
 * and silent. Probes for the newest version are answered beside the script, and only counted.
 */
export class ScriptedServer {
  readonly asked: string[] = [];
  readonly watches: WatchOptions[] = [];
  /** The version that the storage is at; an error is thrown. */
  newest: string | Error = '9007199254740993';
  probes = 0;
  readonly #script: Answer[];

  constructor(script: readonly Answer[]) {
    this.#script = [...script];
  }

  async newestVersion(): Promise<string> {
    this.probes += 1;
    if (this.newest instanceof Error) throw this.newest;
    return this.newest;
  }

  async list({ resourceVersion, limit, continue: token }: ListOptions): Promise<ListPage> {
    this.asked.push(`list ${token ?? JSON.stringify(resourceVersion)}${limit === undefined ? '' : ` limit ${limit}`}`);
    const answer = this.#script.shift();
    if (answer instanceof Error) throw answer;
    if (answer === undefined || !('items' in answer)) throw new Error('the script does not expect a list here');
    return answer;
  }

  async *watch(options: WatchOptions): AsyncGenerator<WatchEvent, void> {
    const isStreamedList = options.sendInitialEvents === true;
    this.asked.push(`${isStreamedList ? 'stream' : 'watch'} ${JSON.stringify(options.resourceVersion)}`);
    this.watches.push(options);
    const answer = this.#script.shift() ?? { events: [] };
    if (answer instanceof Error) throw answer;
    if ('items' in answer) throw new Error('the script does not expect a watch here');
    yield* answer.events;
    if (answer.end instanceof Error) throw answer.end;
    if (answer.end === undefined) await aborted(options.signal);
  }
}

/** A reflector’s target that notes in words what it is told. */
export class NotingTarget {
  readonly told: string[] = [];
  readonly failures: Error[] = [];
  readonly bookmarks: string[] = [];
  signsOfLife = 0;

  async replace({ objects }: { objects: ReadonlyMap<string, KubernetesObject> }, isRewound: boolean): Promise<void> {
    const names = [...objects.values()].map(({ metadata }) => metadata.name);
    this.told.push(`${isRewound ? 'all, rewound' : 'all'}: ${names.join(' ')}`);
  }

  change({ type, object }: WatchEvent): void {
    this.told.push(`${type} ${object.metadata.name}`);
  }

  bookmark(resourceVersion: string): void {
    this.bookmarks.push(resourceVersion);
  }

  heard(): void {
    this.signsOfLife += 1;
  }

  failed(error: Error): void {
    this.failures.push(error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve());
  if (signal.aborted) resolve();
  return promise;
}

const object = (name: string, resourceVersion: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, resourceVersion },
});
export const event = (type: WatchEvent['type'], name: string, resourceVersion: string): WatchEvent => ({
  type,
  object: object(name, resourceVersion),
});
export const endMark = (resourceVersion: string, value = 'true'): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': value } },
  },
});
export const page = (resourceVersion: string, names: readonly string[], token?: string): ListPage => ({
  items: names.map((name) => object(name, '1')),
  resourceVersion,
  ...(token !== undefined && { continue: token }),
});
export const synced = (resourceVersion: string): Answer => ({ events: [endMark(resourceVersion)] });
