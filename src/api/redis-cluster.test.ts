import { describe, expect, it } from 'vitest';

import { validateObject, type FieldError, type ValidatedObject } from './validation.ts';

function redisCluster(spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): ValidatedObject {
  return {
    apiVersion: 'workloads.atoll.dev/v1',
    kind: 'RedisCluster',
    metadata: { name: 'sessions', namespace: 'shop', ...metadata },
    spec,
  };
}

const accepted: readonly [string, ValidatedObject][] = [
  ['everything left to its defaults', redisCluster()],
  ['quantities as numbers and as texts', redisCluster({ resources: { limits: { cpu: 2, memory: '4Gi' } } })],
  ['a name of 40 characters', redisCluster({}, { name: 'a'.repeat(40) })],
  ['nulls where fields may be absent', redisCluster({ resources: null, config: null }, { creationTimestamp: null })],
  [
    'metadata as an API server returns it',
    redisCluster({}, { uid: 'x', generation: 1, managedFields: [{ manager: 'a' }] }),
  ],
];

const refused: readonly [string, ValidatedObject, ...FieldError[]][] = [
  [
    'a misspelt field of the object itself',
    { ...redisCluster(), sepc: {} },
    { path: 'sepc', message: 'is not a field; allowed: apiVersion, kind, metadata, spec, status' },
  ],
  ['an object without a spec', { ...redisCluster(), spec: undefined }, { path: 'spec', message: 'is required' }],
  [
    'a number where a text must be',
    redisCluster({ version: 8.2 }),
    { path: 'spec.version', message: 'must be a string, not 8.2' },
  ],
  [
    'a text where an integer must be',
    redisCluster({ replicas: '3' }),
    { path: 'spec.replicas', message: 'must be an integer, not "3"' },
  ],
  [
    'a fraction of a replica',
    redisCluster({ replicas: 1.5 }),
    { path: 'spec.replicas', message: 'must be an integer, not 1.5' },
  ],
  [
    'an integer too large for a double',
    redisCluster({ replicas: 2n ** 60n }),
    {
      path: 'spec.replicas',
      message: 'must be an integer, not 1152921504606846976',
    },
  ],
  ['too many replicas', redisCluster({ replicas: 16 }), { path: 'spec.replicas', message: 'must be at most 15' }],
  ['no replicas', redisCluster({ replicas: 0 }), { path: 'spec.replicas', message: 'must be at least 1' }],
  [
    'a value that is none of the choices, naming them',
    redisCluster({ storage: { onDelete: 'Keep' } }),
    { path: 'spec.storage.onDelete', message: 'must be "Retain" or "Delete", not "Keep"' },
  ],
  [
    'a quantity with an unknown unit',
    redisCluster({ resources: { limits: { memory: '4GB' } } }),
    { path: 'spec.resources.limits.memory', message: 'must be a quantity such as 2, 500m or 4Gi' },
  ],
  [
    'a negative quantity',
    redisCluster({ storage: { size: -1 } }),
    {
      path: 'spec.storage.size',
      message: 'must be a quantity such as 2, 500m or 4Gi',
    },
  ],
  [
    'a setting that would begin a second line',
    redisCluster({ config: { maxmemory: '1gb\nport 1' } }),
    { path: 'spec.config.maxmemory', message: 'must be a single line' },
  ],
  [
    'a setting that is no name',
    redisCluster({ config: { 'max memory': '1gb' } }),
    { path: 'spec.config["max memory"]', message: 'key must be the name of a setting of redis.conf' },
  ],
  [
    'a setting that the operator needs for itself',
    redisCluster({ config: { port: '7000' } }),
    {
      path: 'spec.config',
      message: 'must not set bind, daemonize, dir, port, protected-mode, replicaof, masterauth, requirepass',
    },
  ],
  [
    'a name of 41 characters',
    redisCluster({}, { name: 'a'.repeat(41) }),
    {
      path: 'metadata.name',
      message: 'must have at most 40 characters',
    },
  ],
  [
    'a workload name that begins with a digit',
    redisCluster({}, { name: '1a' }),
    {
      path: 'metadata.name',
      message: 'must be a DNS-1035 label: lower-case letters, digits and "-", beginning with a letter',
    },
  ],
  [
    'a label that YAML made a boolean',
    redisCluster({}, { labels: { enabled: true } }),
    {
      path: 'metadata.labels.enabled',
      message: 'must be a string, not true',
    },
  ],
  ['metadata without a name', redisCluster({}, { name: undefined }), { path: 'metadata.name', message: 'is required' }],
  [
    'a misspelt field of metadata',
    redisCluster({}, { lables: {} }),
    {
      path: 'metadata.lables',
      message: expect.stringContaining('is not a field; allowed: name, namespace, labels') as string,
    },
  ],
];

describe('a RedisCluster', () => {
  it.each(accepted)('is accepted: %s', (_, object) => {
    expect(validateObject(object)).toEqual([]);
  });

  it.each(refused)('is refused: %s', (_, object, ...errors) => {
    expect(validateObject(object)).toEqual(errors);
  });
});
