import type { ClusterName } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';

/** How one cluster is doing with one federated object, as the cluster's worker reported it last. */
export interface StatusRow {
  /** The revision that the report is about; empty for a withdrawal. */
  readonly targetRevision: string;
  readonly state: 'Synced' | 'OutOfDate' | 'Conflict' | 'Blocked' | 'Removed';
  /** The member object's own phase, when it has one for the generation that was applied. */
  readonly phase?: string;
  /** The figures of the member object that are shown on the hub. */
  readonly observed?: Readonly<Record<string, string | number>>;
  readonly reason: string;
  readonly message: string;
}

/** Where the members' workers leave their reports for the hub's worker. A hint: a lost row is reported again. */
export interface StatusRows {
  /** The rows of an object (by UID), by cluster. */
  read(uid: string): Promise<ReadonlyMap<ClusterName, StatusRow>>;
  /** Replaces one row. @returns whether it differs from what was there */
  report(uid: string, cluster: ClusterName, row: StatusRow): Promise<boolean>;
  /** Forgets the rows of some clusters. */
  forget(uid: string, clusters: readonly ClusterName[]): Promise<void>;
  /** Forgets an object. */
  drop(uid: string): Promise<void>;
}

/** Sets a field only when its value changes; answers 1 when it did. */
const REPORT = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`;

/** {@link StatusRows} as one Redis hash per object: `<prefix>:{rows:<uid>}`, field = cluster, value = JSON. */
export class RedisStatusRows implements StatusRows {
  readonly #redis: RedisConnections;

  constructor(redis: RedisConnections) {
    this.#redis = redis;
  }

  async read(uid: string): Promise<ReadonlyMap<ClusterName, StatusRow>> {
    const fields = await this.#redis.producer().hgetall(this.#key(uid));
    const rows = Object.entries(fields).map(([cluster, text]): [ClusterName, StatusRow | undefined] => [
      cluster,
      parseRow(text),
    ]);
    return new Map(rows.filter((entry): entry is [ClusterName, StatusRow] => entry[1] !== undefined));
  }

  async report(uid: string, cluster: ClusterName, row: StatusRow): Promise<boolean> {
    const changed = await this.#redis.producer().eval(REPORT, 1, this.#key(uid), cluster, JSON.stringify(row));
    return changed === 1;
  }

  async forget(uid: string, clusters: readonly ClusterName[]): Promise<void> {
    if (clusters.length > 0) await this.#redis.producer().hdel(this.#key(uid), ...clusters);
  }

  async drop(uid: string): Promise<void> {
    await this.#redis.producer().del(this.#key(uid));
  }

  #key(uid: string): string {
    return `${this.#redis.prefix}:{rows:${uid}}`;
  }
}

/** Redis is not trusted: a text that is no row counts as none, and its cluster reports again. */
export function parseRow(text: string): StatusRow | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRow(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const states: readonly unknown[] = [
  'Synced',
  'OutOfDate',
  'Conflict',
  'Blocked',
  'Removed',
] satisfies StatusRow['state'][];

function isRow(value: unknown): value is StatusRow {
  if (typeof value !== 'object' || value === null) return false;
  const { targetRevision, state, reason, message, phase = '', observed = {} } = value as Record<string, unknown>;
  const texts = [targetRevision, reason, message, phase].every((text) => typeof text === 'string');
  return texts && states.includes(state) && isFigures(observed);
}

function isFigures(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((figure) => typeof figure === 'string' || typeof figure === 'number');
}
