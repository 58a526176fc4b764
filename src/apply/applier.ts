import type { Clock, Counter, KubernetesObject, Metrics } from '../kernel/index.ts';
import { ApiError } from '../kubernetes/index.ts';
import type { KubernetesClient } from '../kubernetes/index.ts';
import { ApplyMemory } from './apply-memory.ts';
import { applyObject } from './apply-object.ts';
import type { ApplyOutcome, ApplyRequest } from './apply-request.ts';
import type { FieldManagers } from './field-holders.ts';
import { removeObject } from './remove-object.ts';
import type { RemoveOutcome, RemoveRequest } from './remove-object.ts';

/** What an {@link Applier} works with. */
export interface ApplierOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Default {@link FIELD_MANAGERS}. */
  readonly managers?: FieldManagers;
}

/** An {@link ApplyRequest} to the applier's cluster. */
export type ApplierRequest = Omit<ApplyRequest, 'client' | 'managers'>;

/**
 * Applies and removes the objects of one cluster, for as long as one owner of its shard works it: it remembers what it
 * found and did, and counts. What it remembers saves requests and lets it notice what a first look cannot see; another
 * one that knows nothing comes to the same result.
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #memory: ApplyMemory;
  readonly #counters: ApplyCounters;

  constructor(options: ApplierOptions) {
    this.#options = options;
    this.#counters = new ApplyCounters(options.metrics);
    this.#memory = new ApplyMemory({
      now: () => options.clock.monotonic(),
      onConflict: () => this.#counters.conflict(),
    });
  }

  /** {@link applyObject}, with memory. */
  async apply(request: ApplierRequest): Promise<ApplyOutcome> {
    const { client, managers } = this.#options;
    const whole = { ...request, client, ...(managers !== undefined && { managers }) };
    try {
      const outcome = await applyObject(whole, this.#memory);
      this.#counters.applied(outcome);
      this.#countLeft(request.desired, outcome);
      return outcome;
    } catch (error) {
      this.#counters.failed('apply', error);
      throw error;
    }
  }

  /** {@link removeObject} */
  async remove(request: Omit<RemoveRequest, 'client'>): Promise<RemoveOutcome> {
    try {
      const outcome = await removeObject({ ...request, client: this.#options.client });
      this.#counters.removed(outcome);
      return outcome;
    } catch (error) {
      this.#counters.failed('remove', error);
      throw error;
    }
  }

  #countLeft(desired: KubernetesObject, outcome: ApplyOutcome): void {
    if (!('left' in outcome)) return;
    for (const { why } of this.#memory.of(desired).noteLeft(outcome.left)) this.#counters.left(why);
  }
}

/** What is counted about applies. Labels have few values, and name no object. */
class ApplyCounters {
  readonly #operations: Counter;
  readonly #conflicts: Counter;
  readonly #drift: Counter;
  readonly #left: Counter;

  constructor(metrics: Metrics) {
    this.#operations = metrics.counter({
      name: 'atoll_apply_total',
      help: 'Objects that were looked at for being applied or removed, by what came of it.',
      labelNames: ['operation', 'result'],
    });
    this.#conflicts = metrics.counter({
      name: 'atoll_apply_conflicts_total',
      help: 'Applies that an API server refused because other field managers hold fields.',
      labelNames: [],
    });
    this.#drift = metrics.counter({
      name: 'atoll_apply_drift_total',
      help: 'Fields that were given their value back, by how they had lost it.',
      labelNames: ['why'],
    });
    this.#left = metrics.counter({
      name: 'atoll_apply_left_fields_total',
      help: 'Fields that were left to others since then, by to whom.',
      labelNames: ['why'],
    });
  }

  applied(outcome: ApplyOutcome): void {
    this.#operations.inc({ operation: 'apply', result: outcome.result });
    for (const { why } of 'taken' in outcome ? outcome.taken : []) this.#drift.inc({ why });
  }

  removed(result: RemoveOutcome): void {
    this.#operations.inc({ operation: 'remove', result });
  }

  conflict(): void {
    this.#conflicts.inc({});
  }

  left(why: string): void {
    this.#left.inc({ why });
  }

  /** `refused`: the API server answered and said no; `failed`: anything else. */
  failed(operation: 'apply' | 'remove', error: unknown): void {
    const isAnswer = error instanceof ApiError && (error.status ?? 0) >= 400;
    this.#operations.inc({ operation, result: isAnswer ? 'refused' : 'failed' });
  }
}
