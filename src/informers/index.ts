/**
 * A cluster's objects in memory, kept current by list and watch.
 *
 * @module
 */
export * from './shared-informer-factory.ts';
export * from './shared-informer.ts';
