import type { MemberCluster } from '../api/index.ts';
import { DEFAULT_LIMITS } from '../kubernetes/index.ts';
import type { RequestLimits } from '../kubernetes/index.ts';

/** How much of a member's API server is taken. A member that is not known (any longer) has the defaults. */
export function requestLimitsOf(member: MemberCluster | undefined): RequestLimits {
  const { inFlight, perSecond, burst } = { ...DEFAULT_LIMITS, burst: undefined, ...member?.spec.requestLimits };
  return { inFlight, perSecond, burst: burst ?? 2 * perSecond };
}
