import { AtollError } from '../kernel/index.ts';

/**
 * Where the highest epoch of each shard is recorded for good: the judge when Redis elects twice, or forgets.
 *
 * The guard of each method is called right before a write is sent; it throws when the replica's lease has ended.
 */
export interface EpochStore {
  /** Records a new epoch by compare-and-swap. Recording the same again is fine. @throws StaleEpochError */
  raise(shard: string, epoch: number, replica: string, guard: () => void): Promise<void>;
  /** Shows that the holder is alive. @throws StaleEpochError when it is not the holder any longer */
  heartbeat(shard: string, epoch: number, replica: string, guard: () => void): Promise<void>;
  /** Deletes the record of a shard that is no more, unless a higher epoch is recorded. */
  forget(shard: string, epoch: number, guard: () => void): Promise<void>;
}

/** A higher epoch is recorded, or the same one for another replica: whoever has this one does not hold the shard. */
export class StaleEpochError extends AtollError {
  override name = 'StaleEpochError';
  /** The epoch that is recorded. */
  readonly recorded: number;

  constructor(message: string, recorded: number) {
    super(message);
    this.recorded = recorded;
  }
}
