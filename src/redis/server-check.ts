/** The lines of `INFO` as ioredis' ready check reads them. */
export type ServerInfo = Readonly<Record<string, string | undefined>>;

/** The oldest Redis with `ZADD LT` in its documented form. */
const OLDEST = [6, 2] as const;

/** Why an address is refused before anything is sent to it; undefined when it is not. Never contains the URL. */
export function refuseUrl(url: string, allowNoPassword: boolean): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !['redis:', 'rediss:'].includes(parsed.protocol)) {
    return 'the Redis URL must begin with redis:// or rediss://';
  }
  if (parsed.password === '' && !allowNoPassword) {
    return 'the Redis URL has no password: a Redis that anybody can write to is refused unless that is allowed for development';
  }
  return undefined;
}

/** Why a server is refused; undefined when it is fit. */
export function refuseServer(info: ServerInfo): string | undefined {
  const { redis_version: version, maxmemory_policy: policy, role } = info;
  if (version === undefined || policy === undefined) {
    return 'Redis does not answer INFO with its version and maxmemory_policy: the user needs the permission +info';
  }
  if (isOlder(version)) return `Redis ${version} is too old: ${OLDEST.join('.')} or newer is needed`;
  if (policy !== 'noeviction') return `Redis evicts keys (maxmemory-policy ${policy}): it must be noeviction`;
  if (role === 'slave') return 'Redis is a read-only replica';
  return undefined;
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
