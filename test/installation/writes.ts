import { auditEvents } from '../support/audit-log.ts';
import type { Fleet } from './fleet.ts';

/** Atoll's service account, on the hub and in every member. */
const ATOLL = 'system:serviceaccount:atoll-system:atoll';

/**
 * Mutating requests by Atoll, or by somebody whom it impersonates, other than heartbeats, that the API servers of a fleet
 * answered since a time (RFC 3339).
 */
export async function writesSince(fleet: Fleet, start: string): Promise<readonly string[]> {
  const events = await Promise.all(['hub', ...fleet.members].map((name) => auditEvents(fleet.cluster(name))));
  return events
    .flat()
    .filter((event) => event.requestReceivedTimestamp >= start && event.user.username === ATOLL)
    .filter((event) => event.objectRef?.resource !== 'leases')
    .map(({ verb, requestURI, responseStatus }) => `${verb} ${requestURI} ${responseStatus?.code}`);
}
