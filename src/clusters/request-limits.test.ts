import { describe, expect, it } from 'vitest';
import { memberCluster } from '../../test/support/builders.ts';
import { DEFAULT_LIMITS } from '../kubernetes/index.ts';
import { requestLimitsOf } from './request-limits.ts';

describe('the request limits of a member', () => {
  it('are the defaults when it names none, and when it is not known', () => {
    expect(requestLimitsOf(memberCluster('eu-1'))).toEqual(DEFAULT_LIMITS);
    expect(requestLimitsOf(undefined)).toEqual(DEFAULT_LIMITS);
  });

  it('are what it names, with a burst of two seconds', () => {
    const member = memberCluster('eu-1');
    const limited = { ...member, spec: { ...member.spec, requestLimits: { inFlight: 8, perSecond: 20 } } };
    expect(requestLimitsOf(limited)).toEqual({ inFlight: 8, perSecond: 20, burst: 40 });
    limited.spec.requestLimits = { ...limited.spec.requestLimits, burst: 1 } as never;
    expect(requestLimitsOf(limited).burst).toBe(1);
  });
});
