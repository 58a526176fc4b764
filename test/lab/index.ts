/**
 * A lab of real parts: a hub and member clusters, Redis, and Git over HTTPS, all on 127.0.0.1 and without containers.
 *
 * Guarantees: `startLab` resolves only when everything answers, and rejects with the last words of the part that does
 * not. Whoever started a lab may end in any way, even by SIGKILL: the lab process sees its channel break and stops
 * everything, and should it be killed itself, the kernel ends its children. Only processes of the lab are ended.
 *
 * Every cluster has its own certificate authority, so that credentials of one are worth nothing in another. One etcd
 * holds them all under different prefixes: 150 MiB instead of 150 MiB each.
 *
 * @module
 */
export * from './description.ts';
export { LabControl, type ServiceAction, type ServiceState } from './control.ts';
export { type FileChanges, GitRepository } from './git-repository.ts';
export { type Lab, startLab } from './lab.ts';
