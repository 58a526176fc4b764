import { describe, expect, it } from 'vitest';
import { LeaseLostError, TerminalError, WaitingError } from '../kernel/index.ts';
import {
  ConflictError,
  ForbiddenError,
  InvalidError,
  NamespaceTerminatingError,
  TooManyRequestsError,
  UnknownFieldError,
  UnreachableError,
} from '../kubernetes/index.ts';
import { Findings } from './findings.ts';

function invalid(path: string): InvalidError {
  return new InvalidError('StatefulSet a/b is invalid', [{ path, reason: 'FieldValueForbidden', message: 'no' }]);
}

async function findingsOf(...errors: readonly Error[]): Promise<Findings> {
  const findings = new Findings();
  for (const error of errors) await findings.collect(() => Promise.reject(error));
  return findings;
}

function worstOf(findings: Findings): unknown {
  try {
    findings.throwWorst();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('Findings', () => {
  it.each([
    new LeaseLostError('lost'),
    new ConflictError('the cache is behind'),
    new UnreachableError('no answer', 'ECONNREFUSED'),
    new TooManyRequestsError('slow down', 1),
    new TypeError('a bug'),
  ])('lets a $name end the run at once', async (error) => {
    await expect(findingsOf(error)).rejects.toBe(error);
  });

  it.each([invalid('spec.selector'), new UnknownFieldError('field not declared in schema')])(
    'makes a $name a permanent problem that waits for a change',
    async (error) => {
      const findings = await findingsOf(error);
      expect(findings.problems()).toEqual([{ reason: 'Invalid', message: error.message, permanent: true }]);
      expect(worstOf(findings)).toBeInstanceOf(TerminalError);
      expect(worstOf(findings)).toHaveProperty('cause', error);
    },
  );

  it('makes missing rights a problem, and tries again', async () => {
    const error = new ForbiddenError('may not');
    const findings = await findingsOf(error);
    expect(findings.problems()).toMatchObject([{ reason: 'Forbidden', permanent: false }]);
    expect(worstOf(findings)).toBe(error);
  });

  it.each([
    new WaitingError('is being deleted'),
    new NamespaceTerminatingError('the namespace is terminating'),
    invalid('metadata.ownerReferences'),
  ])('keeps quiet about a $name that passes by itself, and waits', async (error) => {
    const findings = await findingsOf(error);
    expect(findings.problems()).toEqual([]);
    expect(findings.isClean()).toBe(false);
    expect(worstOf(findings)).toBeInstanceOf(WaitingError);
  });

  it('names what is permanent first and ends the run by it', async () => {
    const findings = await findingsOf(new WaitingError('soon'), new ForbiddenError('may not'), invalid('spec'));
    expect(findings.problems().map(({ reason }) => reason)).toEqual(['Invalid', 'Forbidden']);
    expect(worstOf(findings)).toBeInstanceOf(TerminalError);
  });

  it('reports objects of others without an error', () => {
    const findings = new Findings();
    findings.addOutcome({ result: 'foreign', message: 'ConfigMap a/b exists already' });
    findings.addOutcome({ result: 'blocked', held: [], message: 'fields are held' });
    expect(findings.problems().map(({ reason }) => reason)).toEqual(['NameTaken', 'FieldsHeld']);
    expect(worstOf(findings)).toBeUndefined();
    expect(findings.isClean()).toBe(false);
  });

  it('is clean when every step succeeds', async () => {
    const findings = new Findings();
    await expect(findings.collect(() => Promise.resolve(7))).resolves.toBe(7);
    expect(findings.isClean()).toBe(true);
    expect(worstOf(findings)).toBeUndefined();
  });
});
