import type { Clock, Random } from '../../kernel/index.ts';
import { UnreachableError } from '../api-errors.ts';
import { laneOf, signalOf } from './api-request.ts';
import type { ApiRequest } from './api-request.ts';
import type { ClientMetrics } from './client-metrics.ts';
import { Deadline } from '../transport/deadline.ts';
import { describeRequest } from '../transport/exchange.ts';
import type { Answer } from '../transport/exchange.ts';
import { DEFAULT_LIMITS, RequestBudget, pauseGroupOf } from './request-budget.ts';
import type { Lane, PauseGroup, Place, RequestLimits } from './request-budget.ts';
import { retryAfterOf } from './retry-rules.ts';

/** Options of {@link BudgetGate}. */
export interface BudgetGateOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: (() => RequestLimits) | undefined;
  readonly metrics: ClientMetrics;
}

/** An answer that keeps its place until it is closed. */
type HeldAnswer = Answer & { readonly closed: Promise<void> };

/** A server is left alone for so long at most, whatever it asks for: then one call looks how it is. */
const MAX_PAUSE_SECONDS = 300;

/** What a write waits for a pause to end, milliseconds: its caller holds a worker. A read waits as long as it may take. */
const MAX_WRITE_PAUSE = 6250;

/** Lets calls through as the cluster's budget allows, and closes when the server says 429. */
export class BudgetGate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #budget: RequestBudget;
  readonly #metrics: ClientMetrics;
  /** The last 429 of each group of lanes, to be answered in the server's place while it wants to be left alone. */
  readonly #refusals = new Map<PauseGroup, Answer>();

  constructor({ clock, random, limits = () => DEFAULT_LIMITS, metrics }: BudgetGateOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#metrics = metrics;
    this.#budget = new RequestBudget(clock, limits);
  }

  /**
   * Makes a call when its turn has come, for which it waits so many milliseconds, and a pause besides. A streamed list
   * keeps its place until its body is closed. While the server wants to be left alone for longer than the call can wait,
   * its last 429 is the answer.
   *
   * @throws UnreachableError when its turn does not come within the time that the call may take
   */
  async pass<Received extends Answer | HeldAnswer>(
    request: ApiRequest,
    patience: number,
    call: () => Promise<Received>,
  ): Promise<Received | Answer> {
    const lane = laneOf(request);
    const paused = this.#budget.pausedFor(lane);
    if (paused > (request.method === 'GET' ? patience : MAX_WRITE_PAUSE)) return this.#refusal(lane);
    const place = await this.#enter(request, lane, patience + paused);
    if (place === undefined) return this.#refusal(lane);
    let isHeld = false;
    try {
      const answer = await call();
      if (answer.status === 429) this.#close(lane, answer);
      else place.answered();
      isHeld = lane === 'list' && 'closed' in answer;
      if ('closed' in answer && isHeld) void answer.closed.then(place.leave);
      return answer;
    } finally {
      if (!isHeld) place.leave();
    }
  }

  /** Waits for a turn no longer than the call may take; answers nothing when a pause was in the way. */
  async #enter(request: ApiRequest, lane: Lane, milliseconds: number): Promise<Place | undefined> {
    const startedAt = this.#clock.monotonic();
    const what = `${describeRequest(request)}: waiting for other requests`;
    const deadline = new Deadline(this.#clock, { milliseconds, what, signal: signalOf(request) });
    try {
      return await this.#budget.enter(lane, deadline.signal);
    } catch (error) {
      if (error instanceof UnreachableError && this.#budget.pausedFor(lane) > 0) return undefined;
      throw error;
    } finally {
      deadline.cancel();
      this.#metrics.waited(request.method, (this.#clock.monotonic() - startedAt) / 1000);
    }
  }

  #close(lane: Lane, answer: Answer): void {
    const seconds = Math.min(retryAfterOf(answer.header('retry-after')) ?? 0, MAX_PAUSE_SECONDS);
    if (seconds === 0) return;
    this.#refusals.set(pauseGroupOf(lane), answer);
    this.#budget.pause(lane, seconds * 1000 * (1 + this.#random() / 4));
  }

  #refusal(lane: Lane): Answer {
    const seconds = String(Math.ceil(this.#budget.pausedFor(lane) / 1000));
    return {
      status: 429,
      header: (name) => (name === 'retry-after' ? seconds : undefined),
      text: this.#refusals.get(pauseGroupOf(lane))?.text ?? '',
    };
  }
}
