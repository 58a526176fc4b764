import { assert, constant, constantFrom, dictionary, property, record, string, tuple, uniqueArray } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePlacement } from './placement.ts';
import type { PlacementCandidate } from './placement.ts';

const eu1 = { name: 'eu-1', labels: { region: 'eu', tier: 'prod' } };
const eu2 = { name: 'eu-2', labels: { region: 'eu', tier: 'dev' } };
const us1 = { name: 'us-1', labels: { region: 'us', tier: 'prod' } };
const members = [us1, eu2, eu1];

type Placement = Parameters<typeof decidePlacement>[0];

function placedOn(placement: Placement, candidates: readonly PlacementCandidate[] = members): string[] {
  return decidePlacement(placement, candidates)
    .filter(({ placed }) => placed)
    .map(({ cluster }) => cluster);
}

describe('a placement', () => {
  it.each<[string, Placement, string[]]>([
    ['without names and selector is nowhere', {}, []],
    ['with an empty selector is everywhere', { selector: {} }, ['eu-1', 'eu-2', 'us-1']],
    ['with names is there', { clusters: ['us-1', 'eu-1'] }, ['eu-1', 'us-1']],
    ['with a selector is where its labels match', { selector: { matchLabels: { tier: 'prod' } } }, ['eu-1', 'us-1']],
    [
      'with both is where either says',
      { clusters: ['eu-2'], selector: { matchLabels: { region: 'us' } } },
      ['eu-2', 'us-1'],
    ],
    ['leaves out what it excludes, though it is named', { clusters: ['eu-1', 'us-1'], exclude: ['eu-1'] }, ['us-1']],
    ['leaves out what it excludes, though it is selected', { selector: {}, exclude: ['eu-1', 'eu-2'] }, ['us-1']],
    ['may exclude a cluster that does not exist', { selector: {}, exclude: ['ap-1'] }, ['eu-1', 'eu-2', 'us-1']],
  ])('%s', (_, placement, expected) => {
    expect(placedOn(placement)).toEqual(expected);
  });

  it('says of every cluster why it is placed or not, sorted by name', () => {
    const placement = { clusters: ['us-1', 'ap-1'], selector: { matchLabels: { region: 'eu' } }, exclude: ['eu-2'] };
    expect(decidePlacement(placement, members)).toEqual([
      { cluster: 'ap-1', placed: false, reason: 'UnknownCluster' },
      { cluster: 'eu-1', placed: true, reason: 'Selected' },
      { cluster: 'eu-2', placed: false, reason: 'Excluded' },
      { cluster: 'us-1', placed: true, reason: 'Named' },
    ]);
    expect(decidePlacement({}, [eu1])).toEqual([{ cluster: 'eu-1', placed: false, reason: 'NotSelected' }]);
  });
});

const labels = dictionary(constantFrom('region', 'tier', 'zone'), constantFrom('a', 'b'));
const clusterNames = uniqueArray(constantFrom<string[]>('c1', 'c2', 'c3', 'c4', 'c5'));
const candidates = clusterNames.chain((names) =>
  tuple(...names.map((name) => record({ name: constant(name), labels }))),
);
const placements: Arbitrary<Placement> = record(
  { clusters: clusterNames, exclude: clusterNames, selector: record({ matchLabels: labels }) },
  { requiredKeys: [] },
);

describe('any placement', () => {
  it('decides once for every member and every name, in the order of their names', () => {
    assert(
      property(placements, candidates, (placement, clusters) => {
        const decided = decidePlacement(placement, clusters).map(({ cluster }) => cluster);
        const all = new Set([...clusters.map(({ name }) => name), ...(placement.clusters ?? [])]);
        expect(decided).toEqual([...all].toSorted());
      }),
    );
  });

  it('never is on a cluster that it excludes, or on one that is no member', () => {
    assert(
      property(placements, candidates, (placement, clusters) => {
        const names = clusters.map(({ name }) => name);
        const placed = placedOn(placement, clusters);
        expect(placed.filter((name) => placement.exclude?.includes(name) || !names.includes(name))).toEqual([]);
      }),
    );
  });

  it('does not move when a label changes that it does not look at', () => {
    assert(
      property(placements, candidates, string(), (placement, clusters, value) => {
        const changed = clusters.map(({ name, labels: before }) => ({
          name,
          labels: { ...before, 'unrelated.example/x': value },
        }));
        expect(decidePlacement(placement, changed)).toEqual(decidePlacement(placement, clusters));
      }),
    );
  });

  it('does not depend on the order in which the members come', () => {
    assert(
      property(placements, candidates, (placement, clusters) => {
        expect(decidePlacement(placement, clusters.toReversed())).toEqual(decidePlacement(placement, clusters));
      }),
    );
  });
});
