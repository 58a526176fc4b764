import type { RedisCluster } from '../../api/index.ts';
import { namesOf } from './names.ts';

/** Where the ConfigMap is mounted. */
export const CONFIGURATION_DIRECTORY = '/etc/redis';
/** Where Redis keeps its data. */
export const DATA_DIRECTORY = '/data';

/** What may be changed by `spec.config`. */
const DEFAULTS: Readonly<Record<string, string>> = { appendonly: 'yes', appendfsync: 'everysec' };

/** What the StatefulSet relies on. Last in the file, because Redis takes the last of two values. */
const REQUIRED: Readonly<Record<string, string>> = {
  bind: '* -::*',
  daemonize: 'no',
  dir: DATA_DIRECTORY,
  port: '6379',
  'protected-mode': 'no',
};

/** The files of the ConfigMap: Redis' own configuration, and the script that starts a pod in its role. */
export function configurationFiles(cluster: RedisCluster): Readonly<Record<string, string>> {
  return { 'redis.conf': redisConf(cluster), 'start.sh': startScript(cluster) };
}

function redisConf(cluster: RedisCluster): string {
  const adjustable = Object.entries({ ...DEFAULTS, ...cluster.spec.config }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [...adjustable, ...Object.entries(REQUIRED)].map(([name, value]) => `${name} ${value}\n`).join('');
}

/** A pod's host name is its own name, so that each knows whether it is the master. */
function startScript(cluster: RedisCluster): string {
  const { master, headlessService } = namesOf(cluster);
  const address = `${master}.${headlessService}.${cluster.metadata.namespace ?? ''}.svc`;
  return `#!/bin/sh
set -eu
if [ "$(hostname)" = "${master}" ]; then
  exec redis-server ${CONFIGURATION_DIRECTORY}/redis.conf
fi
exec redis-server ${CONFIGURATION_DIRECTORY}/redis.conf --replicaof ${address} 6379
`;
}
