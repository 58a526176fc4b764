/**
 * Atoll installed on a lab the way a user installs it: `deploy/` on the hub, `atoll join` for the members, replicas as
 * processes of the built program under the service account's own token. The demo, the end-to-end tests and the
 * benchmarks share it.
 *
 * @module
 */
export { NAMESPACE, adminOf, installOnHub, kubectl } from './hub.ts';
export { joinMember } from './join.ts';
export { Replica } from './replica.ts';
export type { LogLine, ReplicaOptions } from './replica.ts';
