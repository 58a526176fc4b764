/**
 * From a snapshot's files to Kubernetes objects with source positions, and the overrides applied to objects.
 *
 * @module
 */
export * from './manifest.ts';
export * from './manifest-limits.ts';
export * from './manifest-reader.ts';
export * from './overrides.ts';
