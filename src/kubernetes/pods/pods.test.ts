import { afterEach, beforeEach, expect, test } from 'vitest';
import { CannedServer } from '../../../test/support/canned-server.ts';
import { systemClock } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { SELF } from '../identity.ts';

const write = { identity: SELF, fieldManager: 'test', guard: () => undefined };
const pod = { namespace: 'shop', name: 'cache-0' };

/** Runs fifty times as fast. */
const clock: Clock = {
  ...systemClock,
  after: (milliseconds, callback) => systemClock.after(milliseconds / 50, callback),
};

let server: CannedServer;

beforeEach(async () => {
  server = await CannedServer.start();
  server.answer = () => undefined;
});

afterEach(async () => {
  await server.close();
});

test('a command that has not begun within the time of a write is given up: its lease may be over', async () => {
  const client = server.client({ clock });
  const call = client.pods.exec(pod, { command: ['true'] }, write);
  await expect(call).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: expect.stringContaining('within 4.5 s') as string,
  });
});

test('so is a connection to a port', async () => {
  const client = server.client({ clock });
  const call = client.pods.forwardPort(pod, 6379, write);
  await expect(call).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: expect.stringContaining('within 4.5 s') as string,
  });
});
