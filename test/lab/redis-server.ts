import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { Service } from './service.ts';

/** A Redis that keeps nothing on disk, refuses to evict and wants a password: as Atoll wants it, and empty when restarted. */
export async function createRedis(
  directory: string,
  program: string,
): Promise<{ readonly service: Service; readonly url: string }> {
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  const folder = join(directory, 'redis');
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, 'redis.conf');
  await writeFile(
    configuration,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `requirepass ${password}`,
      `dir ${folder}`,
      'save ""',
      'appendonly no',
      'maxmemory-policy noeviction',
    ].join('\n'),
    { mode: 0o600 },
  );
  const service = new Service({
    name: 'redis',
    command: program,
    args: [configuration],
    log: join(directory, 'logs', 'redis.log'),
    ready: async () => checkAnswer(port, password),
  });
  return { service, url: `redis://:${password}@127.0.0.1:${port}` };
}

async function checkAnswer(port: number, password: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`AUTH ${password}\r\nPING\r\n`);
    let answer = '';
    while (!answer.endsWith('+PONG\r\n')) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      answer += chunk.toString();
      if (answer.includes('-')) throw new Error(`redis-server answers ${answer.trim()}`);
    }
  } finally {
    socket.destroy();
  }
}
