import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CertificateAuthority } from '../../../test/lab/certificates.ts';
import type { KeyPair } from '../../../test/lab/certificates.ts';
import { CountingClock } from '../../../test/support/counting-clock.ts';
import { TcpProxy } from '../../../test/support/tcp-proxy.ts';
import { systemClock } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import type { Connection } from '../connection/connection.ts';
import type { OpenedStream } from './http2-session.ts';
import { Http2Sessions } from './http2-sessions.ts';

const never = new AbortController().signal;
const headers = { ':method': 'GET', ':path': '/watch', authorization: 'Bearer token' };

let authority: CertificateAuthority;
let pair: KeyPair;
let server: Http2SecureServer;
let connected: ServerHttp2Session[];
let streams: ServerHttp2Stream[];
let sessions: Http2Sessions;
let dials: string[];

beforeAll(async () => {
  authority = await CertificateAuthority.create('http2-sessions');
  pair = await authority.server({ names: ['localhost'], addresses: ['127.0.0.1'] });
});

beforeEach(async () => {
  connected = [];
  streams = [];
  dials = [];
  server = await serve({});
  sessions = open(connectionTo(portOf(server)));
});

afterEach(async () => {
  vi.useRealTimers();
  sessions.destroy();
  await stop(server);
});

async function serve(settings: { maxConcurrentStreams?: number }): Promise<Http2SecureServer> {
  const started = createSecureServer({ cert: pair.certificate, key: pair.key, settings });
  started.on('session', (session) => {
    connected.push(session);
    session.on('error', () => undefined);
  });
  started.on('stream', (stream) => {
    streams.push(stream);
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200 });
    stream.write('begun\n');
  });
  started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  return started;
}

async function stop(started: Http2SecureServer): Promise<void> {
  for (const session of connected) session.destroy();
  started.close();
  await once(started, 'close');
}

function portOf(started: { address(): unknown }): number {
  return (started.address() as AddressInfo).port;
}

function connectionTo(port: number): Connection {
  return { server: `https://127.0.0.1:${port}`, caData: authority.certificate };
}

function open(connection: Connection, clock: Clock = systemClock): Http2Sessions {
  return new Http2Sessions({
    connection,
    clock,
    random: () => 0.5,
    onDial: (protocol, result) => dials.push(`${protocol} ${result}`),
  });
}

async function openStream(): Promise<OpenedStream> {
  const opened = await sessions.open(headers, never);
  if (opened === undefined) throw new Error('the server speaks HTTP/1.1 only');
  return opened;
}

/** Resolves with what a stream ended by. */
async function endOf({ body }: OpenedStream): Promise<string> {
  try {
    for await (const chunk of body) expect(String(chunk)).toBe('begun\n');
    return 'end';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

describe('streams', () => {
  test('share one connection, up to eighty', async () => {
    const opened = await Promise.all(Array.from({ length: 80 }, () => openStream()));
    expect(opened.every(({ status }) => status === 200)).toBe(true);
    expect(connected).toHaveLength(1);
    await Promise.all(Array.from({ length: 81 }, () => openStream()));
    expect(connected).toHaveLength(3);
    expect(dials).toEqual(['h2 success', 'h2 success', 'h2 success']);
  });

  test('are as many on a connection as the server lets in, when that is fewer', async () => {
    await stop(server);
    server = await serve({ maxConcurrentStreams: 3 });
    sessions = open(connectionTo(portOf(server)));
    const limited = connected.length;
    await Promise.all(Array.from({ length: 10 }, () => openStream()));
    expect(connected.length - limited).toBe(4);
  });

  test('give their room back when they end', async () => {
    for (let index = 0; index < 100; index += 1) {
      const { body } = await openStream();
      body.end();
      await vi.waitUntil(() => streams.at(-1)?.closed === true, { interval: 1 });
    }
    expect(connected).toHaveLength(1);
  });

  test('leave no timer behind when their connection is cut', async () => {
    const clock = new CountingClock();
    const counted = open(connectionTo(portOf(server)), clock);
    const opened = await counted.open(headers, never);
    counted.destroy();
    if (opened) await endOf(opened);
    await vi.waitUntil(() => streams.at(-1)?.closed === true);
    expect([...clock.timers]).toEqual([]);
  });

  test('are cut by their signal, before and after they have begun', async () => {
    const early = new AbortController();
    early.abort(new Error('enough'));
    await expect(sessions.open(headers, early.signal)).rejects.toThrow('enough');
    const late = new AbortController();
    const opened = await sessions.open(headers, late.signal);
    late.abort(new Error('enough'));
    await vi.waitUntil(() => streams.at(-1)?.closed === true);
    expect(opened?.status).toBe(200);
  });
});

describe('a server that says goodbye', () => {
  test('has its streams ended within seconds, and new ones go to another connection at once', async () => {
    const first = await openStream();
    const ended = endOf(first);
    connected[0]?.goaway();
    await vi.waitUntil(async () => {
      await openStream();
      return connected.length === 2;
    });
    expect(streams[0]?.closed).toBe(false);
    expect(await ended).toBe('end');
    await vi.waitUntil(() => streams[0]?.closed === true, { timeout: 4000 });
    expect(streams.at(-1)?.closed).toBe(false);
  });

  test('in the moment in which a stream is opened gets it on another connection', async () => {
    await openStream();
    connected[0]?.goaway();
    const opened = await Promise.all(Array.from({ length: 20 }, () => openStream()));
    expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});

describe('a connection that is dead without a word', () => {
  test('is noticed within 45 s, and one that is only quiet is left alone', async () => {
    const proxy = await TcpProxy.start(() => portOf(server));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    sessions = open(connectionTo(proxy.port));
    const opened = await openStream();
    let end: string | undefined;
    void endOf(opened).then((how) => (end = how));
    await elapse(300_000);
    expect(end).toBeUndefined();
    proxy.freeze();
    await elapse(14_000);
    expect(end).toBeUndefined();
    await elapse(31_000);
    expect(end).toBe('PING_TIMEOUT');
    sessions.destroy();
    await proxy.stop();
  });

  /** Lets time pass second by second, and the network answer in between. */
  async function elapse(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 1000) {
      vi.advanceTimersByTime(1000);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

describe('a server that cannot be talked to', () => {
  test('because it speaks HTTP/1.1 only is told apart', async () => {
    const old = createHttps({ cert: pair.certificate, key: pair.key });
    old.listen(0, '127.0.0.1');
    await once(old, 'listening');
    sessions = open(connectionTo(portOf(old)));
    expect(await sessions.open(headers, never)).toBeUndefined();
    expect(dials).toEqual(['http/1.1 success']);
    old.close();
  });

  test('because another authority vouches for it is not asked', async () => {
    const { certificate } = await CertificateAuthority.create('another');
    sessions = open({ ...connectionTo(portOf(server)), caData: certificate });
    await expect(openStream()).rejects.toMatchObject({ code: expect.stringMatching(/CERT|SIGNATURE/) as string });
    expect(streams).toEqual([]);
    expect(dials).toEqual(['h2 failure']);
  });

  test('because its certificate is for another name is not asked', async () => {
    const { certificate, key } = await authority.server({ names: ['elsewhere'], addresses: [] });
    const mistaken = createSecureServer({ cert: certificate, key });
    mistaken.listen(0, '127.0.0.1');
    await once(mistaken, 'listening');
    sessions = open(connectionTo(portOf(mistaken)));
    await expect(openStream()).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    mistaken.close();
  });

  test('because nobody listens fails at once, and is asked again by the next stream', async () => {
    const port = portOf(server);
    await stop(server);
    sessions = open(connectionTo(port));
    await expect(openStream()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    server = await serve({});
    sessions = open(connectionTo(portOf(server)));
    await expect(openStream()).resolves.toMatchObject({ status: 200 });
  });

  test('because it never answers the TLS handshake is given up after 10 s', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => sockets.push(socket));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    sessions = open(connectionTo(portOf(mute)));
    const opening = expect(openStream()).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' });
    while (sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    await opening;
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
});
