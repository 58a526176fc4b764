import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Cancel } from '../../src/kernel/index.ts';
import { systemClock } from '../../src/kernel/index.ts';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  isFrozen: boolean;
}

/** A TLS record of type handshake, version 3.x: what a client that opens TLS sends first (RFC 8446, section 5.1). */
const TLS_HANDSHAKE = 0x16;
const DRIP_INTERVAL = 50;

/**
 * Passes bytes between TCP clients and one server, understanding none of them, and does harm to connections: the faults
 * of a network, beneath TLS. Counts what it did.
 */
export class TcpProxy {
  /** Connections that began with TLS's first message. */
  handshakes = 0;
  readonly #target: () => number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #bytesPerDrip: number | undefined;
  #port = 0;

  private constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  /** Starts before a port of this machine; asked for each connection. */
  static async start(target: () => number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that are open now, frozen ones included. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Connections that are half-open: their client has not given them up. */
  get frozen(): number {
    return [...this.#pairs].filter(({ isFrozen }) => isFrozen).length;
  }

  /** Accepts connections (again), on the same port as before. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses new connections; those that there are go on. */
  refuse(): void {
    this.#server.close();
  }

  /** Breaks all connections with RST. @returns how many */
  reset(): number {
    const pairs = [...this.#pairs];
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    return pairs.length;
  }

  /** Makes all connections that there are half-open: nothing passes any more, in either direction, and nobody is told. */
  freeze(): number {
    const pairs = [...this.#pairs].filter(({ isFrozen }) => !isFrozen);
    for (const pair of pairs) pair.isFrozen = true;
    return pairs.length;
  }

  /** Lets so many bytes a second pass to each client until cancelled. */
  drip(bytesPerSecond: number): Cancel {
    this.#bytesPerDrip = Math.ceil((bytesPerSecond * DRIP_INTERVAL) / 1000);
    return () => {
      this.#bytesPerDrip = undefined;
    };
  }

  async stop(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    await closed;
  }

  #accept(client: Socket): void {
    const upstream = connect({ host: '127.0.0.1', port: this.#target(), noDelay: true });
    const pair: Pair = { client, upstream, isFrozen: false };
    this.#pairs.add(pair);
    void this.#pump(pair, client, upstream);
    void this.#pump(pair, upstream, client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // A connection that breaks is what this proxy is for; the other side is to notice unless it is cut off from the world.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (socket === client || !pair.isFrozen) other.destroy();
        if (socket === client) this.#pairs.delete(pair);
      });
    }
  }

  /** Reads on when frozen, and forgets what it read: the sender's kernel is to think that all is well. */
  async #pump(pair: Pair, from: Socket, to: Socket): Promise<void> {
    let isFirst = from === pair.client;
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        if (isFirst && chunk[0] === TLS_HANDSHAKE) this.handshakes += 1;
        isFirst = false;
        if (pair.isFrozen) continue;
        if (to === pair.client && this.#bytesPerDrip !== undefined) await this.#passSlowly(pair, chunk);
        else if (!to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      if (!pair.isFrozen) to.end();
    } catch {
      // Either side broke: its close handler ends the other.
    }
  }

  async #passSlowly(pair: Pair, chunk: Buffer): Promise<void> {
    let start = 0;
    while (start < chunk.length && !pair.isFrozen && !pair.client.destroyed) {
      const end = start + (this.#bytesPerDrip ?? chunk.length);
      pair.client.write(chunk.subarray(start, end));
      start = end;
      if (this.#bytesPerDrip !== undefined) await systemClock.sleep(DRIP_INTERVAL);
    }
  }
}
