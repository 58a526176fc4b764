import { gvkOf } from '../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { readFields } from './answer.ts';
import { NotFoundError } from './api-errors.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  DeletePreconditions,
  JsonPatchOperation,
  SubresourceOptions,
  SubresourcePatchOptions,
} from './client-options.ts';
import type { Discovery } from './discovery.ts';
import type { Fields } from './fields.ts';
import type { WriteContext } from './identity.ts';
import { ObjectDecoder, decodeAnyKind } from './decoding/object-decoder.ts';
import { formatBody } from './request-body.ts';
import { WRITE_TIMEOUT } from './requests/api-request.ts';
import type { ApiRequest } from './requests/api-request.ts';
import type { RequestSender } from './requests/request-sender.ts';
import { collectionPath, objectPath, placeOf } from './resource-path.ts';
import { describeObject, describeReference } from './resource.ts';
import type { ObjectReference, Resource } from './resource.ts';

/** What the server may take for a write: less than is waited for its answer. */
const SERVER_WRITE_TIMEOUT = '4s';

/** A write as the methods put it together. */
interface Write {
  readonly what: string;
  /** The kind that the path is of. */
  readonly gvk: GroupVersionKind;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly contentType?: string;
  readonly path: (resource: Resource) => string;
  readonly query?: ApiRequest['query'];
  readonly body: unknown;
  readonly write: WriteContext;
}

/** Options of {@link ObjectWrites}. */
export interface ObjectWritesOptions {
  readonly sender: RequestSender;
  readonly discovery: Discovery;
  readonly maxObjectBytes: number;
}

/** What `KubernetesClient` writes objects with; it says what the methods do. */
export class ObjectWrites {
  readonly #options: ObjectWritesOptions;

  constructor(options: ObjectWritesOptions) {
    this.#options = options;
  }

  async create(object: KubernetesObject, write: WriteContext, options: CreateOptions): Promise<KubernetesObject> {
    const what = `create ${describeObject(object)}`;
    const answer = await this.#send({
      what,
      gvk: gvkOf(object),
      method: 'POST',
      path: (resource) => collectionPath(resource, object.metadata.namespace),
      query: { fieldValidation: 'Strict', dryRun: options.dryRun === true && 'All' },
      body: object,
      write,
    });
    return sameKind(object, answer, what);
  }

  async apply(object: KubernetesObject, write: WriteContext, options: ApplyOptions): Promise<KubernetesObject> {
    const what = `apply ${describeObject(object)}`;
    const answer = await this.#send({
      what,
      ...target(object, options),
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      query: { fieldValidation: 'Strict', dryRun: options.dryRun === true && 'All', force: options.force },
      body: object,
      write,
    });
    return sameKind(object, answer, what);
  }

  async update(object: KubernetesObject, write: WriteContext, options: SubresourceOptions): Promise<KubernetesObject> {
    const what = `update ${describeObject(object)}`;
    const answer = await this.#send({ what, ...target(object, options), method: 'PUT', body: object, write });
    return sameKind(object, answer, what);
  }

  async jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    write: WriteContext,
    { subresource }: SubresourcePatchOptions,
  ): Promise<KubernetesObject> {
    const what = `patch ${describeReference(ref)}`;
    const answer = await this.#send({
      what,
      gvk: ref.gvk,
      method: 'PATCH',
      contentType: 'application/json-patch+json',
      path: (resource) => objectPath(resource, ref, subresource),
      body: operations,
      write,
    });
    return subresource === undefined ? new ObjectDecoder(ref.gvk).object(answer, what) : decodeAnyKind(answer, what);
  }

  async delete(
    ref: ObjectReference,
    preconditions: DeletePreconditions,
    write: WriteContext,
    options: DeleteOptions,
  ): Promise<void> {
    try {
      await this.#send({
        what: `delete ${describeReference(ref)}`,
        gvk: ref.gvk,
        method: 'DELETE',
        path: (resource) => objectPath(resource, ref),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, ...options },
        write,
      });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }

  async createSubresource(
    ref: ObjectReference,
    subresource: string,
    body: Record<string, unknown>,
    write: WriteContext,
  ): Promise<KubernetesObject> {
    const what = `create ${subresource} of ${describeReference(ref)}`;
    const path = (resource: Resource): string => objectPath(resource, ref, subresource);
    return decodeAnyKind(await this.#send({ what, gvk: ref.gvk, method: 'POST', path, body, write }), what);
  }

  async #send({ what, gvk, method, path, write, ...rest }: Write): Promise<Fields> {
    const body = formatBody(rest.body);
    const { fieldManager } = write;
    const query = { ...(method !== 'DELETE' && { fieldManager }), timeout: SERVER_WRITE_TIMEOUT, ...rest.query };
    const headers = { 'content-type': rest.contentType ?? 'application/json' };
    const limits = { timeout: WRITE_TIMEOUT, maxBytes: this.#options.maxObjectBytes };
    return this.#options.discovery.withResource(gvk, write.signal, async (resource) => {
      const request = { method, path: path(resource), query, headers, body, ...limits, write };
      return readFields(await this.#options.sender.send(request), { what, gvk });
    });
  }
}

/** Where an object is written to: its own place, or a subresource of it or of the object that the options name. */
function target(object: KubernetesObject, { subresource, of }: SubresourceOptions): Pick<Write, 'gvk' | 'path'> {
  return {
    gvk: of?.gvk ?? gvkOf(object),
    path: (resource) => objectPath(resource, of ?? placeOf(object), subresource),
  };
}

function sameKind(object: KubernetesObject, answer: Fields, what: string): KubernetesObject {
  return new ObjectDecoder(gvkOf(object)).object(answer, what);
}
