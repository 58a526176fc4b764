/**
 * The environment, parsed once into one frozen `Config`; no other room reads `process.env`.
 *
 * A bad variable ends the process at start with its name and what is allowed, before anything is opened. The lease
 * times are client-go's defaults (15 s / 10 s / 2 s) and are checked by client-go's rule
 * (duration > renew deadline > 1.2 × retry period).
 *
 * @module
 */
export { ConfigError, describeEnvironment, readConfig } from './config.ts';
export type { Config } from './config.ts';
