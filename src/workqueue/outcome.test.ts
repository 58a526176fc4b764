import { describe, expect, it } from 'vitest';
import { done, LeaseLostError, requeueAfter, TerminalError, WaitingError } from '../kernel/index.ts';
import { outcomeOfError, outcomeOfResult } from './outcome.ts';

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
});
