import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../kernel/index.ts';
import type { Cancel, Clock } from '../../kernel/index.ts';
import { UnexpectedAnswerError, UnreachableError } from '../api-errors.ts';
import { ChannelSocket, ENDING_PROTOCOL, FORMER_PROTOCOL } from './channel-socket.ts';
import { SELF } from '../identity.ts';
import { execInPod } from './pod-exec.ts';
import type { ExecRequest, ExecResult, OpenSocket } from './pod-exec.ts';
import { forwardPort } from './pod-port-forward.ts';

const write = { identity: SELF, fieldManager: 'test', guard: () => undefined };

/** A server that does what no real one can be brought to: old protocols, broken ones, silence. */
class OddServer {
  readonly #server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    autoPong: false,
    handleProtocols: (offered) => [...offered].find((protocol) => this.protocols.includes(protocol)) ?? false,
  });
  protocols: readonly string[] = [ENDING_PROTOCOL, FORMER_PROTOCOL];
  readonly sockets: WebSocket[] = [];
  readonly received: Buffer[] = [];

  constructor(play: (socket: WebSocket) => void) {
    this.#server.on('connection', (socket) => {
      this.sockets.push(socket);
      socket.on('message', (data) => this.received.push(data as Buffer));
      play(socket);
    });
  }

  readonly open: OpenSocket = async (_, channels) => {
    if (this.#server.address() === null) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, [ENDING_PROTOCOL, FORMER_PROTOCOL]);
    socket.once('open', () => socket.pause());
    await once(socket, 'open');
    return new ChannelSocket(socket, { what: 'exec', clock, channels });
  };

  close(): void {
    for (const socket of this.sockets) socket.terminate();
    this.#server.close();
  }
}

/** A clock by which it is time for pings when the test says so. */
let clock: Clock;
let elapsed: number;
let pings: Set<() => void>;
let server: OddServer;

beforeEach(() => {
  elapsed = 0;
  pings = new Set();
  const after = (milliseconds: number, callback: () => void): Cancel => {
    if (milliseconds === 15_000) pings.add(callback);
    return () => pings.delete(callback);
  };
  clock = { ...systemClock, monotonic: () => elapsed, after };
});

afterEach(() => server.close());

function passed(seconds: number): void {
  elapsed += seconds * 1000;
}

/** It is time for a ping. */
function tick(): void {
  for (const callback of pings) {
    pings.delete(callback);
    callback();
    return;
  }
}

function exec(request: Partial<ExecRequest> = {}): Promise<ExecResult> {
  return execInPod({ command: ['true'], ...request }, { what: 'exec', clock, open: server.open, write });
}

const frame = (channel: number, text: string): Buffer => Buffer.concat([Buffer.of(channel), Buffer.from(text)]);
const SUCCESS = frame(3, '{"status":"Success"}');

describe('exec', () => {
  it('gets on with the former protocol of an older API server', async () => {
    server = new OddServer((socket) => {
      socket.send(frame(1, 'out'));
      socket.send(SUCCESS);
    });
    server.protocols = [FORMER_PROTOCOL];
    const { stdout, exitCode } = await exec();
    expect([String(stdout), exitCode]).toEqual(['out', 0]);
  });

  it('sends no standard input by a protocol that cannot end it', async () => {
    server = new OddServer(() => undefined);
    server.protocols = [FORMER_PROTOCOL];
    await expect(exec({ stdin: 'x' })).rejects.toThrow(UnexpectedAnswerError);
    expect(server.received).toEqual([]);
  });

  it('sends standard input in messages of 32 KiB, then the end of its channel', async () => {
    server = new OddServer((socket) => {
      socket.on('message', (data: Buffer) => {
        if (data[0] === 255) socket.send(SUCCESS);
      });
    });
    await exec({ stdin: 'x'.repeat(70_000) });
    expect(server.received.map((data) => [data[0], data.length])).toEqual([
      [0, 32 * 1024 + 1],
      [0, 32 * 1024 + 1],
      [0, 70_000 - 64 * 1024 + 1],
      [255, 2],
    ]);
    expect(server.received.at(-1)?.[1]).toBe(0);
  });

  it('puts a Status together that comes in pieces, and waits for nothing after it', async () => {
    server = new OddServer((socket) => {
      for (const piece of [
        '{"status":"Failure","reason":"NonZeroExitCode",',
        '"details":{"causes":[',
        '{"reason":"ExitCode","message":"137"}]}}',
      ]) {
        socket.send(frame(3, piece));
      }
    });
    await expect(exec()).resolves.toMatchObject({ exitCode: 137 });
  });

  it.each<[string, (socket: WebSocket) => void, string]>([
    ['ends without a Status', (socket) => socket.close(1000), 'without a word'],
    ['sends no Status', (socket) => socket.send(frame(3, 'x'.repeat(70_000))), 'no Status'],
    ['sends text', (socket) => socket.send('text'), 'text, not bytes'],
    ['breaks', (socket) => socket.terminate(), 'code 1006'],
    ['ends with an error', (socket) => socket.close(1011, 'oh no'), 'code 1011: oh no'],
  ])('fails when the server %s', async (_, play, message) => {
    server = new OddServer(play);
    await expect(exec()).rejects.toThrow(message);
  });

  it('takes an exit code from a Status that says so only', async () => {
    server = new OddServer((socket) =>
      socket.send(
        frame(
          3,
          '{"status":"Failure","code":500,"reason":"InternalError","message":"no such container",' +
            '"details":{"causes":[{"reason":"ExitCode","message":"1"}]}}',
        ),
      ),
    );
    await expect(exec()).rejects.toMatchObject({
      status: 500,
      reason: 'InternalError',
      message: 'exec: no such container',
    });
  });

  it('throws away what comes on channels that nobody asked for', async () => {
    server = new OddServer((socket) => {
      socket.send(frame(9, 'odd'));
      socket.send(frame(1, ''));
      socket.send(SUCCESS);
    });
    await expect(exec()).resolves.toMatchObject({ exitCode: 0, isCut: false });
  });

  it('gives up a server that is silent for a minute, pings included', async () => {
    server = new OddServer(() => undefined);
    const failure = exec();
    const caught = failure.catch((error: unknown) => error);
    await expect.poll(() => pings.size).toBe(1);
    passed(59);
    tick();
    passed(2);
    tick();
    await expect(caught).resolves.toBeInstanceOf(UnreachableError);
    await expect(caught).resolves.toMatchObject({ code: 'TIMEOUT', message: 'exec: nothing was heard for 60 s' });
  });

  it('keeps a server that is silent but answers pings', async () => {
    server = new OddServer((socket) => socket.on('ping', () => socket.pong()));
    const result = exec();
    await expect.poll(() => pings.size).toBe(1);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      const [socket] = server.sockets;
      const pinged = once(socket as WebSocket, 'ping');
      passed(59);
      tick();
      await pinged;
      // Our ping comes after our pong: that it is answered shows that both have been read.
      const answered = once(socket as WebSocket, 'pong');
      socket?.ping();
      await answered;
    }
    server.sockets[0]?.send(SUCCESS);
    await expect(result).resolves.toMatchObject({ exitCode: 0 });
  });
});

describe('port-forward', () => {
  const context = { what: 'forward', timeout: 10_000, write };
  const port = (channel: number, number: number): Buffer => Buffer.of(channel, number % 256, Math.floor(number / 256));

  it('is refused when the server begins with another port', async () => {
    server = new OddServer((socket) => {
      socket.send(port(0, 6379));
      socket.send(port(1, 6380));
    });
    await expect(forwardPort(6379, { ...context, clock, open: server.open })).rejects.toThrow('6379 and 6380');
  });

  it('is refused when the server ends before it begins', async () => {
    server = new OddServer((socket) => socket.close(1000));
    await expect(forwardPort(6379, { ...context, clock, open: server.open })).rejects.toThrow(UnexpectedAnswerError);
  });

  it('loses nothing that comes together with the port', async () => {
    server = new OddServer((socket) => {
      socket.send(Buffer.concat([port(0, 6379), Buffer.from('hello')]));
      socket.send(port(1, 6379));
      socket.close(1000);
    });
    const stream = await forwardPort(6379, { ...context, clock, open: server.open });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(String(Buffer.concat(chunks))).toBe('hello');
  });

  it('fails with the connection', async () => {
    server = new OddServer((socket) => {
      socket.send(port(0, 6379));
      socket.send(port(1, 6379));
      setTimeout(() => socket.terminate(), 50);
    });
    const stream = await forwardPort(6379, { ...context, clock, open: server.open });
    const [error] = (await once(stream, 'error')) as [unknown];
    expect(error).toBeInstanceOf(UnreachableError);
  });
});
