import { describe, expect, it } from 'vitest';

import { customResourceDefinition, federatedRedisClusterKind, publishedKinds } from './index.ts';
import type { PublishedKind, StructuralSchema } from './index.ts';

function schemaOf(kind: PublishedKind): StructuralSchema {
  const [version] = customResourceDefinition(kind).spec.versions;
  return version?.schema.openAPIV3Schema ?? {};
}

/** Every schema below one, by its path. */
function walk(schema: StructuralSchema, path = ''): [string, StructuralSchema][] {
  const below = [
    ...Object.entries(schema.properties ?? {}).map(([name, field]): [string, StructuralSchema] => [`.${name}`, field]),
    ...(schema.items ? [['[]', schema.items] as [string, StructuralSchema]] : []),
    ...(schema.additionalProperties ? [['{}', schema.additionalProperties] as [string, StructuralSchema]] : []),
  ];
  return below.flatMap(([step, field]) => [
    [path + step, field] as [string, StructuralSchema],
    ...walk(field, path + step),
  ]);
}

function fieldOf(kind: PublishedKind, path: string): StructuralSchema | undefined {
  return new Map(walk(schemaOf(kind))).get(path);
}

describe.each(publishedKinds.map((kind) => [kind.gvk.kind, kind] as const))('the CRD of %s', (_, kind) => {
  it('is the same every time', () => {
    expect(JSON.stringify(customResourceDefinition(kind))).toBe(JSON.stringify(customResourceDefinition(kind)));
  });

  it('describes every field', () => {
    const silent = walk(schemaOf(kind)).filter(
      ([path, { description }]) => path !== '.metadata' && !/(\[\]|\{\})$/.test(path) && !description,
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  it('gives every field a type, or leaves it open on purpose', () => {
    const untyped = walk(schemaOf(kind)).filter(
      ([, schema]) =>
        schema.type === undefined &&
        schema['x-kubernetes-int-or-string'] !== true &&
        schema['x-kubernetes-preserve-unknown-fields'] !== true,
    );
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  it('contains nothing that is meant for Atoll only', () => {
    expect(JSON.stringify(customResourceDefinition(kind))).not.toContain('x-atoll');
  });

  it('starts with an observedGeneration of -1, so that it is not taken for reconciled', () => {
    expect(fieldOf(kind, '.status')?.default).toEqual({});
    expect(fieldOf(kind, '.status.observedGeneration')?.default).toBe(-1);
  });

  it('has a status subresource, short names and the category of Atoll', () => {
    const { names, versions } = customResourceDefinition(kind).spec;
    expect(versions.map(({ subresources }) => subresources)).toEqual([{ status: {} }]);
    expect(names['shortNames']).toHaveLength(1);
    expect(names['categories']).toEqual(['federation']);
  });
});

describe('the CRD of a federated kind', () => {
  it('leaves the defaults of the template to the members, and says so', () => {
    const template = walk(schemaOf(federatedRedisClusterKind)).filter(([path]) => path.startsWith('.spec.template'));
    expect(template.filter(([, schema]) => 'default' in schema)).toEqual([]);
    expect(fieldOf(federatedRedisClusterKind, '.spec.template.spec.replicas')?.description).toContain(
      "The member's default is 3.",
    );
  });

  it('keeps the defaults of its own fields', () => {
    expect(fieldOf(federatedRedisClusterKind, '.spec.revisionHistoryLimit')?.default).toBe(10);
    expect(fieldOf(federatedRedisClusterKind, '.spec.policy.deletion.policy')?.default).toBe('Delete');
  });

  it('keeps the rules of the target inside the template', () => {
    expect(
      fieldOf(federatedRedisClusterKind, '.spec.template.spec.storage.size')?.['x-kubernetes-validations'],
    ).toEqual([{ rule: 'self == oldSelf', message: 'cannot be changed after creation' }]);
  });

  it('keeps the rows of its status as one list, written whole', () => {
    expect(fieldOf(federatedRedisClusterKind, '.status.placements')?.['x-kubernetes-list-type']).toBe('atomic');
    expect(fieldOf(federatedRedisClusterKind, '.status.conditions')?.['x-kubernetes-list-map-keys']).toEqual(['type']);
  });
});
