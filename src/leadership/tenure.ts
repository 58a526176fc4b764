import { LeaseLostError } from '../kernel/index.ts';

/** One replica's time with one shard: from its claim to its end. */
export class Tenure {
  readonly shard: string;
  readonly epoch: number;
  readonly #isLeaseAlive: () => boolean;
  /** `claimed`: not yet confirmed by the hub. `leaving`: runs may end, nothing new may begin. */
  state: 'claimed' | 'held' | 'leaving' | 'ended' = 'claimed';
  /** Whether the hub is being asked right now. */
  isRaising = false;
  /** Resolves when the tenure has been let go of, once that has begun. */
  leaving: Promise<void> | undefined;
  /** When the next heartbeat is due, on the monotonic clock. */
  nextHeartbeat = 0;

  constructor(shard: string, epoch: number, isLeaseAlive: () => boolean) {
    this.shard = shard;
    this.epoch = epoch;
    this.#isLeaseAlive = isLeaseAlive;
  }

  /** Whether the shard is held, now. */
  get isHeld(): boolean {
    return this.state === 'held' && this.#isLeaseAlive();
  }

  /** @throws LeaseLostError when the tenure has ended, or could have */
  assertAlive(): void {
    if (this.state === 'ended') throw new LeaseLostError(`shard ${this.shard} is not held any longer`);
    if (!this.#isLeaseAlive())
      throw new LeaseLostError(`shard ${this.shard} may have been taken over: its lease was not renewed in time`);
  }
}
