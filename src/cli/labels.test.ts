import { describe, expect, it } from 'vitest';
import { parseLabels } from './labels.ts';

describe('labels on the command line', () => {
  it.each<[string, Record<string, string>]>([
    ['', {}],
    ['region=eu', { region: 'eu' }],
    ['region=eu,tier=prod', { region: 'eu', tier: 'prod' }],
    ['region=eu,', { region: 'eu' }],
    ['example.org/empty=', { 'example.org/empty': '' }],
  ])('%j are read', (text, expected) => {
    expect(parseLabels(text)).toEqual(expected);
  });

  it.each([['region'], ['=eu'], ['a=b=c'], ['region=eu,tier']])('%j are refused, naming the pair', (text) => {
    const pair = text.split(',').at(-1);
    expect(() => parseLabels(text)).toThrow(`--labels: "${pair}" is not KEY=VALUE`);
  });
});
