import { pino } from 'pino';
import type { LogFields, Logger } from '../kernel/index.ts';

/** Where lines go and which are left out. */
export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly base: LogFields;
}

/** JSON lines on standard output: time, level, msg, the base fields, the line's own fields. */
export function createLogger(options: LoggerOptions): Logger {
  const root = pino({
    level: options.level,
    base: { ...options.base },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: (error: unknown) => (error instanceof Error ? describeError(error) : error) },
  });
  return wrap(root);
}

type Pino = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error'> & { child(fields: object): Pino };

function wrap(target: Pino): Logger {
  return {
    debug: (message, fields = {}) => target.debug(fields, message),
    info: (message, fields = {}) => target.info(fields, message),
    warn: (message, fields = {}) => target.warn(fields, message),
    error: (message, fields = {}) => target.error(fields, message),
    child: (fields) => wrap(target.child(fields)),
  };
}

/** Name, message and causes of an error; the stack only of errors that are bugs (not Atoll's own). */
function describeError(error: Error): Record<string, unknown> {
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {};
  const programming = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return { type: error.name, message: error.message, ...cause, ...(programming ? { stack: error.stack } : {}) };
}
