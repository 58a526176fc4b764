import type { Cancel, Clock, Logger } from '../kernel/index.ts';
import { ChildHandle, type ChildDeath, type ChildMemory } from './child-handle.ts';
import { parseExact } from './exact-json.ts';
import { GitError } from './git-error.ts';
import type { ChildMessage, GitJob } from './git-job.ts';

/** How long a child without a job is kept: its cache saves parsing, but it holds some 100 MiB. */
const IDLE = 300_000;
/** A job whose child died for another job's sake is run once more. */
const ATTEMPTS = 2;

/** Options of {@link ChildPool}. */
export interface ChildPoolOptions {
  readonly script: URL;
  /** The only folder that children may write to. */
  readonly directory: string;
  readonly memory: ChildMemory;
  /** How many children there are at most; they are started when needed. */
  readonly children: number;
  /** How many jobs a child has at a time. */
  readonly jobsPerChild: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a job came to: what the child sent as its result. */
export type JobResult = Readonly<Record<string, unknown>>;

interface PendingJob {
  readonly id: number;
  readonly job: GitJob;
  readonly settle: PromiseWithResolvers<JobResult>;
  readonly parts: Map<string, unknown[]>;
  attempts: number;
}

interface Member {
  readonly handle: ChildHandle;
  readonly jobs: Map<number, PendingJob>;
  /** The clones it has read: their texts and manifests are in its cache. */
  readonly clones: Set<string>;
  cancelIdle: Cancel | undefined;
}

/** Children of one kind, and the jobs that wait for them. */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  readonly #members = new Set<Member>();
  readonly #waiting: PendingJob[] = [];
  #nextId = 1;
  #closed = false;

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  /** Runs a job on a child. @throws GitError */
  run(job: GitJob): Promise<JobResult> {
    const settle = Promise.withResolvers<JobResult>();
    this.#waiting.push({ id: this.#nextId, job, settle, parts: new Map(), attempts: 0 });
    this.#nextId += 1;
    this.#dispatch();
    return settle.promise;
  }

  /** Ends all children; jobs that have not ended are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#dispatch();
    await Promise.all([...this.#members].map(({ handle }) => handle.stop()));
  }

  #dispatch(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const member = this.#closed ? undefined : this.#memberFor(next.job);
      if (member === undefined && !this.#closed) return;
      this.#waiting.shift();
      if (member === undefined) next.settle.reject(new GitError('InternalError', 'Atoll is stopping'));
      else this.#give(member, next);
    }
  }

  /** One that knows the clone, else any that has time, else a new one; undefined when all are busy. */
  #memberFor(job: GitJob): Member | undefined {
    const { children, jobsPerChild } = this.#options;
    const free = [...this.#members].filter(({ jobs }) => jobs.size < jobsPerChild);
    const knowing = job.operation === 'read' ? free.find(({ clones }) => clones.has(job.directory)) : undefined;
    return knowing ?? free[0] ?? (this.#members.size < children ? this.#start() : undefined);
  }

  #start(): Member {
    const handle = new ChildHandle({
      ...this.#options,
      onMessage: (message) => this.#receive(member, message),
      onExit: (death) => this.#bury(member, death),
    });
    const member: Member = { handle, jobs: new Map(), clones: new Set(), cancelIdle: undefined };
    this.#members.add(member);
    return member;
  }

  #give(member: Member, pending: PendingJob): void {
    member.cancelIdle?.();
    pending.attempts += 1;
    pending.parts.clear();
    member.jobs.set(pending.id, pending);
    if (pending.job.operation === 'read') member.clones.add(pending.job.directory);
    member.handle.give(pending.id, pending.job);
  }

  #receive(member: Member, message: ChildMessage): void {
    const pending = member.jobs.get(message.id);
    if (pending === undefined) return;
    if (message.type === 'part') {
      const items = pending.parts.get(message.field) ?? [];
      pending.parts.set(message.field, items.concat(parseExact(message.text)));
      return;
    }
    member.jobs.delete(message.id);
    if (message.type === 'result') pending.settle.resolve(assemble(message.text, pending.parts));
    else pending.settle.reject(new GitError(message.error.reason, message.error.message, message.error));
    if (member.jobs.size === 0) member.cancelIdle = this.#options.clock.after(IDLE, () => this.#dismiss(member));
    this.#dispatch();
  }

  #dismiss(member: Member): void {
    this.#members.delete(member);
    void member.handle.stop();
  }

  /** The dead child's job failed; jobs that only shared the child are run again. */
  #bury(member: Member, { error, overdue, output }: ChildDeath): void {
    member.cancelIdle?.();
    this.#members.delete(member);
    const shared = member.jobs.size > 1;
    for (const pending of member.jobs.values()) {
      const isInnocent = overdue === undefined ? shared : pending.id !== overdue;
      if (isInnocent && pending.attempts < ATTEMPTS && !this.#closed) this.#waiting.unshift(pending);
      else pending.settle.reject(error);
    }
    if (member.jobs.size > 0 && !this.#closed) {
      this.#options.logger.warn('a Git child process died', { reason: error.reason, cause: error.message, output });
    }
    member.jobs.clear();
    this.#dispatch();
  }
}

function assemble(text: string, parts: ReadonlyMap<string, unknown[]>): JobResult {
  const result = parseExact(text) as Record<string, unknown>;
  if (parts.size === 0) return result;
  return { ...result, content: { ...(result['content'] as object), ...Object.fromEntries(parts) } };
}
