/**
 * One API server: transport, discovery, typed errors. Knows nothing about federation.
 *
 * @module
 */
export * from './api-errors.ts';
export * from './client-options.ts';
export * from './connection.ts';
export * from './identity.ts';
export * from './in-cluster-connection.ts';
export * from './kubeconfig.ts';
export * from './kubernetes-client.ts';
export * from './resource.ts';
export * from './unsendable-error.ts';
export * from './watch-event.ts';
