import { equal } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { done, LeaseLostError, requeueAfter, TerminalError, WaitingError } from '../kernel/index.ts';
import { isPanic, outcomeOfError, outcomeOfResult } from './outcome.ts';

class RejectedError extends TerminalError {}

describe('the outcome of a run', () => {
  it.each([
    ['that is done', done, 'success', { kind: 'forget' }],
    ['that asks to come back', requeueAfter(30_000), 'requeue_after', { kind: 'requeueAfter', milliseconds: 30_000 }],
  ] as const)('%s', (_, result, label, move) => {
    expect(outcomeOfResult(result)).toEqual({ result: label, move });
  });

  it.each([
    ['that failed', new Error('refused'), 'error', { kind: 'backOff' }],
    ['that threw no error', 'refused', 'error', { kind: 'backOff' }],
    ['that cannot succeed', new TerminalError('invalid'), 'error', { kind: 'leave' }],
    ['that cannot succeed, by a narrower error', new RejectedError('invalid'), 'error', { kind: 'leave' }],
    ['that waits', new WaitingError('not there yet'), 'requeue', { kind: 'backOff' }],
    ['that lost its lease', new LeaseLostError('lost'), 'requeue', { kind: 'putBack', milliseconds: 1000 }],
  ] as const)('%s', (_, error, label, move) => {
    expect(outcomeOfError(error)).toEqual({ result: label, move });
  });

  // controller_test.go: "should recover panic"; what a panic is has no counterpart upstream.
  it.each([
    ['is a panic when it threw no error', 'refused', true],
    ['is a panic when it threw nothing', undefined, true],
    ['is a panic when the engine threw', thrownBy(() => (undefined as unknown as { a: () => void }).a()), true],
    ['is a panic when an index was out of range', thrownBy(() => [1].with(5, 0)), true],
    ['is a panic when an assertion failed', thrownBy(() => equal(1, 2)), true],
    ['is no panic when it failed', new Error('refused'), false],
    ['is no panic when it cannot succeed', new TerminalError('invalid'), false],
    ['is no panic when it waits', new WaitingError('not there yet'), false],
  ])('%s', (_, error, expected) => {
    expect(isPanic(error)).toBe(expected);
  });
});

function thrownBy(code: () => unknown): unknown {
  try {
    return code();
  } catch (error) {
    return error;
  }
}
