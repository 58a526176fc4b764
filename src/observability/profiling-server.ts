import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import type { Cancel, Clock, Logger } from '../kernel/index.ts';

/** What {@link ProfilingServer} needs. */
export interface ProfilingServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A heap snapshot holds every Secret that the process knows, so nobody but the machine itself is served. */
const HOST = '127.0.0.1';
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;
/** A histogram since the start would say nothing about now. */
const WINDOW = 60_000;
const NANOSECONDS = 1e6;

type Serve = (query: URLSearchParams, response: ServerResponse) => void | Promise<void>;

/**
 * A look inside a running replica, with what Node brings, for `kubectl port-forward` and curl:
 *
 * | path | answers |
 * | --- | --- |
 * | `/debug/pprof/profile?seconds=30` | a CPU profile (`.cpuprofile`, for Chrome's or VS Code's viewer) |
 * | `/debug/pprof/heap` | a heap snapshot (`.heapsnapshot`); the process stands still while it is taken |
 * | `/debug/eventloop` | delay of the event loop over the last minute or two, milliseconds |
 * | `/debug/handles` | what keeps the process alive, counted by type, and V8's heap statistics, bytes |
 *
 * A port that is taken is logged and does without: looking inside must not keep anything from running.
 */
export class ProfilingServer {
  readonly #options: ProfilingServerOptions;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #paths: Readonly<Record<string, Serve>> = {
    '/debug/pprof/profile': (query, response) => this.#profile(query, response),
    '/debug/pprof/heap': (_query, response) => sendHeap(response),
    '/debug/eventloop': (_query, response) => send(response, this.#eventLoop()),
    '/debug/handles': (_query, response) => send(response, { active: countActive(), heap: getHeapStatistics() }),
  };
  #delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #cancel: Cancel = () => undefined;
  #isProfiling = false;

  constructor(options: ProfilingServerOptions) {
    this.#options = options;
  }

  /** Listens. Answers with the port, or undefined when it is taken. */
  async start(): Promise<number | undefined> {
    const { port, logger } = this.#options;
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    this.#server.on('error', (error) => {
      logger.warn('profiles are not served', { port, error });
      resolve(undefined);
    });
    this.#server.listen(port, HOST, () => resolve((this.#server.address() as AddressInfo).port));
    this.#server.unref();
    this.#watchEventLoop();
    return promise;
  }

  /** Cuts whatever is being answered. */
  stop(): void {
    this.#cancel();
    this.#delay?.disable();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve({ url = '/', method, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, `http://${HOST}`);
    const serve = method === 'GET' && isLocal(headers.host) ? this.#paths[pathname] : undefined;
    try {
      if (serve === undefined) send(response, { paths: Object.keys(this.#paths) }, 404);
      else await serve(searchParams, response);
    } catch (error) {
      this.#options.logger.info('a profile could not be sent', { path: pathname, error });
      response.destroy();
    }
  }

  /** One at a time: V8 has one profiler. */
  async #profile(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
      return send(response, { error: `seconds must be more than 0 and at most ${MAX_SECONDS}` }, 400);
    }
    if (this.#isProfiling) return send(response, { error: 'a profile is being taken' }, 409);
    this.#isProfiling = true;
    const session = new Session();
    session.connect();
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await this.#options.clock.sleep(seconds * 1000);
      const { profile } = await session.post('Profiler.stop');
      send(response, profile);
    } finally {
      session.disconnect();
      this.#isProfiling = false;
    }
  }

  #watchEventLoop(): void {
    const next = monitorEventLoopDelay({ resolution: 10 });
    next.enable();
    this.#delay?.disable();
    this.#delay = next;
    this.#cancel = this.#options.clock.after(WINDOW, () => this.#watchEventLoop());
  }

  #eventLoop(): Readonly<Record<string, number>> {
    const delay = this.#delay;
    if (delay === undefined) return {};
    const of = (percentile: number): number => delay.percentile(percentile) / NANOSECONDS;
    return { p50: of(50), p90: of(90), p99: of(99), max: delay.max / NANOSECONDS };
  }
}

function countActive(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

async function sendHeap(response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/json');
  await pipeline(getHeapSnapshot(), response);
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

/** A web page that a browser beside a port-forward shows can reach this address by a name of its own (DNS rebinding), and no other. */
function isLocal(host = ''): boolean {
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host);
}
