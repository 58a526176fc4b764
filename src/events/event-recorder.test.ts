import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeaseLostError, silentLogger, systemClock } from '../kernel/index.ts';
import type { KubernetesObject, Metrics } from '../kernel/index.ts';
import {
  AlreadyExistsError,
  ForbiddenError,
  NotFoundError,
  TooManyRequestsError,
  UnexpectedAnswerError,
  UnreachableError,
  UnsendableError,
} from '../kubernetes/index.ts';
import type { JsonPatchOperation, ObjectReference, WriteContext } from '../kubernetes/index.ts';
import { EventRecorder } from './event-recorder.ts';
import { eventName, shortened } from './event.ts';
import type { EventNote, EventPort } from './event.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'foo', namespace: 'baz', uid: 'bar' } };
const note: EventNote = { type: 'Normal', reason: 'Started', message: 'some verbose message' };

/** An API server that fails by a plan; what no real one can be brought to at will. */
class FailingServer {
  readonly created: KubernetesObject[] = [];
  readonly patched: (readonly JsonPatchOperation[])[] = [];
  attempts = 0;
  failure: Error | undefined;
  patchFailure: Error | undefined;

  async create(object: KubernetesObject, write: WriteContext): Promise<KubernetesObject> {
    write.guard();
    this.attempts += 1;
    if (this.failure !== undefined) throw this.failure;
    this.created.push(object);
    return object;
  }

  async jsonPatch(ref: ObjectReference, operations: readonly JsonPatchOperation[]): Promise<KubernetesObject> {
    if (this.patchFailure !== undefined) throw this.patchFailure;
    this.patched.push(operations);
    return { apiVersion: 'v1', kind: 'Event', metadata: { name: ref.name } };
  }
}

let server: FailingServer;
let recorder: EventRecorder;
let events: EventPort;
let counts: Map<string, number>;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FailingServer();
  counts = new Map();
  recorder = new EventRecorder({
    client: server,
    source: { component: 'eventTest', host: 'here' },
    clock: systemClock,
    random: () => 0.5,
    logger: silentLogger,
    metrics: counting(),
  });
  events = recorder.guardedBy(() => undefined);
});

afterEach(() => {
  vi.useRealTimers();
});

function counting(): Metrics {
  return {
    counter: ({ name }) => ({
      inc: (labels) => {
        const key = [name.replace(/^event_recorder_(.*)_total$/, '$1'), ...Object.values(labels)].join(' ');
        counts.set(key, (counts.get(key) ?? 0) + 1);
      },
    }),
    gauge: () => ({ set: () => undefined, remove: () => undefined }),
    histogram: () => ({ observe: () => undefined }),
  };
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe('TestEventf', () => {
  it('creates an event that names object, source, reason and time', async () => {
    vi.setSystemTime('2026-03-04T05:06:07.890Z');
    events.record(pod, note);
    await settle();
    expect(server.created).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^foo\.[0-9a-f]{16}$/) as string, namespace: 'baz' },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'foo', namespace: 'baz', uid: 'bar' },
        type: 'Normal',
        reason: 'Started',
        message: 'some verbose message',
        source: { component: 'eventTest', host: 'here' },
        reportingComponent: 'eventTest',
        reportingInstance: 'here',
        count: 1,
        firstTimestamp: '2026-03-04T05:06:07Z',
        lastTimestamp: '2026-03-04T05:06:07Z',
      },
    ]);
    expect(counts).toEqual(new Map([['written Normal', 1]]));
  });

  it('patches count, time and message of the one that is there when it happens again', async () => {
    vi.setSystemTime('2026-03-04T05:06:07Z');
    events.record(pod, note);
    await settle();
    vi.setSystemTime('2026-03-04T05:06:10Z');
    events.record(pod, note);
    await settle();
    expect(server.created).toHaveLength(1);
    expect(server.patched).toEqual([
      [
        { op: 'replace', path: '/count', value: 2 },
        { op: 'replace', path: '/lastTimestamp', value: '2026-03-04T05:06:10Z' },
        { op: 'replace', path: '/message', value: note.message },
      ],
    ]);
  });

  it('gives each event of a moment a name of its own', async () => {
    for (let index = 0; index < 5; index += 1) events.record(pod, { ...note, message: `message ${index}` });
    await settle();
    expect(new Set(server.created.map(({ metadata }) => metadata.name)).size).toBe(5);
  });

  it.each([
    ['a reason that is no word', { ...note, reason: 'not a word' }],
    ['a reason that begins small', { ...note, reason: 'started' }],
    ['no message', { ...note, message: '' }],
  ])('drops an event with %s', async (_, wrong) => {
    events.record(pod, wrong);
    await settle();
    expect(server.created).toEqual([]);
    expect(counts).toEqual(new Map([['dropped Invalid', 1]]));
  });
});

it('TestEventfNoNamespace: an event about an object without a namespace is in default', async () => {
  events.record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'foo', uid: 'bar' } }, note);
  await settle();
  expect(server.created[0]?.metadata.namespace).toBe('default');
  expect(server.created[0]?.['involvedObject']).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'foo', uid: 'bar' });
});

describe('TestWriteEventError', () => {
  it.each([
    ['giveUp1: cannot be sent', 1, 'Rejected', new UnsendableError('no')],
    ['giveUp2: the server refuses', 1, 'Rejected', new ForbiddenError('no', { status: 403 })],
    ['giveUp3: the server has it already', 1, 'Rejected', new AlreadyExistsError('there', { status: 409 })],
    ['giveUp4: the server has too much to do', 1, 'Rejected', new TooManyRequestsError('later', 1, { status: 429 })],
    ['giveUp5: the lease is lost', 1, 'LeaseLost', new LeaseLostError('lost')],
    ['retry1: the answer is not of an API server', 12, 'Unreachable', new UnexpectedAnswerError('odd')],
    ['retry2: no answer', 12, 'Unreachable', new UnreachableError('gone', 'ECONNREFUSED')],
  ])('%s: %d attempts', async (_, attempts, cause, failure) => {
    server.failure = failure;
    events.record(pod, note);
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(server.attempts).toBe(attempts);
    expect(counts).toEqual(new Map([[`dropped ${cause}`, 1]]));
  });

  it('succeedEventually: the first repetition after a random part of 10 s, the next after 10 s', async () => {
    server.failure = new UnreachableError('gone', 'ECONNREFUSED');
    events.record(pod, note);
    await vi.advanceTimersByTimeAsync(4999);
    expect(server.attempts).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.attempts).toBe(2);
    server.failure = undefined;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.created).toHaveLength(1);
    expect(counts).toEqual(new Map([['written Normal', 1]]));
  });

  it('asks the guard before each sending, not when the event is recorded', async () => {
    let isHeld = true;
    const guard = (): void => {
      if (!isHeld) throw new LeaseLostError('lost');
    };
    recorder.guardedBy(guard).record(pod, note);
    isHeld = false;
    await settle();
    expect(server.attempts).toBe(0);
    expect(counts).toEqual(new Map([['dropped LeaseLost', 1]]));
  });
});

it('TestUpdateExpiredEvent: an event that has expired on the server is created again, with its count', async () => {
  events.record(pod, note);
  await settle();
  server.patchFailure = new NotFoundError('expired', { status: 404 });
  events.record(pod, note);
  await settle();
  expect(server.created.map((event) => event['count'])).toEqual([1, 2]);
  expect(server.created[1]?.metadata.name).toBe(server.created[0]?.metadata.name);
  expect(server.created[1]?.metadata.resourceVersion).toBeUndefined();
});

it('TestCancelEvent: once it is closed, an event is tried once and given up', async () => {
  server.failure = new UnexpectedAnswerError('odd');
  events.record(pod, note);
  await recorder.close();
  expect(server.attempts).toBe(1);
  expect(counts).toEqual(new Map([['dropped Closed', 1]]));
});

describe('TestBroadcasterShutdown', () => {
  it('drops what has not had its turn 2 s after it was closed, however slowly the server refuses', async () => {
    vi.spyOn(server, 'create').mockImplementation(async () => {
      server.attempts += 1;
      await systemClock.sleep(1500);
      throw new ForbiddenError('no', { status: 403 });
    });
    for (let index = 0; index < 20; index += 1) events.record(pod, { ...note, reason: `Reason${index}` });
    const closed = recorder.close();
    await vi.advanceTimersByTimeAsync(3000);
    await closed;
    expect(server.attempts).toBe(2);
    expect(counts.get('dropped Closed')).toBe(18);
  });

  it('writes what waits before it is closed, and takes nothing after', async () => {
    for (let index = 0; index < 3; index += 1) events.record(pod, { ...note, message: `message ${index}` });
    await recorder.close();
    events.record(pod, note);
    await settle();
    expect(server.created).toHaveLength(3);
    expect(counts.get('dropped Closed')).toBe(1);
  });

  it('does not wait for a server that does not answer: the first failure ends it', async () => {
    server.failure = new UnreachableError('gone', 'TIMEOUT');
    for (let index = 0; index < 100; index += 1) events.record(pod, { ...note, message: `message ${index}` });
    await settle();
    await recorder.close();
    expect(server.attempts).toBe(2);
    expect(counts).toEqual(new Map([['dropped Closed', 100]]));
  });

  it('TestNonRacyShutdown: recording and closing at once neither throws nor hangs', async () => {
    const closed = recorder.close();
    for (let index = 0; index < 100; index += 1) events.record(pod, note);
    await closed;
    expect(counts.get('dropped Closed')).toBe(100);
  });
});

describe('TestLotsOfEvents', () => {
  const each = (index: number) => ({ ...pod, metadata: { ...pod.metadata, name: `foo-${index}`, uid: `${index}` } });

  it('keeps 1,000 that wait for a server, in order, and loses none of them', async () => {
    server.failure = new UnreachableError('gone', 'ECONNREFUSED');
    for (let index = 0; index < 1000; index += 1) events.record(each(index), { ...note, message: `${index}` });
    await vi.advanceTimersByTimeAsync(20_000);
    server.failure = undefined;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.created.map((event) => event['message'])).toEqual(
      Array.from({ length: 1000 }, (_, index) => `${index}`),
    );
  });

  it('drops what is beyond, without a word to who records', async () => {
    server.failure = new UnreachableError('gone', 'ECONNREFUSED');
    events.record(each(0), note);
    await settle();
    for (let index = 1; index <= 1005; index += 1) events.record(each(index), note);
    expect(counts.get('dropped QueueFull')).toBe(5);
    await recorder.close();
  });
});

it('counts what is told as one, and what is kept back', async () => {
  for (let index = 0; index < 30; index += 1) events.record(pod, { ...note, message: `message ${index}` });
  await settle();
  expect(Object.fromEntries(counts)).toEqual({ 'written Normal': 25, aggregated: 16, 'dropped Filtered': 5 });
  expect([server.created.length, server.patched.length]).toEqual([10, 15]);
});

describe('the message of an event', () => {
  it('is cut at 1 KiB, between characters', () => {
    const text = shortened('é'.repeat(600));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
    expect(text).toMatch(/^é+…$/);
  });

  it('is left as it is up to there', () => {
    expect(shortened('x'.repeat(1024))).toBe('x'.repeat(1024));
  });
});

describe('the name of an event', () => {
  it.each([
    ['foo', 'foo.ff'],
    ['system:node', 'event.ff'],
    ['x'.repeat(250), `${'x'.repeat(250)}.ff`],
    ['x'.repeat(251), 'event.ff'],
  ])('for an object %s', (name, expected) => {
    expect(eventName(name, 255n)).toBe(expected);
  });
});
