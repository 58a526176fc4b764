/**
 * The vocabulary that every room shares: names, keys, results, errors, and the ports to time, logs and metrics.
 *
 * No vendor, no state, no I/O but the system clock. What is here is here because at least two rooms would otherwise
 * define it twice.
 *
 * @module
 */
export * from './backoff.ts';
export * from './clock.ts';
export * from './compact.ts';
export * from './conditions.ts';
export * from './errors.ts';
export * from './event-loop.ts';
export * from './exact-json.ts';
export * from './key.ts';
export * from './kubernetes-object.ts';
export * from './label-selector.ts';
export * from './logger.ts';
export * from './merge-rules.ts';
export * from './metrics.ts';
export * from './policy-rule.ts';
export * from './requested-at.ts';
export * from './result.ts';
export * from './snapshot.ts';
