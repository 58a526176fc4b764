import { describe, expect, it } from 'vitest';
import { parseRow } from './status-rows.ts';
import type { StatusRow } from './status-rows.ts';

const row: StatusRow = { targetRevision: 'r1', state: 'Synced', reason: 'Synced', message: '' };

describe('a row in Redis', () => {
  it.each<[string, StatusRow]>([
    ['with nothing but a verdict', row],
    ['with phase and figures', { ...row, phase: 'Running', observed: { readyReplicas: 3, currentVersion: '8.2' } }],
    ['that reports a removal', { ...row, targetRevision: '', state: 'Removed' }],
  ])('%s is read as it was written', (_, written) => {
    expect(parseRow(JSON.stringify(written))).toEqual(written);
  });

  it.each<[string, string]>([
    ['that is no JSON', '{'],
    ['that is no object', '[1]'],
    ['that is null', 'null'],
    ['without a verdict', '{}'],
    ['with an unknown state', JSON.stringify({ ...row, state: 'Fine' })],
    ['with a message that is no text', JSON.stringify({ ...row, message: {} })],
    ['with a phase that is no text', JSON.stringify({ ...row, phase: 1 })],
    ['with figures that are none', JSON.stringify({ ...row, observed: { readyReplicas: {} } })],
  ])('%s counts as none', (_, text) => {
    expect(parseRow(text)).toBeUndefined();
  });
});
