import type { Connection, JsonPatchOperation, ObjectReference, WriteContext } from '../../src/kubernetes/index.ts';
import { KubernetesClient, parseKubeconfig } from '../../src/kubernetes/index.ts';
import { noMetrics, silentLogger, systemClock } from '../../src/kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../../src/kernel/index.ts';
import { labCluster } from './lab.ts';

/** A client that notes every call for a single object, in order: "apply ConfigMap/a", "apply! …" when forced. */
export class RecordingClient extends KubernetesClient {
  readonly requests: string[] = [];

  /** What was noted since the last call of this. */
  takeRequests(): string[] {
    return this.requests.splice(0);
  }

  override get(...call: Parameters<KubernetesClient['get']>): Promise<KubernetesObject | undefined> {
    this.#note('get', call[0]);
    return super.get(...call);
  }

  override create(...call: Parameters<KubernetesClient['create']>): Promise<KubernetesObject> {
    this.#noteObject('create', call[0]);
    return super.create(...call);
  }

  override apply(...call: Parameters<KubernetesClient['apply']>): Promise<KubernetesObject> {
    const [object, , options] = call;
    const verb = options?.force === true ? 'apply!' : 'apply';
    this.#noteObject(options?.subresource === undefined ? verb : `${verb} ${options.subresource} of`, object);
    return super.apply(...call);
  }

  override update(...call: Parameters<KubernetesClient['update']>): Promise<KubernetesObject> {
    this.#noteObject('update', call[0]);
    return super.update(...call);
  }

  override jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    write: WriteContext,
    options?: { readonly subresource?: string },
  ): Promise<KubernetesObject> {
    this.#note('patch', ref);
    return super.jsonPatch(ref, operations, write, options);
  }

  override delete(...call: Parameters<KubernetesClient['delete']>): Promise<void> {
    this.#note('delete', call[0]);
    return super.delete(...call);
  }

  #noteObject(verb: string, { kind, metadata }: KubernetesObject): void {
    this.requests.push(`${verb} ${kind}/${metadata.name ?? ''}`);
  }

  #note(verb: string, { gvk, name }: { readonly gvk: GroupVersionKind; readonly name: string }): void {
    this.requests.push(`${verb} ${gvk.kind}/${name}`);
  }
}

/** A recording client of a cluster of the lab, by default with all rights; to be closed by who asked for it. */
export function recordingClient(
  cluster: string,
  connection: Connection = parseKubeconfig(labCluster(cluster).kubeconfig),
): RecordingClient {
  return new RecordingClient({
    cluster,
    connection,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: noMetrics,
  });
}
