import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger, systemClock } from '../kernel/index.ts';
import { ProfilingServer } from './profiling-server.ts';

let server: ProfilingServer;
let origin: string;
let port: number;

beforeEach(async () => {
  server = new ProfilingServer({ port: 0, clock: systemClock, logger: silentLogger });
  port = (await server.start()) ?? 0;
  origin = `http://127.0.0.1:${port}`;
});

afterEach(() => server.stop());

async function json(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(origin + path);
  return { status: response.status, ...((await response.json()) as object) };
}

describe('the profiling port', () => {
  it('takes a CPU profile of as many seconds as asked for, one at a time', async () => {
    const [first, second] = await Promise.all([
      json('/debug/pprof/profile?seconds=0.2'),
      systemClock.sleep(50).then(() => json('/debug/pprof/profile?seconds=0.2')),
    ]);
    expect(first['status']).toBe(200);
    expect(first['nodes']).toBeInstanceOf(Array);
    expect(second).toEqual({ status: 409, error: 'a profile is being taken' });
    expect((await json('/debug/pprof/profile?seconds=0.05'))['status']).toBe(200);
  });

  it.each(['0', '-1', '301', 'x'])('refuses a profile of %s seconds', async (seconds) => {
    expect((await json(`/debug/pprof/profile?seconds=${seconds}`))['status']).toBe(400);
  });

  it('takes a heap snapshot', async () => {
    expect((await json('/debug/pprof/heap'))['snapshot']).toHaveProperty('meta');
  }, 60_000);

  it('tells the delay of the event loop, active handles and the heap', async () => {
    await systemClock.sleep(50);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80);
    await systemClock.sleep(50);
    expect((await json('/debug/eventloop'))['max']).toBeGreaterThan(50);
    const { active, heap } = await json('/debug/handles');
    expect(active).toHaveProperty('TCPSocketWrap');
    expect(heap).toHaveProperty('used_heap_size');
  });

  it('names its paths to who asks for another, and does nothing but answer', async () => {
    expect((await json('/'))['paths']).toContain('/debug/pprof/heap');
    expect((await fetch(`${origin}/debug/pprof/heap`, { method: 'POST' })).status).toBe(404);
  });

  it('answers nobody who calls it by another name, as a web page could', async () => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    get(`${origin}/debug/handles`, { headers: { host: 'rebound.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    expect(await promise).toBe(404);
  });

  it('does without a port that is taken', async () => {
    const other = new ProfilingServer({ port, clock: systemClock, logger: silentLogger });
    expect(await other.start()).toBeUndefined();
    other.stop();
  });
});
