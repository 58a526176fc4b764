import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError, describeEnvironment, readConfig } from './index.ts';

const least = { ATOLL_REDIS_URL: 'redis://:secret@127.0.0.1:6379', ATOLL_HUB_KUBECONFIG: 'hub.kubeconfig' };

describe('readConfig', () => {
  it('needs nothing but Redis and fills in client-go’s lease times', () => {
    const config = readConfig(least);
    expect(config.lease).toEqual({ duration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 });
    expect(config.namespace).toBe('atoll-system');
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    ['a missing Redis', {}, /ATOLL_REDIS_URL/],
    ['an address that is not Redis', { ATOLL_REDIS_URL: 'http://127.0.0.1' }, /ATOLL_REDIS_URL/],
    ['a duration without a unit', { ...least, ATOLL_LEASE_DURATION: '15' }, /ATOLL_LEASE_DURATION/],
    ['a port out of range', { ...least, ATOLL_HEALTH_PORT: '70000' }, /ATOLL_HEALTH_PORT/],
    ['a lease shorter than its renew deadline', { ...least, ATOLL_LEASE_DURATION: '5s' }, /ATOLL_LEASE_DURATION/],
    ['half a client certificate for Redis', { ...least, ATOLL_REDIS_CERT_FILE: '/x.pem' }, /ATOLL_REDIS_KEY_FILE/],
    ['a CA file that is not there', { ...least, ATOLL_REDIS_CA_FILE: '/no/ca.pem' }, /ATOLL_REDIS_CA_FILE: \/no\/ca/],
    ['nodes that are URLs', { ...least, ATOLL_REDIS_NODES: 'redis://two:6379' }, /ATOLL_REDIS_NODES/],
    ['certificate checks switched off', { ...least, NODE_TLS_REJECT_UNAUTHORIZED: '0' }, /NODE_TLS/],
  ])('refuses %s by its name', (_, environment, message) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(message);
  });

  it('reads the files that Redis is reached with, and its further nodes', () => {
    const ca = fileURLToPath(import.meta.url);
    const { redis } = readConfig({
      ...least,
      ATOLL_REDIS_MODE: 'sentinel',
      ATOLL_REDIS_NODES: 'two:26379,three:26379',
      ATOLL_REDIS_CA_FILE: ca,
    });
    expect(redis).toMatchObject({ mode: 'sentinel', nodes: ['two:26379', 'three:26379'] });
    expect(redis.tls.ca).toBe(readFileSync(ca, 'utf8'));
  });

  it('names every bad variable at once', () => {
    expect(() => readConfig({ ATOLL_HEALTH_PORT: 'x', ATOLL_LOG_LEVEL: 'loud' })).toThrow(
      /ATOLL_REDIS_URL[^]*ATOLL_HEALTH_PORT[^]*ATOLL_LOG_LEVEL/,
    );
  });
});

describe('describeEnvironment', () => {
  it('says of every variable what it means and what it defaults to', () => {
    const variables = describeEnvironment();
    expect(variables.find(({ name }) => name === 'ATOLL_REDIS_URL')?.fallback).toBe('(required)');
    expect(variables.find(({ name }) => name === 'ATOLL_LEASE_DURATION')?.fallback).toBe('15s');
    expect(variables.filter(({ meaning }) => meaning === '')).toEqual([]);
  });
});
