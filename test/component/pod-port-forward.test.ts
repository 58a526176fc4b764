import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, ForbiddenError, NotFoundError, UnsendableError } from '../../src/kubernetes/index.ts';
import type { PodReference } from '../../src/kubernetes/index.ts';
import { adminClient, asTester, createNamespace, eventually, lab } from '../support/lab.ts';
import { createReachablePod } from '../support/reachable-pod.ts';

const isGiven = process.env['ATOLL_LAB_KUBECONFIGS'] !== undefined;
const cluster = 'eu-1';

const REDIS = 6379;
const ECHO = 7;
const SOURCE = 19;
const NOBODY = 9;

describe.skipIf(isGiven)('a port of a pod', () => {
  let pod: PodReference;
  let echo: Server;
  let source: Server;
  const echoing = new Set<Socket>();
  let sent = 0;

  beforeAll(async () => {
    echo = await listen((socket) => {
      echoing.add(socket);
      socket.on('close', () => echoing.delete(socket)).pipe(socket);
    });
    source = await listen((socket) => {
      const pour = (): void => {
        while (!socket.destroyed && sent < 64 * 1024 * 1024) {
          sent += 64 * 1024;
          if (!socket.write(Buffer.alloc(64 * 1024))) return;
        }
        socket.end();
      };
      socket.on('drain', pour);
      pour();
    });
    const { port: redis } = new URL(lab().redis.url);
    pod = await createReachablePod({
      cluster,
      ports: { [REDIS]: Number(redis), [ECHO]: portOf(echo), [SOURCE]: portOf(source), [NOBODY]: 1 },
    });
  });

  afterAll(async () => {
    for (const server of [echo, source]) server.close();
  });

  const forward = (port: number, write = asTester): Promise<Duplex> =>
    adminClient(cluster).pods.forwardPort(pod, port, write);

  it('is a conversation with what listens there: a real Redis', async () => {
    const stream = await forward(REDIS);
    const { password } = new URL(lab().redis.url);
    stream.write(`AUTH ${password}\r\nECHO hello\r\nQUIT\r\n`);
    await expect(text(stream)).resolves.toBe('+OK\r\n$5\r\nhello\r\n+OK\r\n');
  });

  it('carries bytes as they are, in any number', async () => {
    const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 7) % 256));
    const stream = await forward(ECHO);
    stream.write(bytes);
    const back = await readBytes(stream, bytes.length);
    stream.destroy();
    expect(back.equals(bytes)).toBe(true);
  });

  it('is reached by several at a time, each on a connection of its own', async () => {
    const streams = await Promise.all([forward(ECHO), forward(ECHO), forward(REDIS)]);
    const [first, second, third] = streams;
    second.write('two');
    first.write('one');
    third.write('PING\r\n');
    await expect(
      Promise.all([readBytes(first, 3), readBytes(second, 3)].map(async (read) => String(await read))),
    ).resolves.toEqual(['one', 'two']);
    await expect(readBytes(third, 7)).resolves.toEqual(Buffer.from('-NOAUTH'));
    for (const stream of streams) stream.destroy();
  });

  it('waits for a reader that is slow: what is on the way does not grow with time', async () => {
    sent = 0;
    const stream = await forward(SOURCE);
    await once(stream, 'readable');
    let before = -1;
    // Buffers of the system, of the node and of the API server fill up, and then nothing moves.
    await eventually(
      () => {
        const isStill = sent === before;
        before = sent;
        return isStill;
      },
      { interval: 1000 },
    );
    expect(before).toBeLessThan(32 * 1024 * 1024);
    expect(stream.readableLength).toBeLessThan(1024 * 1024);
    const all = await buffer(stream);
    expect(all.length).toBe(64 * 1024 * 1024);
  });

  it('ends on the other side when the stream is ended, after what was written', async () => {
    const stream = await forward(ECHO);
    stream.write('last words');
    await expect(readBytes(stream, 10)).resolves.toEqual(Buffer.from('last words'));
    expect(echoing.size).toBe(1);
    stream.end();
    stream.resume();
    await once(stream, 'close');
    await eventually(() => echoing.size === 0);
  });

  it('ends on the other side when the stream is destroyed', async () => {
    const stream = await forward(ECHO);
    stream.write('x');
    await readBytes(stream, 1);
    stream.destroy();
    await eventually(() => echoing.size === 0);
  });

  it('is let go when the caller’s signal aborts', async () => {
    const controller = new AbortController();
    const stream = await forward(ECHO, { ...asTester, signal: controller.signal });
    const failed = once(stream, 'error');
    controller.abort(new Error('not wanted any longer'));
    await expect(failed).resolves.toMatchObject([{ message: 'not wanted any longer' }]);
    await eventually(() => echoing.size === 0);
  });

  it('where nobody listens: the node’s error is the stream’s', async () => {
    const stream = await forward(NOBODY);
    const [error] = (await once(stream, 'error')) as [unknown];
    expect(error).toBeInstanceOf(ApiError);
    expect(String(error)).toMatch(/forward port 9 of Pod .*refused/);
  });

  it('of a pod that is not there: not found', async () => {
    const namespace = await createNamespace(cluster);
    const failure = adminClient(cluster).pods.forwardPort({ namespace, name: 'none' }, REDIS, asTester);
    await expect(failure).rejects.toThrow(NotFoundError);
  });

  it('as somebody who may not: forbidden', async () => {
    const identity = { kind: 'serviceAccount', namespace: pod.namespace, name: 'default' } as const;
    await expect(forward(REDIS, { ...asTester, identity })).rejects.toThrow(ForbiddenError);
  });

  it.each([0, 65_536, 1.5])('%d does not exist: nothing is sent', async (port) => {
    await expect(forward(port)).rejects.toThrow(UnsendableError);
  });
});

async function listen(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function readBytes(stream: Duplex, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let have = 0; have < size;) {
    const chunk = stream.read(Math.min(size - have, stream.readableLength || 1)) as Buffer | null;
    if (chunk === null) await once(stream, 'readable');
    else {
      chunks.push(chunk);
      have += chunk.length;
    }
  }
  return Buffer.concat(chunks);
}
