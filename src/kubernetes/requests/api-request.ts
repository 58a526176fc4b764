import type { TransportRequest } from '../transport/exchange.ts';
import type { Identity, WriteContext } from '../identity.ts';
import type { Lane } from './request-budget.ts';

/**
 * Milliseconds that are waited for the answer to a write, be it that a command in a pod has begun. Renew deadline (10 s) +
 * 4.5 s is less than a lease (15 s): a write of a replica that lost its lease has ended before another replica begins.
 */
export const WRITE_TIMEOUT = 4500;

/** One call to an API server, before credentials and identity are added. */
export interface ApiRequest {
  readonly method: TransportRequest['method'];
  readonly path: string;
  /** Parameters that are undefined or false are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for each sending; of a watch until it begins, of a streamed list until each next piece. */
  readonly timeout: number;
  readonly maxBytes: number;
  /** Mandatory for everything but GET. */
  readonly write?: WriteContext;
  /** As whom to read. */
  readonly identity?: Identity | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * What `open` opens. A list takes a place of the cluster's budget until its chunks are read to the end or their
   * iteration ends; a watch only until it has begun, for it lasts for minutes.
   */
  readonly stream?: 'watch' | 'list';
}

/** The caller's wish to give up. */
export function signalOf(request: ApiRequest): AbortSignal | undefined {
  return request.signal ?? request.write?.signal;
}

/** Path and query. */
export function targetOf({ path, query = {} }: ApiRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== false && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

const LEASES = '/apis/coordination.k8s.io/';

/** The share of the budget that a call is taken from. */
export function laneOf(request: ApiRequest): Lane {
  if (request.stream !== undefined) return request.stream;
  if (request.path.startsWith(LEASES)) return 'lease';
  return request.method === 'GET' ? 'read' : 'write';
}
