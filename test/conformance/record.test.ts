import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventRecorder } from '../../src/events/index.ts';
import { LeaseLostError, noMetrics, systemClock } from '../../src/kernel/index.ts';
import type { KubernetesObject, Metrics } from '../../src/kernel/index.ts';
import {
  ForbiddenError,
  InvalidError,
  NotFoundError,
  UnexpectedAnswerError,
  UnreachableError,
} from '../../src/kubernetes/index.ts';
import type { JsonPatchOperation, ObjectReference, WriteContext } from '../../src/kubernetes/index.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

/** A sink that notes what reaches it: "create NAMESPACE REASON MESSAGE xCOUNT", "patch NAMESPACE MESSAGE xCOUNT". */
class Sink {
  readonly written: string[] = [];
  readonly created: KubernetesObject[] = [];
  attempts = 0;
  /** Thrown by the next attempts, one each. */
  readonly failures: Error[] = [];
  patchFailure: Error | undefined;

  async create(event: KubernetesObject, { guard }: WriteContext): Promise<KubernetesObject> {
    guard();
    this.#attempt();
    this.created.push(event);
    const { metadata, reason, message, count } = event;
    this.written.push(`create ${metadata.namespace} ${String(reason)} ${String(message)} x${String(count)}`);
    return Promise.resolve(event);
  }

  async jsonPatch(
    ref: ObjectReference,
    operations: readonly JsonPatchOperation[],
    { guard }: WriteContext,
  ): Promise<KubernetesObject> {
    guard();
    this.#attempt();
    if (this.patchFailure) throw this.patchFailure;
    const values = new Map(
      operations.map((operation) => [operation.path, 'value' in operation ? operation.value : undefined]),
    );
    this.written.push(`patch ${ref.namespace} ${String(values.get('/message'))} x${String(values.get('/count'))}`);
    return Promise.resolve({ apiVersion: 'v1', kind: 'Event', metadata: {} });
  }

  #attempt(): void {
    this.attempts += 1;
    const failure = this.failures.shift();
    if (failure) throw failure;
  }
}

let sink: Sink;
let recorder: EventRecorder;
let dropped: string[];

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  sink = new Sink();
  dropped = [];
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      inc: ({ cause = '' }) => void (name === 'event_recorder_dropped_total' && dropped.push(cause)),
    }),
  };
  recorder = new EventRecorder({
    client: sink,
    source: { component: 'eventTest', host: 'here' },
    clock: systemClock,
    random: () => 0.5,
    logger: new RecordingLogger(),
    metrics,
  });
});

afterEach(() => {
  vi.useRealTimers();
});

const pod = (name = 'foo', metadata = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'baz', uid: 'bar', ...metadata },
});

interface Told {
  readonly object?: KubernetesObject;
  readonly reason?: string;
  readonly message?: string;
  readonly guard?: () => void;
}

/** Tells an event, and lets some time pass. */
async function tell(
  { object = pod(), reason = 'Started', message = 'some message', guard = () => undefined }: Told = {},
  seconds = 1,
): Promise<void> {
  recorder.guardedBy(guard).record(object, { type: 'Normal', reason, message });
  await vi.advanceTimersByTimeAsync(seconds * 1000);
}

test('TestEventf: the first of its kind is created, the same again is counted, another object has an event of its own', async () => {
  await tell();
  await tell();
  await tell({ object: pod('foo', { uid: 'differentUid' }) });
  await tell();
  await tell({ object: pod('foo', { uid: 'differentUid' }), reason: 'Stopped' });
  expect(sink.written).toEqual([
    'create baz Started some message x1',
    'patch baz some message x2',
    'create baz Started some message x1',
    'patch baz some message x3',
    'create baz Stopped some message x1',
  ]);
  expect(sink.created[0]).toMatchObject({
    involvedObject: { kind: 'Pod', name: 'foo', namespace: 'baz', uid: 'bar', apiVersion: 'v1' },
    source: { component: 'eventTest' },
    reportingComponent: 'eventTest',
    type: 'Normal',
  });
});

test('TestEventfNoNamespace: the event of an object without a namespace is in the default one', async () => {
  await tell({ object: pod('node', { namespace: undefined }) });
  expect(sink.written).toEqual(['create default Started some message x1']);
});

test.each([
  ['giveUp1', 1, new InvalidError('no', [], { status: 422 })],
  ['giveUp2', 1, new ForbiddenError('no', { status: 403 })],
  ['retry1', 12, new UnexpectedAnswerError('what is this')],
  ['retry2', 12, new UnreachableError('A weird error', 'ECONNRESET')],
])('TestWriteEventError: case %s makes %d attempts', async (_case, attempts, failure) => {
  sink.failures.push(...Array.from({ length: 1000 }, () => failure));
  await tell({}, 3600);
  expect(sink.attempts).toBe(attempts);
  expect(dropped).toHaveLength(1);
});

test('TestWriteEventError: case succeedEventually', async () => {
  sink.failures.push(new UnreachableError('A weird error', 'ECONNRESET'));
  await tell({}, 30);
  expect(sink.attempts).toBe(2);
  expect(sink.written).toHaveLength(1);
});

test('TestUpdateExpiredEvent: an event that the server has forgotten is created again, with its count and without a version', async () => {
  await tell();
  sink.patchFailure = new NotFoundError('expired', { status: 404 });
  await tell();
  expect(sink.written).toEqual(['create baz Started some message x1', 'create baz Started some message x2']);
  expect(sink.created[1]?.metadata).not.toHaveProperty('resourceVersion');
});

test('TestCancelEvent: once closed, what waits is tried once and given up', async () => {
  sink.failures.push(...Array.from({ length: 5 }, () => new UnreachableError('gone', 'ECONNRESET')));
  recorder.guardedBy(() => undefined).record(pod(), { type: 'Normal', reason: 'Started', message: 'one' });
  recorder.guardedBy(() => undefined).record(pod(), { type: 'Normal', reason: 'Started', message: 'two' });
  await recorder.close();
  expect(sink.attempts).toBe(1);
  expect(dropped).toEqual(['Closed', 'Closed']);
});

test('TestBroadcasterShutdown: closing ends the writing, and what is told afterwards is dropped', async () => {
  await tell();
  await recorder.close();
  await tell({ message: 'late' });
  expect(sink.written).toHaveLength(1);
  expect(dropped).toEqual(['Closed']);
});

test('TestLotsOfEvents: a thousand at once are all written, though each fails a few times', async () => {
  for (let index = 0; index < 1000; index += 1) {
    if (index % 100 === 0) sink.failures.push(new UnreachableError('gone', 'ECONNRESET'));
    const object = pod(`foo-${index}`);
    const note = { type: 'Normal', reason: `Reason${index}`, message: String(index) } as const;
    recorder.guardedBy(() => undefined).record(object, note);
  }
  await vi.advanceTimersByTimeAsync(600_000);
  expect(sink.created.map(({ message }) => message)).toEqual(Array.from({ length: 1000 }, (_, index) => String(index)));
  expect(dropped).toEqual([]);
});

/** The last thing that reached the sink. */
const last = (): string | undefined => sink.written.at(-1);

test('TestEventAggregatorByReasonFunc: events of one reason that differ in their message are similar, those of another reason are not', async () => {
  for (let index = 1; index <= 9; index += 1) await tell({ reason: 'EndOfWorld', message: `it was ${index}` });
  await tell({ reason: 'Nevermind', message: 'it was a bug' });
  expect(last()).toBe('create baz Nevermind it was a bug x1');
  await tell({ reason: 'EndOfWorld', message: 'it was fun' });
  expect(last()).toBe('create baz EndOfWorld (combined from similar events): it was fun x1');
});

test('TestEventAggregatorByReasonMessageFunc: an aggregate says so', async () => {
  for (let index = 1; index <= 10; index += 1) await tell({ message: `message ${index}` });
  expect(last()).toContain('(combined from similar events): message 10');
});

interface Scenario {
  readonly scenario: string;
  /** Events that go before, and how many. */
  readonly previous: (index: number) => Told;
  readonly count: number;
  readonly next: Told;
  /** Between two events. */
  readonly seconds: number;
  readonly expected: string;
}

const duplicate: Told = { reason: 'Duplicate', message: 'me again' };
const same = (): Told => duplicate;
const unique = (index: number): Told => ({ reason: `Reason${index}`, message: 'snowflake' });
const similar = (index: number): Told => ({ reason: 'Similar', message: `similar message ${index}` });
const AGGREGATE = 'Similar (combined from similar events): similar message 99';

const scenarios: readonly Scenario[] = [
  {
    scenario: 'create-a-single-event',
    previous: same,
    count: 0,
    next: duplicate,
    seconds: 5,
    expected: 'create baz Duplicate me again x1',
  },
  {
    scenario: 'the-same-event-should-just-count',
    previous: same,
    count: 1,
    next: duplicate,
    seconds: 5,
    expected: 'patch baz me again x2',
  },
  {
    scenario: 'the-same-event-should-just-count-even-if-more-than-aggregate',
    previous: same,
    count: 10,
    next: duplicate,
    seconds: 30,
    expected: 'patch baz me again x11',
  },
  {
    scenario: 'the-same-event-is-spam-if-happens-too-frequently',
    previous: same,
    count: 26,
    next: duplicate,
    seconds: 1,
    expected: 'skipped',
  },
  {
    scenario: 'create-many-unique-events',
    previous: unique,
    count: 24,
    next: duplicate,
    seconds: 5,
    expected: 'create baz Duplicate me again x1',
  },
  {
    scenario: 'similar-events-should-aggregate-event',
    previous: similar,
    count: 9,
    next: similar(99),
    seconds: 5,
    expected: `create baz ${AGGREGATE} x1`,
  },
  {
    scenario: 'similar-events-many-times-should-count-the-aggregate',
    previous: similar,
    count: 10,
    next: similar(99),
    seconds: 5,
    expected: 'patch baz (combined from similar events): similar message 99 x2',
  },
  {
    scenario: 'similar-events-whose-interval-is-greater-than-aggregate-interval-do-not-aggregate',
    previous: similar,
    count: 9,
    next: similar(99),
    seconds: 601,
    expected: 'create baz Similar similar message 99 x1',
  },
];

test.each(scenarios)('TestEventCorrelator: $scenario', async ({ previous, count, next, seconds, expected }) => {
  for (let index = 0; index < count; index += 1) await tell(previous(index), seconds);
  const before = sink.written.length;
  await tell(next, seconds);
  expect(sink.written.length === before ? 'skipped' : last()).toBe(expected);
});

test('TestEventSpamFilter: an object has 25 events at once, then one every five minutes, whatever the reason; others are free', async () => {
  for (let index = 0; index < 30; index += 1) await tell({ reason: `Reason${index}` }, 0);
  expect(sink.written).toHaveLength(25);
  expect(dropped).toEqual(Array.from({ length: 5 }, () => 'Filtered'));
  await tell({ object: pod('other') }, 0);
  expect(sink.written).toHaveLength(26);
  await vi.advanceTimersByTimeAsync(300_000);
  await tell({ reason: 'Later' }, 0);
  await tell({ reason: 'LaterStill' }, 0);
  expect(sink.written).toHaveLength(27);
});

test('Beyond/an event is written under a guard: what it forbids is dropped', async () => {
  const guard = (): void => {
    throw new LeaseLostError('lost meanwhile');
  };
  await tell({ guard });
  await tell({ message: 'another' });
  expect(sink.written).toEqual(['create baz Started another x1']);
  expect(dropped).toEqual(['LeaseLost']);
});
