/**
 * A repository's branch, read whole and without ever being trusted.
 *
 * @module
 */
export * from './git-error.ts';
export * from './git-limits.ts';
export * from './git-reader.ts';
export * from './git-process.ts';
export * from './git-child.ts';
