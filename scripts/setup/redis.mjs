// A redis-server program. The lab runs its own on a free port, with a password and without files.

import { existsSync } from 'node:fs';
import { ensureDebianProgram } from './debian.mjs';

/** The path of redis-server, or undefined when `ATOLL_REDIS_URL` names one that runs already. */
export async function ensureRedis() {
  if (process.env.ATOLL_REDIS_URL) return undefined;
  return ensureDebianProgram('redis-server', 'redis-server', {
    purpose: 'to hold queues and leases (or name a running one in ATOLL_REDIS_URL)',
    afterInstall: stopService,
  });
}

/** Debian starts what it installs. Nobody asked for a Redis without a password on port 6379. */
async function stopService(asRoot) {
  if (existsSync('/run/systemd/system')) await asRoot(['systemctl', 'disable', '--now', 'redis-server']);
  else await asRoot(['/etc/init.d/redis-server', 'stop']);
}
