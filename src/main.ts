/**
 * The process of a replica. Signals are listened to before anything else is loaded, which takes a second or more: until there is
 * something to stop in order, SIGTERM and SIGINT just end the process, with 0.
 *
 * @module
 */
import type { startReplica } from './replica.ts';

let stop: Parameters<Parameters<typeof startReplica>[0]>[0] = () => process.exit();
process.once('SIGTERM', (signal) => stop(signal));
process.once('SIGINT', (signal) => stop(signal));

try {
  const replica = await import('./replica.ts');
  await replica.startReplica((inOrder) => (stop = inOrder));
} catch (error) {
  const { AtollError } = await import('./kernel/index.ts');
  const text = error instanceof AtollError ? error.message : String(error instanceof Error ? error.stack : error);
  process.stderr.write(`atoll: ${text}\n`);
  process.exit(1);
}
