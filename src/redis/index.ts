import type { Redis } from 'ioredis';
import type { Clock, Logger, Metrics } from '../kernel/index.ts';

export type { Redis } from 'ioredis';

/** Where Redis is and how keys are named. */
export interface RedisOptions {
  /** redis:// or rediss://, with user and password. */
  readonly url: string;
  /** What every key begins with: "atoll". */
  readonly keyPrefix: string;
  /** Accept a Redis without a password: for development only. */
  readonly allowNoPassword: boolean;
}

export declare class RedisConnections {
  constructor(options: RedisOptions & { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics });
  readonly prefix: string;
  lease(): Redis;
  producer(): Redis;
  blocking(): Redis;
  onReady(callback: () => void): void;
  healthy(): boolean;
  lastError(): string | undefined;
  close(): Promise<void>;
}
