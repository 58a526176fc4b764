import { expect, test } from 'vitest';
import { systemClock } from '../../kernel/index.ts';
import type { Connection } from '../connection/connection.ts';
import { Transports } from './transports.ts';

const first: Connection = { server: 'https://127.0.0.1:1' };
const second: Connection = { server: 'https://127.0.0.1:2' };

function open(): { transports: Transports; change: (connection: Connection) => void; listeners: Set<() => void> } {
  let connection = first;
  const listeners = new Set<() => void>();
  const source = {
    current: () => connection,
    onChange: (callback: () => void) => {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
  };
  const options = { clock: systemClock, random: () => 0, onDial: () => undefined };
  const change = (other: Connection): void => {
    connection = other;
    for (const callback of listeners) callback();
  };
  return { transports: new Transports(source, options), change, listeners };
}

test('a connection keeps its sockets, another one has its own, and so has the first when it is back', async () => {
  const { transports, change } = open();
  const transport = transports.for(first);
  expect(transports.for(first)).toBe(transport);
  change(second);
  const other = transports.for(second);
  expect(other).not.toBe(transport);
  change(first);
  expect([transport, other]).not.toContain(transports.for(first));
  await transports.close();
});

test('a change is followed without a request', async () => {
  const { transports, change } = open();
  const former = transports.for(first);
  change(second);
  await expect(former.request(request)).rejects.toMatchObject({ code: 'UND_ERR_CLOSED' });
  await transports.close();
});

test('a request that was prepared before a change goes the new way, and never to another server', async () => {
  const { transports, change } = open();
  const renewed = { ...first, token: 'renewed' };
  change(renewed);
  expect(transports.for(first)).toBe(transports.for(renewed));
  change(second);
  expect(() => transports.for(first)).toThrow('was given up for another server');
  await transports.close();
});

test('once closed, nothing is opened any more and the source is not listened to', async () => {
  const { transports, change, listeners } = open();
  const transport = transports.for(first);
  await transports.close();
  change({ ...first });
  expect(transports.for(first)).toBe(transport);
  expect(listeners.size).toBe(0);
  await expect(transport.request(request)).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
});

const request = { method: 'GET', path: '/', headers: {}, timeout: 1000, maxBytes: 1000 } as const;
