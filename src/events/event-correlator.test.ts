import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../kernel/index.ts';
import { EventCorrelator } from './event-correlator.ts';
import type { Correlation } from './event-correlator.ts';
import { newEvent } from './event.ts';
import type { CoreEvent, EventNote } from './event.ts';

const source = { component: 'test', host: 'here' };
const pod = (name = 'my-pod') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'my-ns', uid: `uid-of-${name}` },
});

let correlator: EventCorrelator;
let moment = 0n;

beforeEach(() => {
  vi.useFakeTimers();
  correlator = new EventCorrelator(systemClock);
});

afterEach(() => {
  vi.useRealTimers();
});

function event(
  reason: string,
  message: string,
  { name, type = 'Normal' }: { name?: string; type?: EventNote['type'] } = {},
): CoreEvent {
  moment += 1n;
  const now = BigInt(systemClock.now()) * 1_000_000n;
  return newEvent(pod(name), { type, reason, message }, source, now + moment);
}

/** Correlates an event, and lets time pass. */
function tell(told: CoreEvent, secondsAfter = 0): Correlation | undefined {
  moment += 1n;
  const correlation = correlator.correlate(told, moment);
  vi.advanceTimersByTime(secondsAfter * 1000);
  return correlation;
}

/** So many events that differ in their message. */
function tellSimilar(count: number, secondsBetween = 0): void {
  for (let index = 0; index < count; index += 1) tell(event('Similar', `similar ${index}`), secondsBetween);
}

describe('TestEventAggregatorByReasonFunc', () => {
  it('takes for similar what differs in its message only, not what differs in reason, object or type', () => {
    tellSimilar(9);
    expect(tell(event('Other', 'message'))?.isAggregate).toBe(false);
    expect(tell(event('Similar', 'message', { name: 'other' }))?.isAggregate).toBe(false);
    expect(tell(event('Similar', 'message', { type: 'Warning' }))?.isAggregate).toBe(false);
    expect(tell(event('Similar', 'message'))?.isAggregate).toBe(true);
  });
});

describe('TestEventAggregatorByReasonMessageFunc', () => {
  it('says of an aggregate that it is one', () => {
    tellSimilar(9);
    expect(tell(event('Similar', 'the last'))?.event.message).toBe('(combined from similar events): the last');
  });

  it('keeps the message of an aggregate within bounds', () => {
    tellSimilar(9);
    const { event: told } = tell(event('Similar', 'x'.repeat(1024))) as Correlation;
    expect(Buffer.byteLength(told.message)).toBeLessThanOrEqual(1024);
  });
});

describe('TestEventCorrelator', () => {
  it('create-a-single-event', () => {
    expect(tell(event('First', 'i am first'))).toMatchObject({ isRepeated: false, event: { count: 1 } });
  });

  it('the-same-event-should-just-count', () => {
    const first = tell(event('Duplicate', 'me again'), 5);
    const second = tell(event('Duplicate', 'me again'));
    expect(second).toMatchObject({ isRepeated: true, isAggregate: false, event: { count: 2 } });
    expect(second?.event.metadata).toEqual(first?.event.metadata);
    expect(second?.event.firstTimestamp).toBe(first?.event.firstTimestamp);
    expect(second?.event.lastTimestamp).not.toBe(first?.event.lastTimestamp);
  });

  it('the-same-event-should-just-count-even-if-more-than-aggregate', () => {
    for (let index = 0; index < 10; index += 1) tell(event('Duplicate', 'me again'), 30);
    expect(tell(event('Duplicate', 'me again'))).toMatchObject({ isAggregate: false, event: { count: 11 } });
  });

  it('the-same-event-is-spam-if-happens-too-frequently', () => {
    for (let index = 0; index < 26; index += 1) tell(event('Duplicate', 'me again'), 1);
    expect(tell(event('Duplicate', 'me again'))).toBeUndefined();
  });

  it('create-many-unique-events', () => {
    for (let index = 0; index < 30; index += 1) tell(event(`Reason${index}`, 'me', { name: `pod-${index}` }), 5);
    expect(tell(event('Unique', 'snowflake'))).toMatchObject({ isRepeated: false, event: { count: 1 } });
  });

  it('similar-events-should-aggregate-event', () => {
    tellSimilar(9, 5);
    expect(tell(event('Similar', 'similar'))).toMatchObject({
      isAggregate: true,
      isRepeated: false,
      event: { count: 1 },
    });
  });

  it('similar-events-many-times-should-count-the-aggregate', () => {
    tellSimilar(9, 5);
    const first = tell(event('Similar', 'the tenth'), 5);
    const second = tell(event('Similar', 'the eleventh'));
    expect(second).toMatchObject({ isAggregate: true, isRepeated: true, event: { count: 2 } });
    expect(second?.event.metadata.name).toBe(first?.event.metadata.name);
    expect(second?.event.message).toContain('the eleventh');
  });

  it('similar-events-whose-interval-is-greater-than-aggregate-interval-do-not-aggregate', () => {
    tellSimilar(9, 601);
    expect(tell(event('Similar', 'similar'))).toMatchObject({ isAggregate: false, event: { count: 1 } });
  });
});

describe('TestEventSpamFilter', () => {
  function exhaust(): void {
    for (let index = 0; index < 25; index += 1) expect(tell(event(`Reason${index}`, 'message'))).toBeDefined();
  }

  it('counts by source, object and type, whatever reason and message', () => {
    exhaust();
    expect(tell(event('Another', 'message'))).toBeUndefined();
    expect(tell(event('Another', 'message', { type: 'Warning' }))).toBeDefined();
    expect(tell(event('Another', 'message', { name: 'other' }))).toBeDefined();
  });

  it('lets one more through every 5 minutes', () => {
    exhaust();
    vi.advanceTimersByTime(299_000);
    expect(tell(event('Early', 'message'))).toBeUndefined();
    vi.advanceTimersByTime(1000);
    expect(tell(event('InTime', 'message'))).toBeDefined();
    expect(tell(event('TooMany', 'message'))).toBeUndefined();
  });

  it('never lets more than 25 through at once, however long it was quiet', () => {
    exhaust();
    vi.advanceTimersByTime(24 * 3600 * 1000);
    exhaust();
    expect(tell(event('Another', 'message'))).toBeUndefined();
  });

  it('counts what it keeps back', () => {
    for (let index = 0; index < 30; index += 1) tell(event('Duplicate', 'me again'));
    vi.advanceTimersByTime(300_000);
    expect(tell(event('Duplicate', 'me again'))?.event.count).toBe(31);
  });
});

it('forgets what was longest not told when there are very many objects', () => {
  const again = (name: string) => tell(event('Duplicate', 'me again', { name }))?.event.count;
  again('first');
  again('second');
  for (let index = 0; index < 4094; index += 1) again(`pod-${index}`);
  expect(again('first')).toBe(2);
  again('one more');
  expect(again('first')).toBe(3);
  expect(again('second')).toBe(1);
});
