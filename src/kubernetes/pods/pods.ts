import type { Duplex } from 'node:stream';
import type { Clock } from '../../kernel/index.ts';
import { failureOf } from '../answer.ts';
import { UnexpectedAnswerError } from '../api-errors.ts';
import { ChannelSocket, ENDING_PROTOCOL, FORMER_PROTOCOL } from './channel-socket.ts';
import type { WriteContext } from '../identity.ts';
import { execInPod } from './pod-exec.ts';
import type { ExecRequest, ExecResult, OpenSocket } from './pod-exec.ts';
import { forwardPort } from './pod-port-forward.ts';
import { WRITE_TIMEOUT } from '../requests/api-request.ts';
import type { RequestSender } from '../requests/request-sender.ts';
import { objectPath } from '../resource-path.ts';
import { describeReference } from '../resource.ts';
import type { Resource } from '../resource.ts';

/** Names a pod. */
export interface PodReference {
  readonly namespace: string;
  readonly name: string;
}

const POD = { group: '', version: 'v1', kind: 'Pod' };
const PODS: Resource = { ...POD, plural: 'pods', namespaced: true, verbs: [], subresources: [] };

const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * What runs in pods, reached over the API server only: commands and ports. Both need the right to `create` the pod's
 * subresource (`pods/exec`, `pods/portforward`), and to `get` it on API servers before 1.35.
 *
 * The guard of a write is called right before the handshake, which has the time that any write has, and not while the
 * command runs: what has begun goes on in the container whatever becomes of the connection, as with `kubectl exec`.
 */
export class Pods {
  readonly #sender: RequestSender;
  readonly #clock: Clock;

  constructor(sender: RequestSender, clock: Clock) {
    this.#sender = sender;
    this.#clock = clock;
  }

  /**
   * Runs a command in a container to its end. A command that fails is a result; that it could not be run is an error.
   *
   * @throws NotFoundError without the pod, BadRequestError for a container that it does not have, ForbiddenError;
   * UnreachableError when it takes longer than it may, or the connection breaks: the command may go on then
   */
  async exec(pod: PodReference, request: ExecRequest, write: WriteContext): Promise<ExecResult> {
    const what = `exec in ${describeReference({ gvk: POD, ...pod })}`;
    const open = this.#opener(what, objectPath(PODS, pod, 'exec'), {
      write,
      protocols: [ENDING_PROTOCOL, FORMER_PROTOCOL],
    });
    return execInPod(request, { what, clock: this.#clock, open, write });
  }

  /**
   * Opens a connection to a port of a pod. Each call has its own. The stream's error says what the node reported: nobody
   * listens, for one, which is known only after the stream is there.
   *
   * Ending the stream ends the connection in both directions, once everything written has left: the protocol has no half.
   * Who wants the other side's last words reads them before.
   *
   * @throws NotFoundError without the pod, ForbiddenError; UnreachableError
   */
  async forwardPort(pod: PodReference, port: number, write: WriteContext): Promise<Duplex> {
    const what = `forward port ${port} of ${describeReference({ gvk: POD, ...pod })}`;
    const open = this.#opener(what, objectPath(PODS, pod, 'portforward'), { write, protocols: [FORMER_PROTOCOL] });
    return forwardPort(port, { what, clock: this.#clock, open, write, timeout: WRITE_TIMEOUT });
  }

  #opener(
    what: string,
    path: string,
    { write, protocols }: { readonly write: WriteContext; readonly protocols: readonly string[] },
  ): OpenSocket {
    return async (query, channels, signal) => {
      const answer = await this.#sender.upgrade({
        method: 'GET',
        path: `${path}?${query.toString()}`,
        // A node may have nothing to offer in JSON; refusals of the API server come as a Status all the same.
        headers: { accept: '*/*' },
        timeout: WRITE_TIMEOUT,
        maxBytes: MAX_REFUSAL_BYTES,
        protocols,
        write,
        signal,
      });
      if ('socket' in answer) return new ChannelSocket(answer.socket, { what, clock: this.#clock, channels });
      if (answer.status >= 400) throw failureOf(answer, { what });
      throw new UnexpectedAnswerError(`${what}: answered ${answer.status} instead of a WebSocket`);
    };
  }
}
