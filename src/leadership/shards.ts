import { errorMessage, LeaseLostError } from '../kernel/index.ts';
import type { Clock, Gauge, Logger, Metrics, Random } from '../kernel/index.ts';
import type { RedisConnections } from '../redis/index.ts';
import { assignShards } from './assignment.ts';
import { StaleEpochError } from './epoch-store.ts';
import type { EpochStore } from './epoch-store.ts';
import { ShardLeases } from './shard-leases.ts';
import type { Claim, LeaseView } from './shard-leases.ts';
import { Tenure } from './tenure.ts';

/** Durations of a lease in milliseconds: duration > renewDeadline > 1.2 · retryPeriod. */
export interface LeaseTimes {
  /** After so long without a renewal, others may take over. */
  readonly duration: number;
  /** After so long without a renewal, the holder stops itself. */
  readonly renewDeadline: number;
  /** Redis is asked every half of it. */
  readonly retryPeriod: number;
}

/** What {@link Shards} needs. */
export interface ShardsOptions {
  readonly redis: RedisConnections;
  /** Unique per start of a process. */
  readonly replica: string;
  readonly times: LeaseTimes;
  readonly epochs: EpochStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type GainedCallback = (shard: string, epoch: number) => void;
type LostCallback = (shard: string) => void | Promise<void>;

const HEARTBEAT_INTERVAL = 10_000;
/** How long after the start Redis may take to be connected before that is worth a line. */
const CONNECT_GRACE = 2000;

/** The shards that this replica holds. Give it shards only when they are known completely: others rely on it to take its share. */
export class Shards {
  readonly #options: ShardsOptions;
  readonly #leases: ShardLeases;
  readonly #masterStatus: Gauge;
  readonly #tenures = new Map<string, Tenure>();
  /** Shard → the lowest epoch that the hub accepts, and from when on it is claimed again: somebody may be holding it. */
  readonly #floors = new Map<string, { readonly epoch: number; readonly notBefore: number }>();
  readonly #gained: GainedCallback[] = [];
  readonly #lost: LostCallback[] = [];
  readonly #stopping = new AbortController();
  #shards: readonly string[] = [];
  #replicas: readonly string[] = [];
  /** The moment before the last renewal that succeeded was sent. */
  #renewedAt = -Infinity;
  #nap = new AbortController();
  #loop: Promise<void> | undefined;
  /** What is wrong, by shard (empty: with Redis), as it was logged. */
  readonly #problems = new Map<string, string>();
  /** Monotonic; connecting to Redis takes a moment that is no problem yet. */
  #startedAt = 0;
  #hasBegun = false;

  constructor(options: ShardsOptions) {
    const { duration, renewDeadline, retryPeriod } = options.times;
    if (!(duration > renewDeadline && renewDeadline > 1.2 * retryPeriod && retryPeriod > 0)) {
      throw new RangeError('lease times must be: duration > renewDeadline > 1.2 · retryPeriod > 0');
    }
    this.#options = options;
    this.#leases = new ShardLeases({ redis: options.redis, replica: options.replica, duration });
    this.#masterStatus = options.metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master',
      labelNames: ['name'],
    });
  }

  /** Says which shards there are. What is no longer among them is handed over to nobody. */
  setShards(names: readonly string[]): void {
    for (const name of this.#shards) if (!names.includes(name)) this.#masterStatus.remove({ name });
    for (const name of names) if (!this.#shards.includes(name)) this.#masterStatus.set({ name }, 0);
    this.#shards = [...names];
    this.#nap.abort();
  }

  /** Begins to hold shards. Does nothing when it has begun. */
  start(): void {
    this.#startedAt = this.#options.clock.monotonic();
    this.#loop ??= this.#run();
  }

  /** Hands everything over and gives up the lease. Ends also while Redis is down. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await Promise.all([...this.#tenures.values()].map((tenure) => this.#letGo(tenure)));
    if (this.#loop === undefined) return;
    this.#loop = undefined;
    try {
      await this.#leases.leave();
    } catch (error) {
      this.#options.logger.info('the lease could not be given up: it ends by itself', { error });
    }
  }

  holds(shard: string): boolean {
    return this.#tenures.get(shard)?.isHeld === true;
  }

  /** The epoch of the tenure, while the shard is held. */
  epoch(shard: string): number | undefined {
    const tenure = this.#tenures.get(shard);
    return tenure?.isHeld === true ? tenure.epoch : undefined;
  }

  /** For the tenure of now: throws LeaseLostError from its end on, and always when the shard is not held now. */
  guard(shard: string): () => void {
    const tenure = this.#tenures.get(shard);
    if (tenure?.isHeld === true) return () => tenure.assertAlive();
    return () => {
      throw new LeaseLostError(`shard ${shard} was not held when its guard was asked for`);
    };
  }

  onGained(callback: GainedCallback): void {
    this.#gained.push(callback);
  }

  /** A promise that is returned holds back the release of a shard that is handed over. */
  onLost(callback: LostCallback): void {
    this.#lost.push(callback);
  }

  /** The replicas that live, as of the last renewal. */
  replicas(): readonly string[] {
    return this.#replicas;
  }

  async #run(): Promise<void> {
    const { clock, random, times } = this.#options;
    while (!this.#stopping.signal.aborted) {
      this.#nap = new AbortController();
      await this.#renew();
      const pause = (times.retryPeriod / 2) * (1 + 0.2 * random());
      await clock.sleep(pause, AbortSignal.any([this.#stopping.signal, this.#nap.signal]));
    }
  }

  async #renew(): Promise<void> {
    if (!this.#isLeaseAlive()) this.#loseAll('the lease was not renewed in time');
    const sentAt = this.#options.clock.monotonic();
    try {
      const view = await this.#leases.renew();
      if (!view.wasAlive) this.#loseAll('the lease had ended in redis');
      this.#renewedAt = sentAt;
      this.#replicas = view.replicas;
      await this.#follow(view);
      this.#problems.delete('');
      this.#hasBegun = true;
    } catch (error) {
      const isConnecting = !this.#hasBegun && sentAt - this.#startedAt < CONNECT_GRACE;
      if (!isConnecting) this.#report('redis does not confirm the lease', error);
    }
    for (const tenure of this.#tenures.values()) this.#confirm(tenure);
  }

  /** Brings what is held closer to what Redis says and to what it should be. */
  async #follow({ claims, replicas }: LeaseView): Promise<void> {
    const { replica } = this.#options;
    for (const tenure of this.#tenures.values()) {
      if (!isClaimOf(claims.get(tenure.shard), replica, tenure.epoch)) this.#lose(tenure, 'redis names another owner');
    }
    const owners = new Map([...claims].map(([shard, claim]) => [shard, claim.replica]));
    const assignment = assignShards({ shards: this.#shards, replicas, owners });
    const mine = this.#shards.filter((shard) => assignment.get(shard) === replica);
    for (const tenure of this.#tenures.values()) {
      if (!mine.includes(tenure.shard) && tenure.state !== 'leaving') void this.#handOver(tenure);
    }
    await this.#releaseForgotten(claims, mine);
    await this.#claim(mine.filter((shard) => isFree(claims.get(shard), replica, replicas)));
  }

  /** Claims of which the answer got lost: nobody holds them, and nobody else can. */
  async #releaseForgotten(claims: ReadonlyMap<string, Claim>, mine: readonly string[]): Promise<void> {
    for (const [shard, claim] of claims) {
      if (claim.replica !== this.#options.replica || this.#tenures.has(shard) || mine.includes(shard)) continue;
      await this.#release(shard, claim.epoch);
    }
  }

  /** Others may claim from here on. Of a shard that is no more, nothing stays on the hub. */
  async #release(shard: string, epoch: number): Promise<void> {
    const isGone = !this.#shards.includes(shard);
    if (isGone) await this.#options.epochs.forget(shard, epoch, () => this.#assertLeaseAlive(shard));
    await this.#leases.release(shard, epoch, isGone);
  }

  async #claim(shards: readonly string[]): Promise<void> {
    const now = this.#options.clock.monotonic();
    const wanted = new Map<string, number>();
    for (const shard of shards) {
      const { epoch, notBefore } = this.#floors.get(shard) ?? { epoch: 0, notBefore: 0 };
      if (!this.#tenures.has(shard) && notBefore <= now) wanted.set(shard, epoch);
    }
    if (wanted.size === 0) return;
    for (const [shard, epoch] of await this.#leases.claim(wanted)) {
      this.#tenures.set(shard, new Tenure(shard, epoch, () => this.#isLeaseAlive()));
    }
  }

  /** Asks the hub, or shows it that the holder is alive. */
  #confirm(tenure: Tenure): void {
    const now = this.#options.clock.monotonic();
    if (tenure.state === 'claimed' && !tenure.isRaising) void this.#raise(tenure);
    if (!tenure.isHeld || tenure.nextHeartbeat > now) return;
    tenure.nextHeartbeat = now + HEARTBEAT_INTERVAL;
    void this.#heartbeat(tenure);
  }

  async #raise(tenure: Tenure): Promise<void> {
    const { epochs, replica } = this.#options;
    tenure.isRaising = true;
    try {
      await epochs.raise(tenure.shard, tenure.epoch, replica, () => tenure.assertAlive());
      tenure.assertAlive();
    } catch (error) {
      return this.#refused(tenure, error, 'the hub does not confirm the epoch of a shard');
    } finally {
      tenure.isRaising = false;
    }
    if (tenure.state === 'claimed') this.#gain(tenure);
  }

  #gain(tenure: Tenure): void {
    const { clock, logger } = this.#options;
    const { shard, epoch } = tenure;
    tenure.state = 'held';
    tenure.nextHeartbeat = clock.monotonic() + HEARTBEAT_INTERVAL;
    this.#masterStatus.set({ name: shard }, 1);
    this.#problems.delete(shard);
    logger.info('shard gained', { shard, epoch });
    for (const callback of this.#gained) {
      try {
        callback(shard, epoch);
      } catch (error) {
        logger.error('what depends on a shard could not be begun', { shard, error });
      }
    }
  }

  async #heartbeat(tenure: Tenure): Promise<void> {
    const { epochs, replica } = this.#options;
    try {
      await epochs.heartbeat(tenure.shard, tenure.epoch, replica, () => tenure.assertAlive());
      this.#problems.delete(tenure.shard);
    } catch (error) {
      this.#refused(tenure, error, 'the heartbeat of a shard could not be written');
    }
  }

  /** A higher epoch ends the tenure. Who recorded it may hold the shard: this replica waits for a lease's time before it outbids. */
  #refused(tenure: Tenure, error: unknown, message: string): void {
    if (tenure.state === 'ended') return;
    this.#report(message, error, tenure.shard);
    if (!(error instanceof StaleEpochError)) return;
    const { clock, times } = this.#options;
    this.#floors.set(tenure.shard, { epoch: error.recorded + 1, notBefore: clock.monotonic() + times.duration });
    this.#lose(tenure, 'the hub has a higher epoch');
  }

  async #handOver(tenure: Tenure): Promise<void> {
    const { shard, epoch } = tenure;
    await this.#letGo(tenure);
    try {
      await this.#release(shard, epoch);
    } catch (error) {
      this.#report('a shard could not be released: it is tried again', error, shard);
    }
  }

  /** Ends a tenure in order: what runs may end first. Asked for twice, it happens once. */
  #letGo(tenure: Tenure): Promise<void> {
    tenure.leaving ??= this.#leave(tenure);
    return tenure.leaving;
  }

  async #leave(tenure: Tenure): Promise<void> {
    const wasHeld = tenure.state === 'held';
    tenure.state = 'leaving';
    if (wasHeld) await this.#announceLoss(tenure.shard);
    if (tenure.state !== 'leaving') return;
    this.#end(tenure);
    this.#options.logger.info('shard handed over', { shard: tenure.shard, epoch: tenure.epoch });
  }

  #loseAll(reason: string): void {
    for (const tenure of this.#tenures.values()) this.#lose(tenure, reason);
  }

  /** Ends a tenure that has been lost. */
  #lose(tenure: Tenure, reason: string): void {
    const wasHeld = tenure.state === 'held';
    this.#end(tenure);
    this.#options.logger.warn('shard lost', { shard: tenure.shard, epoch: tenure.epoch, reason });
    if (wasHeld) void this.#announceLoss(tenure.shard);
  }

  #end(tenure: Tenure): void {
    tenure.state = 'ended';
    if (this.#tenures.get(tenure.shard) === tenure) this.#tenures.delete(tenure.shard);
    if (this.#shards.includes(tenure.shard)) this.#masterStatus.set({ name: tenure.shard }, 0);
  }

  async #announceLoss(shard: string): Promise<void> {
    const { clock, times, logger } = this.#options;
    const calls = this.#lost.map(async (callback) => {
      try {
        await callback(shard);
      } catch (error) {
        logger.error('what depends on a shard could not be ended', { shard, error });
      }
    });
    await Promise.race([Promise.all(calls), clock.sleep(times.renewDeadline)]);
  }

  #isLeaseAlive(): boolean {
    return this.#options.clock.monotonic() - this.#renewedAt < this.#options.times.renewDeadline;
  }

  #assertLeaseAlive(shard: string): void {
    if (!this.#isLeaseAlive()) throw new LeaseLostError(`shard ${shard} may have been taken over`);
  }

  /** Logs a problem once: it would come again every second. */
  #report(message: string, error: unknown, shard = ''): void {
    const problem = `${message}: ${errorMessage(error)}`;
    if (this.#problems.get(shard) === problem) return;
    this.#problems.set(shard, problem);
    this.#options.logger.warn(message, { ...(shard !== '' && { shard }), error });
  }
}

function isClaimOf(claim: Claim | undefined, replica: string, epoch: number): boolean {
  return claim?.replica === replica && claim.epoch === epoch;
}

/** Whether a replica may claim: nobody else who lives has it. */
function isFree(claim: Claim | undefined, replica: string, replicas: readonly string[]): boolean {
  return claim === undefined || claim.replica === replica || !replicas.includes(claim.replica);
}
