import { beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../kubernetes/index.ts';
import type { FoundConnection } from './connection.ts';
import { MemberConnection } from './member-connection.ts';

const found = (token: string, server = 'https://eu-1'): FoundConnection => ({
  connection: { server, token },
  fingerprint: `${server} ${token}`,
});

let live: FoundConnection;
let verified: Connection[];
let refusal: Error | undefined;
let changes: number;
let connection: MemberConnection;

beforeEach(() => {
  live = found('first');
  verified = [];
  refusal = undefined;
  changes = 0;
  connection = new MemberConnection({
    found: live,
    readAnew: () => Promise.resolve(live),
    verify: (candidate) => {
      verified.push(candidate);
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    },
  });
  connection.onChange(() => (changes += 1));
});

describe('the connection of a member', () => {
  it('changes when the cluster has said with the new one who it is, and tells', async () => {
    const second = found('second');
    await connection.adopt(second);
    expect(verified).toEqual([second.connection]);
    expect([connection.current(), connection.fingerprint, changes]).toEqual([second.connection, second.fingerprint, 1]);
  });

  it('stays when the cluster is another one, or cannot be asked', async () => {
    const before = connection.current();
    refusal = new Error('another cluster');
    await expect(connection.adopt(found('second'))).rejects.toThrow('another cluster');
    expect([connection.current(), changes]).toEqual([before, 0]);
  });

  it('is what the Secret holds after a refusal', async () => {
    live = found('second');
    await connection.refresh();
    expect(connection.current()).toBe(live.connection);
    await connection.refresh();
    expect(verified).toHaveLength(1);
  });

  it('does not go over to another server after a refusal', async () => {
    live = found('second', 'https://us-1');
    await connection.refresh();
    expect(connection.current().server).toBe('https://eu-1');
    expect(verified).toEqual([]);
  });

  it('tells nobody who has stopped listening', async () => {
    const stop = connection.onChange(() => (changes += 100));
    stop();
    await connection.adopt(found('second'));
    expect(changes).toBe(1);
  });
});
