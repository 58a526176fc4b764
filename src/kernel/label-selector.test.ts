import { describe, expect, it } from 'vitest';
import { matchesLabels } from './label-selector.ts';
import type { LabelRequirement, LabelSelector } from './label-selector.ts';

describe('a label selector', () => {
  it.each<[string, LabelSelector, boolean]>([
    ['that is empty matches everything', {}, true],
    ['needs every label', { matchLabels: { region: 'eu', tier: 'dev' } }, false],
    ['In holds for one of the values', expression('region', 'In', ['us', 'eu']), true],
    ['In does not hold for another value', expression('region', 'In', ['us']), false],
    ['In does not hold for an absent label', expression('zone', 'In', ['a']), false],
    ['NotIn does not hold for one of the values', expression('region', 'NotIn', ['eu']), false],
    ['NotIn holds for another value', expression('region', 'NotIn', ['us']), true],
    ['NotIn holds for an absent label', expression('zone', 'NotIn', ['a']), true],
    ['Exists holds for a label that is there', expression('tier', 'Exists'), true],
    ['Exists does not hold for an absent label', expression('zone', 'Exists'), false],
    ['DoesNotExist holds for an absent label', expression('zone', 'DoesNotExist'), true],
    ['DoesNotExist does not hold for a label that is there', expression('tier', 'DoesNotExist'), false],
    ['does not take what every object inherits for a label', expression('constructor', 'Exists'), false],
    ['needs labels and expressions', { ...expression('tier', 'Exists'), matchLabels: { region: 'us' } }, false],
  ])('%s', (_, selector, expected) => {
    expect(matchesLabels(selector, { region: 'eu', tier: 'prod' })).toBe(expected);
  });
});

function expression(key: string, operator: LabelRequirement['operator'], values?: readonly string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, ...(values !== undefined && { values }) }] };
}
