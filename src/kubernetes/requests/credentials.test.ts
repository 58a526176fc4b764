import { beforeEach, describe, expect, test } from 'vitest';
import { RecordingLogger } from '../../../test/support/recording-logger.ts';
import { systemClock } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import type { Connection } from '../connection/connection.ts';
import { CredentialStore } from './credentials.ts';
import type { Answer } from '../transport/exchange.ts';

const answer: Answer = { status: 401, header: () => undefined, text: 'Unauthorized' };

let now: number;
let connection: Connection;
let refreshes: number;
let onRefresh: () => Promise<void>;
let logger: RecordingLogger;
let store: CredentialStore;

beforeEach(() => {
  now = 0;
  refreshes = 0;
  connection = { server: 'https://eu-1', token: 'first' };
  onRefresh = () => Promise.resolve();
  logger = new RecordingLogger();
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const refresh = (): Promise<void> => {
    refreshes += 1;
    return onRefresh();
  };
  store = new CredentialStore({ source: { current: () => connection, refresh }, clock, random: () => 0, logger });
});

describe('refused credentials', () => {
  test('are read anew, once for all who were refused at the same time', async () => {
    const refused = await store.current();
    onRefresh = async () => {
      await Promise.resolve();
      connection = { ...connection, token: 'second' };
    };
    const worth = await Promise.all([store.refused(refused, answer), store.refused(refused, answer)]);
    expect(worth).toEqual([true, true]);
    expect(refreshes).toBe(1);
    expect(await store.current()).toMatchObject({ token: 'second' });
  });

  test('that others have replaced meanwhile are not read again', async () => {
    const refused = await store.current();
    connection = { ...connection, token: 'second' };
    expect(await store.refused(refused, answer)).toBe(true);
    expect(refreshes).toBe(0);
  });

  test('are read anew every ten seconds at most', async () => {
    const refused = await store.current();
    for (let index = 0; index < 10; index += 1) await store.refused(refused, answer);
    expect(refreshes).toBe(1);
    now = 10_000;
    await store.refused(refused, answer);
    expect(refreshes).toBe(2);
  });

  test('that stay are not tried for a second, then for longer, up to half a minute', async () => {
    const refused = await store.current();
    const pauses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      await store.refused(refused, answer);
      const since = now;
      while (store.refusalOf(refused) === answer) now += 500;
      pauses.push(now - since);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    store.accepted();
    await store.refused(refused, answer);
    now += 1000;
    expect(store.refusalOf(refused)).toBeUndefined();
  });

  test('do not speak for others', async () => {
    await store.refused(await store.current(), answer);
    connection = { ...connection, token: 'second' };
    expect(store.refusalOf(await store.current())).toBeUndefined();
  });

  test('that cannot be read anew stand, and that is logged', async () => {
    onRefresh = () => Promise.reject(new Error('the hub is away'));
    expect(await store.refused(await store.current(), answer)).toBe(false);
    expect(logger.lines).toMatchObject([{ level: 'warn', message: 'credentials could not be read anew' }]);
  });
});

test('a token that is asked for each time is compared by what it is', async () => {
  let token = 'first';
  connection = { server: 'https://eu-1', token: () => token };
  const refused = await store.current();
  expect(await store.refused(refused, answer)).toBe(false);
  token = 'second';
  expect(await store.refused(refused, answer)).toBe(true);
});
