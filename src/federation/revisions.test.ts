import { describe, expect, it } from 'vitest';
import { federatedObject } from '../../test/support/builders.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  dataOf,
  expiredRevisions,
  isOfFormerObject,
  newRevision,
  numberOf,
  revisionData,
  revisionName,
} from './revisions.ts';

const template = { metadata: { labels: { a: '1', b: '2' } }, spec: { replicas: 3, config: { x: '1', y: '2' } } };
const override = { name: 'eu', clusters: ['eu-1'], patches: [{ op: 'replace', path: '/spec/replicas', value: 5 }] };

describe('the name of a revision', () => {
  const name = revisionName(federatedObject({ spec: { template, overrides: [override] } }));

  it('is the name of the object and a hash', () => {
    expect(name).toMatch(/^sessions-[0-9a-f]{10}$/);
  });

  it('is the same for the same content, whatever the order of its keys', () => {
    const reordered = {
      spec: { config: { y: '2', x: '1' }, replicas: 3 },
      metadata: { labels: { b: '2', a: '1' } },
    };
    expect(revisionName(federatedObject({ spec: { overrides: [override], template: reordered } }))).toBe(name);
  });

  it.each<[string, Record<string, unknown>]>([
    ['the template', { template: { ...template, spec: { replicas: 4 } }, overrides: [override] }],
    ['a label of the template', { template: { ...template, metadata: { labels: { a: '1' } } }, overrides: [override] }],
    ['an override', { template, overrides: [{ ...override, clusters: ['us-1'] }] }],
    ['the order of overrides', { template, overrides: [{ ...override, name: 'first' }, override] }],
  ])('changes with %s', (_, spec) => {
    expect(revisionName(federatedObject({ spec }))).not.toBe(name);
  });

  it('does not change with what is not the content', () => {
    const spec = {
      template,
      overrides: [override],
      placement: { selector: {} },
      suspend: true,
      revisionHistoryLimit: 1,
    };
    expect(revisionName(federatedObject({ spec, metadata: { generation: 9, labels: { any: 'thing' } } }))).toBe(name);
  });

  it('is the same without overrides and with none', () => {
    expect(revisionName(federatedObject({ spec: { template } }))).toBe(
      revisionName(federatedObject({ spec: { template, overrides: [] } })),
    );
  });
});

describe('a revision', () => {
  const object = federatedObject({ spec: { template, overrides: [override] } });
  const revision = newRevision(object, 7);

  it('gives back its number and its content', () => {
    expect(numberOf(revision)).toBe(7);
    expect(dataOf(revision)).toEqual(revisionData(object));
  });

  it('belongs to its object, so that it goes with it', () => {
    expect(revision.metadata.ownerReferences).toEqual([
      expect.objectContaining({
        kind: 'FederatedRedisCluster',
        name: 'sessions',
        uid: 'uid-of-sessions',
        controller: true,
      }),
    ]);
    expect(isOfFormerObject(revision, object)).toBe(false);
  });

  it('is a former object’s when that had the same name and another UID', () => {
    expect(isOfFormerObject(revision, federatedObject({ metadata: { uid: 'another' } }))).toBe(true);
    expect(isOfFormerObject(revision, federatedObject({ metadata: { uid: 'another', name: 'other' } }))).toBe(false);
  });
});

describe('the history of revisions', () => {
  const history = [1, 2, 3, 4, 5].map((number): KubernetesObject => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: `r${number}` },
    revision: number,
  }));

  it.each<[string, string[], number, string[]]>([
    ['keeps the newest beyond those in use', [], 2, ['r3', 'r2', 'r1']],
    ['never loses one that is in use, however old', ['r1', 'r5'], 1, ['r3', 'r2']],
    ['loses all that is not in use at a limit of 0', ['r3'], 0, ['r5', 'r4', 'r2', 'r1']],
    ['loses nothing within its limit', ['r5'], 10, []],
  ])('%s', (_, inUse, limit, expected) => {
    const shuffled = [...history.slice(2), ...history.slice(0, 2)];
    const names = expiredRevisions(shuffled, new Set(inUse), limit).map(({ metadata }) => metadata.name);
    expect(names).toEqual(expected);
  });
});
