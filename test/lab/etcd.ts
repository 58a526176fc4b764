import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { Service } from './service.ts';

/** One etcd for all clusters of the lab; each keeps its objects under its own prefix. */
export async function createEtcd(
  directory: string,
  program: string,
): Promise<{ readonly service: Service; readonly url: string }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const service = new Service({
    name: 'etcd',
    command: program,
    args: [
      '--name=lab',
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=lab=${peerUrl}`,
      '--log-level=warn',
      // A lab that loses power is started anew, so nothing needs to reach the disk.
      '--unsafe-no-fsync',
    ],
    log: join(directory, 'logs', 'etcd.log'),
    ready: async () => checkHealth(url),
  });
  return { service, url };
}

async function checkHealth(url: string): Promise<void> {
  const [response] = (await once(get(`${url}/readyz`), 'response')) as [IncomingMessage];
  response.resume();
  if (response.statusCode !== 200) throw new Error(`etcd answers ${response.statusCode}`);
}
