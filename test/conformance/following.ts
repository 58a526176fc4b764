import { vi } from 'vitest';
import { SharedInformerFactory } from '../../src/informers/index.ts';
import type { EventHandler, SharedInformer, SharedInformerFactoryOptions } from '../../src/informers/index.ts';
import { noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject, Metrics } from '../../src/kernel/index.ts';
import type { ListPage, WatchEvent, WriteContext } from '../../src/kubernetes/index.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import type { Answer } from '../support/scripted-server.ts';
import { SourceClient } from '../support/source-client.ts';
import type { Source } from '../support/source-client.ts';

export const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

/** What tests write as. */
export const asWriter: WriteContext = { identity: { kind: 'self' }, fieldManager: 'test', guard: () => undefined };

/** An informer of a source, and in words what its first handler is told. */
export interface Following {
  readonly factory: SharedInformerFactory;
  readonly informer: SharedInformer;
  readonly told: string[];
  /** Names of the errors of failed lists and watches, as they are counted. */
  readonly failures: string[];
  readonly log: RecordingLogger;
}

/** An informer that is not started yet; no jitter unless `random` says otherwise. */
export function prepare(source: Source, options: Partial<SharedInformerFactoryOptions> = {}): Following {
  const failures: string[] = [];
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      inc: ({ error = '' }) => void (name === 'informer_failures_total' && failures.push(error)),
    }),
  };
  const log = new RecordingLogger();
  const client = new SourceClient(source);
  const factory = new SharedInformerFactory({
    client,
    clock: systemClock,
    random: () => 0,
    logger: log,
    metrics,
    ...options,
  });
  const informer = factory.informer(CONFIG_MAP);
  const told: string[] = [];
  informer.addHandler(noting(told));
  return { factory, informer, told, failures, log };
}

/** An informer that has followed a script for some (fake) milliseconds. */
export async function follow(
  script: readonly Answer[],
  milliseconds = 0,
  options: Partial<SharedInformerFactoryOptions> = {},
): Promise<Following & { readonly server: ScriptedServer }> {
  const server = new ScriptedServer(script);
  const following = prepare(server, options);
  following.factory.start();
  await vi.advanceTimersByTimeAsync(milliseconds);
  return { ...following, server };
}

/** A handler that notes in words what it is told: "initial a@1", "add a@1", "update a@1 a@2", "delete a@2". */
export function noting(told: string[]): EventHandler {
  return {
    onAdd: (object, isInInitialList) => void told.push(`${isInInitialList ? 'initial' : 'add'} ${versioned(object)}`),
    onUpdate: (previous, current) => void told.push(`update ${versioned(previous)} ${versioned(current)}`),
    onDelete: (last) => void told.push(`delete ${versioned(last)}`),
  };
}

function versioned({ metadata }: KubernetesObject): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}

/** A ConfigMap; its UID is its name unless told otherwise. */
export function item(name: string, resourceVersion: string, metadata = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: name, resourceVersion, ...metadata } };
}

export const added = (object: KubernetesObject): WatchEvent => ({ type: 'ADDED', object });
export const modified = (object: KubernetesObject): WatchEvent => ({ type: 'MODIFIED', object });
export const deleted = (object: KubernetesObject): WatchEvent => ({ type: 'DELETED', object });

export function bookmark(resourceVersion: string): WatchEvent {
  return { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion } } };
}

/** A page of a list. */
export function pageOf(resourceVersion: string, items: KubernetesObject[], token?: string): ListPage {
  return { items, resourceVersion, ...(token !== undefined && { continue: token }) };
}

/** The keys in an informer's memory, sorted. */
export function namesIn({ lister }: SharedInformer): string[] {
  return lister
    .list()
    .map(({ metadata }) => metadata.name ?? '')
    .toSorted();
}

/** What handlers threw: an informer contains it, so that an expectation in a handler fails nothing by itself. */
export function failuresOfHandlers({ lines }: RecordingLogger): readonly unknown[] {
  return lines.filter(({ message }) => message === 'event handler failed').map(({ fields }) => fields['error']);
}
