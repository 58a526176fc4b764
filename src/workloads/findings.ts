import { describeFields } from '../apply/index.ts';
import type { AppliedOutcome, ApplyOutcome, LeftField } from '../apply/index.ts';
import { errorMessage, TerminalError, WaitingError } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import {
  BadRequestError,
  ForbiddenError,
  InvalidError,
  NamespaceTerminatingError,
  UnknownFieldError,
  UnsendableError,
} from '../kubernetes/index.ts';
import type { Problem } from './workload.ts';

/** What kept a child from being applied, and the error behind it, if any. */
interface Finding {
  /** What the status says; undefined for what passes by itself and is not worth a condition. */
  readonly problem: Problem | undefined;
  readonly error: Error | undefined;
}

/** Errors by which the API server, or we for it, refuses an object for good. */
const REFUSALS = [InvalidError, UnknownFieldError, BadRequestError, UnsendableError];

const REASONS = { foreign: 'NameTaken', blocked: 'FieldsHeld', recreating: 'Recreating' } as const;

/** Collects what one run met, so that one child's trouble does not keep the others from being applied. */
export class Findings {
  readonly #all: Finding[] = [];
  readonly #left: string[] = [];

  /**
   * Runs one step and keeps the error that concerns this step only.
   * @throws whatever concerns the whole run: lost leases, unreachable or throttling servers, outdated caches
   */
  async collect<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      const finding = findingOf(error);
      if (finding === undefined) throw error;
      this.#all.push(finding);
      return undefined;
    }
  }

  /** Notes that a child is not there as it shall be: it is not ours, others hold it fast, or it is being made anew. */
  addOutcome(outcome: Exclude<ApplyOutcome, AppliedOutcome>): void {
    const reason = REASONS[outcome.result];
    this.#all.push({ problem: { reason, message: outcome.message, permanent: false }, error: undefined });
  }

  /** Notes the fields of a child that others hold: that is as it shall be, and worth telling. */
  addLeft(child: KubernetesObject, fields: readonly LeftField[]): void {
    if (fields.length > 0) this.#left.push(`${child.kind} ${child.metadata.name ?? ''}: ${describeFields(fields)}`);
  }

  /** What is left to others, in one sentence; empty when nothing is. */
  left(): string {
    return this.#left.toSorted().join('; ');
  }

  isClean(): boolean {
    return this.#all.length === 0;
  }

  /** Permanent ones first; otherwise in the order of the children. */
  problems(): readonly Problem[] {
    return this.#all
      .flatMap(({ problem }) => problem ?? [])
      .toSorted((a, b) => Number(b.permanent) - Number(a.permanent));
  }

  /** Ends the run the way its worst finding asks for: waiting for a change, or being tried again. */
  throwWorst(): void {
    const refused = this.#all.find(({ problem }) => problem?.permanent === true);
    if (refused !== undefined) throw new TerminalError(refused.problem?.message, { cause: refused.error });
    const failed = this.#all.find(({ error }) => error !== undefined);
    if (failed?.error !== undefined) throw failed.error;
  }
}

function findingOf(error: unknown): Finding | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isPassing(error)) return { problem: undefined, error: asWaiting(error) };
  if (error instanceof ForbiddenError) return { problem: problemOf('Forbidden', error, false), error };
  if (REFUSALS.some((refusal) => error instanceof refusal)) {
    return { problem: problemOf('Invalid', error, true), error };
  }
  return undefined;
}

/** What passes by itself: states between two states, and the children of a predecessor that is being collected. */
function isPassing(error: Error): boolean {
  if (error instanceof WaitingError || error instanceof NamespaceTerminatingError) return true;
  return error instanceof InvalidError && error.fields.some(({ path }) => path.startsWith('metadata.ownerReferences'));
}

function asWaiting(error: Error): WaitingError {
  return error instanceof WaitingError ? error : new WaitingError(error.message, { cause: error });
}

function problemOf(reason: string, error: Error, permanent: boolean): Problem {
  return { reason, message: errorMessage(error), permanent };
}
