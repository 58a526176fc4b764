import { describe, expect, it } from 'vitest';
import { refuseServer, refuseUrl } from './server-check.ts';

const fit = { redis_version: '7.0.15', maxmemory_policy: 'noeviction', role: 'master' };

describe('a Redis URL', () => {
  it.each([
    ['redis://:secret@localhost:6379', false, undefined],
    ['rediss://atoll:secret@redis.example:6380/2', false, undefined],
    ['redis://localhost:6379', true, undefined],
    ['redis://localhost:6379', false, 'has no password'],
    ['redis://atoll@localhost:6379', false, 'has no password'],
    ['http://:secret@localhost', false, 'must begin with redis://'],
    ['localhost:6379', true, 'must begin with redis://'],
  ])('%s, allowed without a password: %s', (url, allowNoPassword, expected) => {
    const reason = refuseUrl(url, allowNoPassword);
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(expected);
  });

  it('is never repeated in the reason', () => {
    expect(refuseUrl('http://:hunter2@localhost', false)).not.toContain('hunter2');
  });
});

describe('a Redis server', () => {
  it.each([
    ['that is fit', {}, undefined],
    ['of version 6.2.0', { redis_version: '6.2.0' }, undefined],
    ['of version 6.0.16', { redis_version: '6.0.16' }, 'too old'],
    ['of version 10.0.0', { redis_version: '10.0.0' }, undefined],
    ['that evicts', { maxmemory_policy: 'allkeys-lru' }, 'must be noeviction'],
    ['that is a replica', { role: 'slave' }, 'read-only replica'],
    ['that hides its INFO', { redis_version: undefined, maxmemory_policy: undefined }, '+info'],
  ])('%s', (_, difference, expected) => {
    const reason = refuseServer({ ...fit, ...difference });
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(expected);
  });
});
